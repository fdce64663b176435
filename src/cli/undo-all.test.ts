import assert from 'node:assert/strict';
import { test } from 'node:test';
import { undoAll } from './undo-all.ts';

test('everything is undone, last first, whatever one of them throws', async () => {
  const ran: string[] = [];
  const step = (name: string, error?: Error) => async (): Promise<void> => {
    ran.push(name);
    if (error) throw error;
  };
  const [one, two] = [new Error('one'), new Error('two')];
  await assert.rejects(undoAll([step('store'), step('git', one), step('controllers')]), one);
  assert.deepEqual(ran.splice(0), ['controllers', 'git', 'store']);
  const both = await undoAll([step('store', one), step('git', two)]).catch((error: unknown) => error);
  assert.ok(both instanceof AggregateError);
  assert.deepEqual(both.errors, [two, one]);
  assert.deepEqual(ran.splice(0), ['git', 'store']);
  await undoAll([]);
});
