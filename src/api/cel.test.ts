import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkExpression, compileExpression, compileRule, evaluateBool, evaluateText } from './cel.ts';

const ask = (text: string, self: unknown) => {
  const made = compileExpression(text);
  return made.ok ? evaluateBool(made.compiled, { self }) : made;
};

test('an expression over a resource gives true or false', () => {
  const ready = "self.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')";
  assert.deepEqual(ask(ready, { status: { conditions: [{ type: 'Ready', status: 'True' }] } }), { ok: true, value: true });
  assert.deepEqual(ask(ready, { status: { conditions: [] } }), { ok: true, value: false });
  assert.deepEqual(ask('self.n == 3 && self.n >= 3 && self.n < 4', { n: 3 }), { ok: true, value: true });
});

test('a missing field is a problem with a position, and so is a result that is no bool', () => {
  assert.deepEqual(ask('true && self.status.x', {}), { ok: false, message: 'No such key: status', position: 13 });
  assert.deepEqual(ask("self.a + 'x'", { a: 'y' }), { ok: false, message: 'the expression must give true or false', position: 0 });
});

test('errors in an expression have a sentence and a position', () => {
  assert.deepEqual(checkExpression('self.a +'), { ok: false, message: 'Unexpected token: EOF', position: 8 });
  assert.deepEqual(checkExpression('true && selff.a'), { ok: false, message: 'Unknown variable: selff', position: 8 });
  assert.deepEqual(checkExpression('bundle.version == "1"', { bundle: 'map' }), { ok: true });
  const pattern = checkExpression("self.a.matches('(')");
  assert.ok(!pattern.ok && /invalid regular expression "\("/.test(pattern.message) && pattern.position === 15, JSON.stringify(pattern));
});

test('a pattern that blocks a backtracking engine is answered at once', () => {
  const started = performance.now();
  assert.deepEqual(ask("self.a.matches('^(a+)+$')", { a: `${'a'.repeat(5000)}b` }), { ok: true, value: false });
  assert.deepEqual(ask("self.list.all(e, e.matches('^(a|a)*$'))", { list: [`${'a'.repeat(5000)}b`] }), { ok: true, value: false });
  assert.deepEqual(ask('self.a.matches(self.p)', { a: `${'a'.repeat(5000)}b`, p: '^(a+)+$' }), { ok: true, value: false });
  // A backtracking engine would not come back within years.
  assert.ok(performance.now() - started < 60_000);
});

test('expressions that could cost without bound are refused', () => {
  for (const text of ['('.repeat(5000), `${'!'.repeat(5000)}true`, `self${'.a'.repeat(5000)}`, `true${' && true'.repeat(5000)}`]) {
    assert.equal(checkExpression(text).ok, false, text.slice(0, 20));
  }
  const nested = 'self.a.all(x, self.a.all(y, self.a.all(z, true)))';
  assert.match(JSON.stringify(checkExpression(nested)), /more than 2 comprehensions/);
  assert.equal(checkExpression('self.a.all(x, self.a.all(y, x == y))').ok, true);
  assert.equal(checkExpression('cel.bind(x, 1, x == 1)').ok, false);
});

test('inherited properties of JavaScript objects cannot be reached', () => {
  for (const text of ["self.constructor.name == 'Object'", 'self.toString == null', "self['__proto__'] == null", 'has(self.constructor)']) {
    assert.notDeepEqual(ask(text, {}), { ok: true, value: true }, text);
  }
});

test('a rule of ours that is wrong is a bug, and a message expression gives a text', () => {
  assert.throws(() => compileRule('self.a ='), /rule self.a =/);
  const text = compileRule(`"got '" + self.a + "'"`);
  assert.deepEqual(evaluateText(text, { self: { a: 'x' } }), { ok: true, value: "got 'x'" });
  assert.equal(evaluateText(text, { self: { a: 1 } }).ok, false);
});

test('durations in expressions are those of all resources', () => {
  for (const text of [
    "duration('1h30m') == duration('90m')",
    "duration('1\u03bcs') > duration('999ns')",
    "duration('-.5h') < duration('0')",
  ]) {
    assert.deepEqual(ask(text, {}), { ok: true, value: true }, text);
  }
  assert.deepEqual(ask("duration('1d') > duration('0')", {}), { ok: false, message: 'invalid duration "1d"', position: 0 });
});
