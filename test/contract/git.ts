/** What every Git engine must do, said over the port and a small fixture; runs over the real adapter and over any stand-in. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { FileEdit } from '../../src/api/file-edit.ts';
import type { Outcome } from '../../src/api/outcome.ts';
import type { CommitSha, Repository } from '../../src/api/repository.ts';
import { parseCommitSha } from '../../src/api/repository.ts';
import type { GitPort, Pushed, PushPlan } from '../../src/ports/git.ts';

/** A commit as it stands on a branch. */
export interface LoggedCommit {
  readonly commit: string;
  readonly parents: readonly string[];
  readonly message: string;
}

/** The engine under test and the hands that move the remote without it. */
export interface GitFixture {
  readonly git: GitPort;
  /** Makes a repository; every branch starts with one commit that holds the files. */
  seed(name: string, files: Readonly<Record<string, string>>, branches?: readonly string[]): Promise<Repository>;
  /** The files at the tip, by path. */
  files(repository: Repository, branch: string): Promise<ReadonlyMap<string, string>>;
  /** The branch's commits, newest first. */
  log(repository: Repository, branch: string): Promise<readonly LoggedCommit[]>;
  /** Somebody else's commit on the branch. */
  write(repository: Repository, branch: string, files: Readonly<Record<string, string>>): Promise<CommitSha>;
  /** Somebody else moves the branch to any commit. */
  reset(repository: Repository, branch: string, commit: string): Promise<void>;
  /** From now on the server refuses commits that change this path. */
  refuse(repository: Repository, path: string): Promise<void>;
  close(): Promise<void>;
}

/** An edit that gives a file a new text. */
export function setFile(path: string, text: string): FileEdit {
  return {
    reads: [path],
    apply: (files) => ({ ok: true, writes: files.get(path) === text ? new Map() : new Map([[path, text]]) }),
  };
}

const time = Date.UTC(2026, 0, 2, 3, 4, 5);

/** A plan to push; the run begins at `since`. */
export function pushPlan(run: string, edit: FileEdit, rest: Partial<PushPlan> = {}): PushPlan {
  return { edit, run, message: `Promote ${run}\n\nPromoter-Run: ${run}\n`, time, branch: 'main', notBefore: time - 1000, ...rest };
}

/** The value of a good outcome; anything else fails the test. */
export function value<T>(outcome: Outcome<T>): T {
  if (outcome.outcome === 'done') return outcome.value;
  assert.fail(`${outcome.outcome} ${outcome.reason.code}: ${outcome.reason.message}`);
}

/** The code of a bad outcome, with its kind. */
export const failure = (outcome: Outcome<unknown>): string =>
  outcome.outcome === 'done' ? `done ${JSON.stringify(outcome.value)}` : `${outcome.outcome} ${outcome.reason.code}`;

const yes = async (): Promise<boolean> => true;

/** Runs the suite over a fresh fixture. */
export function gitContract(name: string, make: () => Promise<GitFixture>): void {
  describe(`${name}: Git contract`, () => {
    let fixture: GitFixture;
    before(async () => {
      fixture = await make();
    });
    after(() => fixture.close());
    reading(() => fixture);
    landing(() => fixture);
    searching(() => fixture);
    racing(() => fixture);
    grouping(() => fixture);
  });
}

