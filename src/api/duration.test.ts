import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DURATION_PATTERN, formatDuration, parseDuration, parseInterval } from './duration.ts';

const HOUR = 3_600_000;

test('durations in Go syntax are read to milliseconds', () => {
  const cases: [string, number][] = [
    ['5m', 300_000],
    ['30s', 30_000],
    ['1h', HOUR],
    ['1h30m', 1.5 * HOUR],
    ['1.5h', 1.5 * HOUR],
    ['.5h', 0.5 * HOUR],
    ['1.h', HOUR],
    ['100ms', 100],
    ['1us', 0.001],
    ['1\u00b5s', 0.001],
    ['1\u03bcs', 0.001],
    ['1500000ns', 1.5],
    ['-1h', -HOUR],
    ['+1h', HOUR],
    ['0', 0],
    ['0s', 0],
    ['1m1m', 120_000],
  ];
  for (const [text, ms] of cases) assert.equal(parseDuration(text), ms, text);
});

test('everything that Go refuses is refused', () => {
  for (const text of [
    '',
    '5',
    '1d',
    '1w',
    ' 5m',
    '5m ',
    '5 m',
    'm',
    '.m',
    '-',
    '+',
    '1h-30m',
    '1,5h',
    '1H',
    '1e3s',
    '0x10s',
    '00',
    '9999999h',
    '5m\n',
  ]) {
    assert.equal(parseDuration(text), undefined, JSON.stringify(text));
  }
  assert.equal(parseDuration(`${'1'.repeat(300)}ns`), undefined);
});

test('an interval is a duration above zero', () => {
  assert.equal(parseInterval('5m'), 300_000);
  for (const text of ['0', '0s', '-1h', '1d']) assert.equal(parseInterval(text), undefined, text);
});

test('durations are printed as Go prints them', () => {
  const cases: [number, string][] = [
    [0, '0s'],
    [300_000, '5m0s'],
    [1.5 * HOUR, '1h30m0s'],
    [1500, '1.5s'],
    [100, '100ms'],
    [1.5, '1.5ms'],
    [0.0015, '1.5\u00b5s'],
    [0.000001, '1ns'],
    [-HOUR, '-1h0m0s'],
    [59_999.9999999, '1m0s'],
    [61_001, '1m1.001s'],
  ];
  for (const [ms, text] of cases) assert.equal(formatDuration(ms), text);
});

test('what is printed reads back as the same duration', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 1e12 }), (ms) => {
      assert.equal(parseDuration(formatDuration(ms)), ms);
    }),
    { numRuns: 500 },
  );
});

test('any composition of numbers and units reads as the sum of its parts', () => {
  const part = fc.tuple(
    fc.nat(9999),
    fc.constantFrom(['ms', 1] as const, ['s', 1000] as const, ['m', 60_000] as const, ['h', HOUR] as const),
  );
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
      const text = parts.map(([number, [unit]]) => `${number}${unit}`).join('');
      assert.equal(
        parseDuration(text),
        parts.reduce((sum, [number, [, ms]]) => sum + number * ms, 0),
      );
    }),
  );
});

test('the pattern for admission rules accepts what the parser accepts', () => {
  const pattern = new RegExp(DURATION_PATTERN);
  const piece = fc.constantFrom('1', '0', '.', '-', '+', 'h', 'm', 's', 'ms', 'ns', 'd', ' ', '5');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const text = pieces.join('');
      assert.equal(pattern.test(text), parseDuration(text) !== undefined, text);
    }),
    { numRuns: 2000 },
  );
});
