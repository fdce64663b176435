import assert from 'node:assert/strict';
import { test } from 'node:test';
import { done, type Outcome, terminal, transient } from '../../api/outcome.ts';
import { type CommitSha, parseCommitSha } from '../../api/repository.ts';
import type { ActivityEffect, CommitIntent } from '../../core/effect.ts';
import type { GitPort, PushPlan } from '../../ports/git.ts';
import { createEdits } from './edits.ts';
import { runActivity } from './run-activity.ts';

const shaOf = (digit: string): CommitSha => {
  const sha = parseCommitSha(digit.repeat(40));
  assert.ok(sha);
  return sha;
};
const BASE = shaOf('a');
const COMMIT = shaOf('b');

const base = {
  key: 'run/0/step',
  step: { kind: 'PromotionStep', namespace: 'default', name: 'b.test' },
  stepUid: 'uid',
  attempt: 1,
  index: 0,
  repository: { url: 'https://git.example/d.git', credential: { namespace: 'default', name: 'token' } },
  branch: 'main',
} as const;

const intent: CommitIntent = {
  edit: { edit: 'overlay', path: 'test', images: [{ repository: 'a/web', tag: '1' }] },
  run: 'b/test/1',
  message: 'Promote\n',
  time: 1000,
};

const EFFECTS: Readonly<Record<ActivityEffect['kind'], ActivityEffect>> = {
  GitFetch: { kind: 'GitFetch', ...base },
  GitPreview: { kind: 'GitPreview', ...base, base: BASE, edit: intent.edit },
  GitCommit: { kind: 'GitCommit', ...base, base: BASE, ...intent },
  GitPush: { kind: 'GitPush', ...base, since: BASE, notBefore: 500, ...intent },
};

/** Git that notes what it is asked; `bad` is the answer to everything, when there is one. */
const gitOf = (bad?: Outcome<never>, guarded?: (answer: boolean) => void) => {
  const asked: unknown[][] = [];
  const git: GitPort = {
    fetch: async (...args) => {
      asked.push(['fetch', ...args]);
      return bad ?? done({ tip: BASE });
    },
    preview: async (repository, at, edit) => {
      asked.push(['preview', repository, at, edit.reads]);
      return bad ?? done([{ path: 'test/kustomization.yaml', after: '' }]);
    },
    commit: async (repository, at, { edit, ...plan }) => {
      asked.push(['commit', repository, at, plan, edit.reads]);
      return bad ?? done({ base: at, commit: COMMIT, changed: true });
    },
    push: async (repository, { edit, ...plan }: PushPlan, guard) => {
      asked.push(['push', repository, plan, edit.reads]);
      guarded?.(await guard());
      return bad ?? done({ result: 'landed', commit: COMMIT, base: BASE, found: false, races: 2 });
    },
  };
  return { git, asked };
};

const run = (effect: ActivityEffect, git: GitPort, wanted = true) =>
  runActivity(effect, { git, compile: createEdits(), stillWanted: async () => wanted });

const READS = ['test/kustomization.yaml', 'test/kustomization.yml', 'test/Kustomization'];
const plan = { run: 'b/test/1', message: 'Promote\n', time: 1000 };

test('each activity asks Git for exactly what it says, and gives what Git gave', async () => {
  const { git, asked } = gitOf();
  assert.deepEqual(await run(EFFECTS.GitFetch, git), done({ result: 'fetched', tip: BASE }));
  assert.deepEqual(await run(EFFECTS.GitPreview, git), done({ result: 'previewed', files: ['test/kustomization.yaml'] }));
  assert.deepEqual(await run(EFFECTS.GitCommit, git), done({ result: 'committed', commit: COMMIT, changed: true }));
  assert.deepEqual(await run(EFFECTS.GitPush, git), done({ result: 'landed', commit: COMMIT, base: BASE, found: false, races: 2 }));
  assert.deepEqual(asked, [
    ['fetch', base.repository, 'main'],
    ['preview', base.repository, BASE, READS],
    ['commit', base.repository, BASE, plan, READS],
    ['push', base.repository, { ...plan, branch: 'main', notBefore: 500, since: BASE }, READS],
  ]);
});

test('a failure is handed on as it is, with the pause that the remote asked for', async () => {
  for (const bad of [transient('RateLimited', 'no', 5000), terminal('GitPushRefused', 'no')]) {
    for (const effect of Object.values(EFFECTS)) assert.deepEqual(await run(effect, gitOf(bad).git), bad);
  }
});

test('a base that is no commit is refused before Git is asked', async () => {
  for (const kind of ['GitPreview', 'GitCommit'] as const) {
    for (const text of ['', 'main', '--upload-pack=x', BASE.toUpperCase()]) {
      const effect = EFFECTS[kind];
      assert.ok(effect.kind === 'GitPreview' || effect.kind === 'GitCommit');
      const { git, asked } = gitOf();
      const outcome = await run({ ...effect, base: text }, git);
      assert.deepEqual([outcome.outcome, outcome.outcome === 'terminal' && outcome.reason.code], ['terminal', 'BaseInvalid']);
      assert.deepEqual(asked, []);
    }
  }
});

test('a push without a place to search from, or with one that is no commit, searches as far as it may', async () => {
  const without = { kind: 'GitPush', ...base, notBefore: 500, ...intent } as const;
  for (const effect of [without, { ...without, since: 'HEAD~3' }]) {
    const { git, asked } = gitOf();
    await run(effect, git);
    assert.deepEqual(asked[0]?.[2], { ...plan, branch: 'main', notBefore: 500 });
  }
});

test('the guard of a push is the question whether it is still wanted', async () => {
  for (const wanted of [true, false]) {
    const answers: boolean[] = [];
    await run(EFFECTS.GitPush, gitOf(undefined, (answer) => void answers.push(answer)).git, wanted);
    assert.deepEqual(answers, [wanted]);
  }
});