function reading(get: () => GitFixture): void {
  test('a fetch names the tip, and the new tip after somebody wrote', async () => {
    const { git, seed, write, log } = get();
    const repository = await seed('fetch', { 'a.txt': 'one\n' });
    const [first] = await log(repository, 'main');
    assert.equal(value(await git.fetch(repository, 'main')).tip, first?.commit);
    const second = await write(repository, 'main', { 'a.txt': 'two\n' });
    assert.equal(value(await git.fetch(repository, 'main')).tip, second);
  });

  test('a branch that is not there is a terminal reason that names it', async () => {
    const { git, seed } = get();
    const repository = await seed('no-branch', { 'a.txt': 'one\n' });
    const fetched = await git.fetch(repository, 'absent');
    assert.equal(failure(fetched), 'terminal GitBranchMissing');
    assert.match(fetched.outcome === 'terminal' ? fetched.reason.message : '', /absent/);
    assert.equal(
      failure(await git.push(repository, pushPlan('x', setFile('a.txt', 'two\n'), { branch: 'absent' }), yes)),
      'terminal GitBranchMissing',
    );
  });

  test('a preview shows changed files before and after, and writes nothing', async () => {
    const { git, seed, files } = get();
    const repository = await seed('preview', { 'deep/er/a.txt': '\ufeffone\r\n', 'b.txt': 'same\n' });
    const { tip } = value(await git.fetch(repository, 'main'));
    const edit: FileEdit = {
      reads: ['deep/er/a.txt', 'b.txt', 'none.txt'],
      apply: (seen) => {
        assert.deepEqual([...seen.keys()].sort(), ['b.txt', 'deep/er/a.txt']);
        const text = seen.get('deep/er/a.txt') ?? '';
        return {
          ok: true,
          writes: new Map([
            ['deep/er/a.txt', text.replace('one', 'two')],
            ['new/c.txt', 'c\n'],
          ]),
        };
      },
    };
    const changes = [...value(await git.preview(repository, tip, edit))].sort((a, b) => (a.path < b.path ? -1 : 1));
    assert.deepEqual(changes, [
      { path: 'deep/er/a.txt', before: '\ufeffone\r\n', after: '\ufefftwo\r\n' },
      { path: 'new/c.txt', after: 'c\n' },
    ]);
    assert.equal((await files(repository, 'main')).get('deep/er/a.txt'), '\ufeffone\r\n');
    assert.deepEqual(value(await git.preview(repository, tip, setFile('b.txt', 'same\n'))), []);
  });

  test('a refused edit is terminal everywhere, with its own code and its file', async () => {
    const { git, seed } = get();
    const repository = await seed('refusal', { 'a.txt': 'one\n' });
    const { tip } = value(await git.fetch(repository, 'main'));
    const edit: FileEdit = {
      reads: ['a.txt'],
      apply: () => ({ ok: false, refusal: { code: 'Unreadable', message: 'this is not a list', file: 'a.txt', line: 3 } }),
    };
    const plan = pushPlan('refused', edit);
    for (const outcome of [
      await git.preview(repository, tip, edit),
      await git.commit(repository, tip, plan),
      await git.push(repository, plan, yes),
    ]) {
      assert.equal(failure(outcome), 'terminal Unreadable');
      assert.match(outcome.outcome === 'terminal' ? outcome.reason.message : '', /a\.txt:3.*this is not a list/);
    }
  });

  test('a commit is a function of base and plan, and stays off the branch', async () => {
    const { git, seed, write, log } = get();
    const repository = await seed('commit', { 'a.txt': 'one\n' });
    const { tip } = value(await git.fetch(repository, 'main'));
    const plan = pushPlan('same', setFile('a.txt', 'two\n'));
    const first = value(await git.commit(repository, tip, plan));
    assert.deepEqual(value(await git.commit(repository, tip, plan)), first);
    assert.equal(first.base, tip);
    assert.equal(first.changed, true);
    assert.notEqual(value(await git.commit(repository, tip, { ...plan, time: time + 5000 })).commit, first.commit);
    assert.deepEqual(value(await git.commit(repository, tip, pushPlan('none', setFile('a.txt', 'one\n')))), {
      base: tip,
      commit: tip,
      changed: false,
    });
    assert.equal((await log(repository, 'main')).length, 1);
    await write(repository, 'main', { 'b.txt': 'b\n' });
    const later = value(await git.fetch(repository, 'main')).tip;
    assert.notEqual(value(await git.commit(repository, later, plan)).commit, first.commit);
  });
}

