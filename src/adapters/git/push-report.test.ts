import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GitExit } from './process.ts';
import { readPushReport } from './push-report.ts';

const exit = (stdout: string, stderr = ''): GitExit => ({ end: 'exited', code: 1, stdout, stderr });
const oid = 'a'.repeat(40);
const line = (flag: string, summary: string, branch = 'main'): string => `To x\n${flag}\t${oid}:refs/heads/${branch}\t${summary}\nDone\n`;
const result = (summary: string): string | undefined => readPushReport(exit(line('!', summary))).get('main')?.result;

test('a fast-forward, a new branch and an up-to-date one have landed', () => {
  for (const [flag, summary] of [
    [' ', 'aaa..bbb'],
    ['*', '[new branch]'],
    ['=', '[up to date]'],
    ['+', 'aaa...bbb (forced update)'],
  ] as const)
    assert.deepEqual(readPushReport(exit(line(flag, summary))).get('main'), { result: 'landed' });
});

test('lost races are told apart from refusals and from the server’s own trouble', () => {
  for (const summary of [
    '[rejected] (stale info)',
    '[rejected] (fetch first)',
    '[rejected] (non-fast-forward)',
    '[remote rejected] (failed to update ref)',
    "[remote rejected] (cannot lock ref 'refs/heads/main': is at bbb but expected aaa)",
    '[remote rejected] (incorrect old value provided)',
  ])
    assert.equal(result(summary), 'race', summary);
  for (const summary of [
    '[remote rejected] (pre-receive hook declined)',
    '[remote rejected] (hook declined)',
    '[remote rejected] (push declined due to repository rule violations)',
    '[remote rejected] (protected branch hook declined)',
    '[remote rejected] (something never seen before)',
  ])
    assert.equal(result(summary), 'refused', summary);
  for (const summary of ['[remote rejected] (unpacker error)', '[remote rejected] (Internal Server Error)'])
    assert.equal(result(summary), 'server', summary);
});

test('the server’s own trouble is told with the server’s reason', () => {
  const told = (stderr: string) => {
    const one = readPushReport(exit(line('!', '[remote rejected] (unpacker error)'), stderr)).get('main');
    return one?.result === 'server' ? one.words : one?.result;
  };
  const failed = "error: failed to push some refs to 'x'\n";
  assert.equal(
    told(`error: remote unpack failed: unable to create temporary object directory\n${failed}`),
    '[remote rejected] (unpacker error): unable to create temporary object directory',
  );
  assert.equal(
    told(
      `remote: error: unable to create temporary file: Read-only file system\nerror: remote unpack failed: unpack-objects abnormal exit\n${failed}`,
    ),
    '[remote rejected] (unpacker error): error: unable to create temporary file: Read-only file system; unpack-objects abnormal exit',
  );
  assert.equal(told(failed), '[remote rejected] (unpacker error)');
});

test('a server that went away says nothing about the branch', () => {
  assert.equal(result('[remote failure] (remote failed to report status)'), undefined);
  assert.equal(readPushReport(exit('', 'fatal: the remote end hung up unexpectedly')).size, 0);
});

test('a protected branch is refused as a whole, a hook’s no may be about one commit', () => {
  const whole = (summary: string): boolean => {
    const one = readPushReport(exit(line('!', summary))).get('main');
    return one?.result === 'refused' && one.wholeBranch;
  };
  assert.equal(whole('[remote rejected] (protected branch hook declined)'), true);
  assert.equal(whole('[remote rejected] (pre-receive hook declined)'), false);
});

test('each branch has its own result', () => {
  const report = readPushReport(exit(line(' ', 'a..b', 'env/dev') + line('!', '[remote rejected] (hook declined)', 'env/prod')));
  assert.deepEqual(
    [...report].map(([branch, one]) => [branch, one.result]),
    [
      ['env/dev', 'landed'],
      ['env/prod', 'refused'],
    ],
  );
});

test('the server’s words are quoted without control characters and without end', () => {
  const stderr = `remote: \u001b[31mno\u0007 entry        \nremote: ${'x'.repeat(5000)}\nerror: failed to push some refs to 'y'\n`;
  const one = readPushReport(exit(line('!', '[remote rejected] (hook declined)'), stderr)).get('main');
  assert.ok(one?.result === 'refused');
  assert.match(one.words, /hook declined.*no {2}entry/);
  assert.ok(one.words.length <= 400);
  assert.doesNotMatch(one.words, /\p{Cc}/u);
});
