import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createPinoLog } from './pino-log.ts';

const collect = (level?: string) => {
  const lines: Record<string, unknown>[] = [];
  const stream = {
    write: (line: string) => {
      lines.push(JSON.parse(line) as Record<string, unknown>);
    },
  };
  return { log: createPinoLog({ stream, ...(level === undefined ? {} : { level }) }), lines };
};

it('a line is one JSON object with level, time, message and fields', () => {
  const { log, lines } = collect();
  log.info('pushed', { branch: 'main', races: 2 });
  assert.equal(lines.length, 1);
  const { time, ...rest } = lines[0] ?? {};
  assert.deepEqual(rest, { level: 'info', branch: 'main', races: 2, msg: 'pushed' });
  assert.ok(!Number.isNaN(Date.parse(String(time))));
});

it('what is below the level is left out, and an unknown level counts as info', () => {
  const warn = collect('warn');
  const odd = collect('chatty');
  for (const { log } of [warn, odd]) {
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
  }
  assert.deepEqual(
    warn.lines.map(({ msg }) => msg),
    ['c', 'd'],
  );
  assert.deepEqual(
    odd.lines.map(({ msg }) => msg),
    ['b', 'c', 'd'],
  );
});