function landing(get: () => GitFixture): void {
  test('a push lands one commit with the plan’s message on the tip', async () => {
    const { git, seed, files, log } = get();
    const repository = await seed('push', { 'a.txt': 'one\n', 'b.txt': 'b\n' });
    const { tip } = value(await git.fetch(repository, 'main'));
    const plan = pushPlan('push-1', setFile('a.txt', 'two\n'), { since: tip });
    const made = value(await git.commit(repository, tip, plan));
    const pushed = value(await git.push(repository, plan, yes));
    assert.deepEqual(pushed, { result: 'landed', commit: made.commit, base: tip, found: false, races: 0 });
    const commits = await log(repository, 'main');
    assert.deepEqual(commits[0], { commit: made.commit, parents: [tip], message: plan.message });
    assert.equal(commits.length, 2);
    assert.deepEqual([...(await files(repository, 'main'))].sort(), [
      ['a.txt', 'two\n'],
      ['b.txt', 'b\n'],
    ]);
  });

  test('a push without a fetch before it works', async () => {
    const { git, seed, files } = get();
    const repository = await seed('push-only', { 'a.txt': 'one\n' });
    assert.equal(value(await git.push(repository, pushPlan('only', setFile('a.txt', 'two\n')), yes)).result, 'landed');
    assert.equal((await files(repository, 'main')).get('a.txt'), 'two\n');
  });

  test('new files in new folders are written', async () => {
    const { git, seed, files } = get();
    const repository = await seed('new-files', { 'a/b.txt': 'b\n', 'a.txt': 'a\n', 'a-b.txt': 'ab\n' });
    const edit: FileEdit = {
      reads: [],
      apply: () => ({
        ok: true,
        writes: new Map([
          ['a/c/d.txt', 'd\n'],
          ['a0.txt', '0\n'],
        ]),
      }),
    };
    assert.equal(value(await git.push(repository, pushPlan('new', edit), yes)).result, 'landed');
    assert.deepEqual([...(await files(repository, 'main')).keys()].sort(), ['a-b.txt', 'a.txt', 'a/b.txt', 'a/c/d.txt', 'a0.txt']);
  });

  test('a tip that says what is wanted already takes no commit', async () => {
    const { git, seed, log } = get();
    const repository = await seed('unchanged', { 'a.txt': 'one\n' });
    const { tip } = value(await git.fetch(repository, 'main'));
    assert.deepEqual(value(await git.push(repository, pushPlan('u', setFile('a.txt', 'one\n')), yes)), { result: 'unchanged', tip });
    assert.equal((await log(repository, 'main')).length, 1);
  });

  test('a guard that says no withdraws its own run and no other', async () => {
    const { git, seed, files, log } = get();
    const repository = await seed('guard', { 'a.txt': 'one\n', 'b.txt': 'one\n' });
    const results = await Promise.all([
      git.push(repository, pushPlan('no', setFile('a.txt', 'two\n')), async () => false),
      git.push(repository, pushPlan('yes', setFile('b.txt', 'two\n')), yes),
    ]);
    assert.deepEqual(value(results[0]), { result: 'withdrawn' });
    assert.equal(value(results[1]).result, 'landed');
    assert.equal((await files(repository, 'main')).get('a.txt'), 'one\n');
    assert.equal((await log(repository, 'main')).length, 2);
  });
}

