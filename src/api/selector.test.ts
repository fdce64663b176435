import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { matchesFields, matchesLabels, parseFieldSelector, parseLabelSelector } from './selector.ts';

const matches = (selector: string, labels: Record<string, string> | undefined): boolean => {
  const parsed = parseLabelSelector(selector);
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.message);
  return matchesLabels(parsed.value, labels);
};

describe('label selectors', () => {
  it('mean what they mean to Kubernetes', () => {
    const labels = { a: 'b', c: 'd', 'example.com/e': 'f', empty: '' };
    const holds = ['', 'a=b', 'a==b', ' a = b ', 'a=b,c=d', 'a!=x', 'x!=y', 'a in (b)', 'a in (x, b)', 'a notin (x,y)', 'x notin (y)'];
    holds.push('a', 'example.com/e', 'example.com/e=f', '!x', '! x', 'empty=', 'empty in ()', 'a,!x,c in (d),empty', 'x notin ()');
    for (const selector of holds) assert.ok(matches(selector, labels), selector);
    for (const selector of ['a=', 'a!=b', 'x=', 'x', '!a', 'a in (x)', 'a notin (b,c)', 'a=b,c=x', 'x in (a)', 'empty!=']) {
      assert.equal(matches(selector, labels), false, selector);
    }
    assert.ok(matches('!a,a!=b,a notin (b)', undefined));
    assert.equal(matches('a', undefined), false);
  });

  it('do not mistake what every object inherits for a label', () => {
    assert.equal(matches('constructor', {}), false);
    assert.ok(matches('!toString', {}));
  });

  it('are refused by what is wrong with them', () => {
    const cases: Record<string, RegExp> = {
      'a in (b': /parentheses/,
      'a in b)': /parentheses/,
      'a in ((b))': /parentheses/,
      'a,,b': /""/,
      'a=b,': /""/,
      'a b': /"a b"/,
      'a>1': /label key/,
      '-a=b': /"-a" is not a label key/,
      'a=-b': /"-b" is not a label value/,
      [`a=${'x'.repeat(64)}`]: /label value/,
      'A.com/a=b': /label key/,
      'a/b/c=d': /label key/,
    };
    for (const [selector, message] of Object.entries(cases)) {
      const parsed = parseLabelSelector(selector);
      assert.ok(!parsed.ok, selector);
      assert.match(parsed.message, message, selector);
      assert.ok(parsed.message.includes(JSON.stringify(selector)));
    }
  });

  it('never throw, and take little time, whatever the text', () => {
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => typeof parseLabelSelector(text).ok === 'boolean'));
    const started = process.cpuUsage();
    for (const hostile of [
      '('.repeat(50_000),
      'a '.repeat(50_000),
      'a='.repeat(50_000),
      ' '.repeat(100_000),
      `a in (${'b,'.repeat(50_000)})`,
    ]) {
      parseLabelSelector(hostile);
      parseFieldSelector(hostile, 'Bundle');
    }
    const { user, system } = process.cpuUsage(started);
    assert.ok(user + system < 5_000_000);
  });
});

describe('field selectors', () => {
  const object = {
    apiVersion: 'promoter.io/v1alpha1',
    kind: 'Bundle',
    metadata: { name: 'a', namespace: 'n' },
    spec: { pipeline: 'web', number: 5, flag: true, odd: 'a,b=c\\d', deep: { er: 'x' }, list: ['y'] },
  };
  const selects = (text: string): boolean => {
    const parsed = parseFieldSelector(text, 'Bundle');
    assert.ok(parsed.ok, parsed.ok ? '' : parsed.message);
    return matchesFields(parsed.value, object);
  };

  it('compare scalars as text; what is missing or no scalar is empty', () => {
    for (const text of ['', 'metadata.name=a', 'metadata.namespace==n', 'spec.pipeline!=x', 'spec.number=5', 'spec.flag=true']) {
      assert.ok(selects(text), text);
    }
    for (const text of ['spec.missing=', 'spec.deep=', 'spec.list=', 'spec.deep.er=x', 'status.phase=', 'spec.odd=a\\,b\\=c\\\\d']) {
      assert.ok(selects(text), text);
    }
    for (const text of ['metadata.name!=a', 'spec.pipeline=x', 'metadata.name=a,spec.pipeline=x', 'spec.missing!=']) {
      assert.equal(selects(text), false, text);
    }
  });

  it('are limited to what the kind offers', () => {
    assert.ok(parseFieldSelector('type=Opaque', 'Secret').ok);
    assert.ok(parseFieldSelector('involvedObject.name=x', 'Event').ok);
    for (const [text, kind] of [
      ['data.password=x', 'Secret'],
      ['spec.replicas=1', 'Deployment'],
      ['metadata.uid=x', 'Bundle'],
    ] as const) {
      const parsed = parseFieldSelector(text, kind);
      assert.ok(!parsed.ok);
      assert.match(parsed.message, new RegExp(`${kind} cannot be selected by`));
    }
    for (const text of ['metadata.name', 'a>b', 'spec.pipeline=a=b', '=x'])
      assert.equal(parseFieldSelector(text, 'Bundle').ok, false, text);
  });
});
