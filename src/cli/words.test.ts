import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KINDS } from '../api/registry.ts';
import { isLoopback, parseAddress } from './address.ts';
import { ageOf } from './age.ts';
import { kindOfWord } from './kind-words.ts';
import { didYouMean, nearest } from './suggest.ts';
import { oneLine, table } from './table.ts';
import type { Terminal } from './wiring.ts';

const terminal = (colour: boolean): Terminal => ({
  out: () => {},
  err: () => {},
  colour,
  interactive: false,
  readInput: async () => '',
});

test('a mistyped word finds its neighbour, a foreign one finds none', () => {
  assert.equal(nearest('bundels', ['bundles', 'pipelines']), 'bundles');
  assert.equal(nearest('stagin', ['test', 'staging', 'prod']), 'staging');
  assert.equal(nearest('WEB', ['web']), 'web');
  assert.equal(nearest('kubernetes', ['web', 'shop']), undefined);
  assert.equal(didYouMean('x', []), '');
  assert.equal(didYouMean('pord', ['prod']), ' Did you mean prod?');
});

test('every kind is found by plural, singular, short names and with its group', () => {
  for (const info of Object.values(KINDS)) {
    for (const word of [info.plural, info.singular, info.kind, ...info.shortNames, `${info.plural}.${info.group}`.replace(/\.$/, '')]) {
      const found = kindOfWord(word);
      assert.equal(found.ok && found.value.kind, info.kind, word);
    }
  }
  for (const [word, kind] of [
    ['step', 'PromotionStep'],
    ['gate', 'PolicyGate'],
  ] as const) {
    const found = kindOfWord(word);
    assert.equal(found.ok && found.value.kind, kind, word);
  }
  const missing = kindOfWord('constructor');
  assert.equal(missing.ok, false);
});

test('no two kinds share a word', () => {
  const words = Object.values(KINDS).flatMap((info) => [info.plural, info.singular, ...info.shortNames]);
  assert.equal(new Set(words).size, words.length);
});

test('ages are short and never negative', () => {
  const at = (seconds: number): string => ageOf(new Date(1e12).toISOString(), 1e12 + seconds * 1000);
  assert.deepEqual([0, 119, 125, 600, 7200, 7260, 90_000, 200_000].map(at), ['0s', '119s', '2m5s', '10m', '2h', '2h1m', '25h', '2d']);
  assert.equal(at(-50), '0s');
  assert.equal(ageOf(undefined, 0), '-');
  assert.equal(ageOf('nonsense', 0), '-');
});

test('tables are aligned whether or not they are coloured', () => {
  const plain = table(
    ['NAME', 'STATE', 'AGE'],
    [
      ['a', 'Verified', '1s'],
      ['long-name', 'Failed', '20s'],
    ],
    terminal(false),
  );
  assert.equal(plain, 'NAME        STATE      AGE\na           Verified   1s\nlong-name   Failed     20s\n');
  const coloured = table(['NAME', 'STATE'], [['a', 'Verified']], terminal(true));
  assert.ok(coloured.includes('\u001b[32mVerified\u001b[39m'));
});

test('nothing in a resource can move the cursor or break a row', () => {
  assert.equal(oneLine('a\nb\u001b[2Jc\rd\u0007'), 'a bc d');
  assert.equal(table(['MESSAGE'], [['evil\n\u001b]0;title\u0007row']], terminal(true)).split('\n').length, 3);
});

test('addresses are host:port, and loopback is told from the rest', () => {
  assert.deepEqual(parseAddress('127.0.0.1:8083'), { host: '127.0.0.1', port: 8083 });
  assert.deepEqual(parseAddress('[::1]:0'), { host: '::1', port: 0 });
  assert.deepEqual(parseAddress(':80'), { host: '0.0.0.0', port: 80 });
  for (const bad of ['', '8083', 'host', 'host:99999', 'http://host:1', '::1:80', 'a b:1']) assert.equal(parseAddress(bad), undefined, bad);
  assert.deepEqual(['127.0.0.1', '127.1.2.3', '::1', 'localhost'].map(isLoopback), [true, true, true, true]);
  assert.deepEqual(['0.0.0.0', '::', '10.0.0.1', '127.example.com', '1127.0.0.1'].map(isLoopback), [false, false, false, false, false]);
});