function searching(get: () => GitFixture): void {
  test('a run that landed before is found, with or without the place where it began', async () => {
    const { git, seed, log } = get();
    const repository = await seed('found', { 'a.txt': 'one\n', 'b.txt': 'b\n' });
    const { tip } = value(await git.fetch(repository, 'main'));
    const plan = pushPlan('again', setFile('a.txt', 'two\n'), { since: tip });
    const first = value(await git.push(repository, plan, yes));
    const { since: _, ...undated } = plan;
    for (const repeated of [plan, undated]) {
      const second = value(await git.push(repository, repeated, yes));
      assert.equal(first.result, 'landed');
      assert.deepEqual(second, { ...first, found: true });
    }
    assert.equal((await log(repository, 'main')).length, 2);
  });

  test('a run that landed below other commits is found', async () => {
    const { git, seed, write, log } = get();
    const repository = await seed('below', { 'a.txt': 'one\n', 'b.txt': 'b\n' });
    const plan = pushPlan('below', setFile('a.txt', 'two\n'));
    const first = value(await git.push(repository, plan, yes));
    await write(repository, 'main', { 'b.txt': 'c\n' });
    assert.deepEqual(value(await git.push(repository, plan, yes)), { ...first, found: true });
    assert.equal((await log(repository, 'main')).length, 3);
  });

  test('a run whose words somebody changed afterwards is overwritten, and not written again', async () => {
    const { git, seed, write, files } = get();
    const repository = await seed('overwritten', { 'a.txt': 'one\n' });
    const plan = pushPlan('over', setFile('a.txt', 'two\n'));
    const first = value(await git.push(repository, plan, yes));
    const tip = await write(repository, 'main', { 'a.txt': 'three\n' });
    assert.deepEqual(value(await git.push(repository, plan, yes)), {
      result: 'overwritten',
      commit: first.result === 'landed' ? first.commit : '',
      tip,
    });
    assert.equal((await files(repository, 'main')).get('a.txt'), 'three\n');
  });

  test('a run whose commit was rewritten away is written again', async () => {
    const { git, seed, reset, log } = get();
    const repository = await seed('rewritten', { 'a.txt': 'one\n' });
    const { tip } = value(await git.fetch(repository, 'main'));
    const plan = pushPlan('rewritten', setFile('a.txt', 'two\n'), { since: tip });
    value(await git.push(repository, plan, yes));
    await reset(repository, 'main', tip);
    assert.equal(value(await git.fetch(repository, 'main')).tip, tip);
    const again = value(await git.push(repository, plan, yes));
    assert.equal(again.result === 'landed' && !again.found, true);
    assert.equal((await log(repository, 'main')).length, 2);
  });

  test('a push right after somebody rewrote the branch does not bring back what was dropped', async () => {
    const { git, seed, reset, files, log } = get();
    const repository = await seed('dropped', { 'a.txt': 'one\n', 'b.txt': 'b\n' });
    const { tip } = value(await git.fetch(repository, 'main'));
    value(await git.push(repository, pushPlan('dropped-1', setFile('a.txt', 'two\n')), yes));
    await reset(repository, 'main', tip);
    assert.equal(value(await git.push(repository, pushPlan('dropped-2', setFile('b.txt', 'c\n')), yes)).result, 'landed');
    assert.equal((await files(repository, 'main')).get('a.txt'), 'one\n');
    assert.equal((await log(repository, 'main')).length, 2);
  });
}

function racing(get: () => GitFixture): void {
  test('three lost races are repeated on the new tip', async () => {
    const { git, seed, write, files, log } = get();
    const repository = await seed('races', { 'a.txt': 'one\n', 'b.txt': '0\n' });
    let asked = 0;
    const pushed = value(
      await git.push(repository, pushPlan('races', setFile('a.txt', 'two\n')), async () => {
        asked += 1;
        if (asked <= 3) await write(repository, 'main', { 'b.txt': `${asked}\n` });
        return true;
      }),
    );
    assert.equal(pushed.result, 'landed');
    assert.equal(asked, 4);
    assert.deepEqual(Object.fromEntries(await files(repository, 'main')), { 'a.txt': 'two\n', 'b.txt': '3\n' });
    assert.equal((await log(repository, 'main')).length, 5);
  });

  test('a branch that moves under every attempt is a transient conflict', async () => {
    const { git, seed, write, files } = get();
    const repository = await seed('lost', { 'a.txt': 'one\n', 'b.txt': '0\n' });
    let asked = 0;
    const pushed = await git.push(repository, pushPlan('lost', setFile('a.txt', 'two\n')), async () => {
      asked += 1;
      await write(repository, 'main', { 'b.txt': `${asked}\n` });
      return true;
    });
    assert.equal(failure(pushed), 'transient GitPushConflict');
    assert.equal(asked, 4);
    assert.equal((await files(repository, 'main')).get('a.txt'), 'one\n');
  });
}

function grouping(get: () => GitFixture): void {
  test('twenty runs at once land one commit each', async () => {
    const { git, seed, files, log } = get();
    const names = Array.from({ length: 20 }, (_, index) => `env/e${index}.txt`);
    const repository = await seed('group', Object.fromEntries(names.map((path) => [path, 'one\n'])));
    const { tip } = value(await git.fetch(repository, 'main'));
    const results = await Promise.all(
      names.map((path) => git.push(repository, pushPlan(path, setFile(path, 'two\n'), { since: tip }), yes)),
    );
    const landed = results.map((result) => value(result)).flatMap((result) => (result.result === 'landed' ? [result] : []));
    const commits = await log(repository, 'main');
    assert.equal(commits.length, 21);
    assert.deepEqual(
      landed.map((one) => one.commit).sort(),
      commits
        .slice(0, 20)
        .map((one) => one.commit)
        .sort(),
    );
    for (const one of landed) assert.deepEqual(commits.find((commit) => commit.commit === one.commit)?.parents, [one.base]);
    assert.deepEqual(new Set((await files(repository, 'main')).values()), new Set(['two\n']));
  });

  test('runs on several branches of one repository land each on its own', async () => {
    const { git, seed, files } = get();
    const branches = ['main', 'env/dev', 'env/prod'];
    const repository = await seed('branches', { 'a.txt': 'one\n' }, branches);
    await Promise.all(branches.map((branch) => git.push(repository, pushPlan(branch, setFile('a.txt', `${branch}\n`), { branch }), yes)));
    for (const branch of branches) assert.equal((await files(repository, branch)).get('a.txt'), `${branch}\n`);
  });

  test('two runs that want the same words make one commit', async () => {
    const { git, seed, log } = get();
    const repository = await seed('same-words', { 'a.txt': 'one\n' });
    const results: Outcome<Pushed>[] = await Promise.all(
      ['s1', 's2'].map((run) => git.push(repository, pushPlan(run, setFile('a.txt', 'two\n')), yes)),
    );
    assert.deepEqual(results.map((result) => value(result).result).sort(), ['landed', 'unchanged']);
    assert.equal((await log(repository, 'main')).length, 2);
  });

  test('a refused path holds up nobody but the run that wants it', async () => {
    const { git, seed, refuse, files } = get();
    const names = ['a', 'b', 'c', 'd', 'e'];
    const repository = await seed('refuse', Object.fromEntries(names.map((one) => [`env/${one}.txt`, 'one\n'])));
    await refuse(repository, 'env/c.txt');
    const results = await Promise.all(names.map((one) => git.push(repository, pushPlan(one, setFile(`env/${one}.txt`, 'two\n')), yes)));
    assert.deepEqual(
      results.map((result) => (result.outcome === 'done' ? result.value.result : failure(result))),
      ['landed', 'landed', 'terminal GitPushRefused', 'landed', 'landed'],
    );
    const texts = await files(repository, 'main');
    assert.deepEqual(
      names.map((one) => texts.get(`env/${one}.txt`)),
      ['two\n', 'two\n', 'one\n', 'two\n', 'two\n'],
    );
  });
}

/** Brands a commit id that a fixture read. */
export function sha(text: string): CommitSha {
  const parsed = parseCommitSha(text.trim());
  if (parsed === undefined) assert.fail(`not a commit id: ${text}`);
  return parsed;
}
