import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { failure, pushPlan, setFile, value } from '../../../test/contract/git.ts';
import type { RealGit } from '../../../test/contract/real-git.ts';
import { gitHere, realClock, realGit } from '../../../test/contract/real-git.ts';
import type { Outcome } from '../../api/outcome.ts';
import type { Pushed } from '../../ports/git.ts';
import { createGit } from './create-git.ts';

const yes = async (): Promise<boolean> => true;

const over =
  (transport: 'file' | 'http', body: (fixture: RealGit) => Promise<void>, options: Parameters<typeof realGit>[1] = {}) =>
  async () => {
    const fixture = await realGit(transport, options);
    try {
      await body(fixture);
    } finally {
      await fixture.close();
    }
  };

const mirrorOf = (fixture: RealGit): string => {
  const folder = join(fixture.folder, 'git', 'mirrors');
  return join(folder, readdirSync(folder)[0] ?? '');
};

const packs = (mirror: string, end: string): readonly string[] =>
  readdirSync(join(mirror, 'objects', 'pack'))
    .filter((name) => name.endsWith(end))
    .map((name) => join(mirror, 'objects', 'pack', name));

const until = async (holds: () => boolean): Promise<void> => {
  for (let tries = 0; tries < 500 && !holds(); tries += 1) await sleep(10);
  assert.ok(holds());
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(-pid, 0);
    return !/^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

/** Process numbers of running git processes whose arguments hold the word. */
const children = (fixture: RealGit, word: string): readonly number[] =>
  readdirSync(join(fixture.folder, 'git', 'children'))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word);
      } catch {
        return false;
      }
    });

const result = (outcome: Outcome<Pushed>): string => (outcome.outcome === 'done' ? outcome.value.result : failure(outcome));

test(
  'locks and half-written files of killed processes are cleared, at the start and on the way',
  over('file', async (fixture) => {
    const repository = await fixture.seed('locks', { 'a.txt': 'one\n' });
    value(await fixture.git.fetch(repository, 'main'));
    await fixture.write(repository, 'main', { 'a.txt': 'two\n' });
    const mirror = mirrorOf(fixture);
    const lock = join(mirror, 'refs', 'promoter', 'main.lock');
    writeFileSync(lock, '');
    const { tip } = value(await fixture.git.fetch(repository, 'main'));
    assert.equal(tip, (await fixture.log(repository, 'main'))[0]?.commit);
    assert.equal(existsSync(lock), false);
    await fixture.git.close();
    const half = join(mirror, 'objects', 'pack', 'tmp_pack_x');
    for (const path of [lock, half, join(mirror, 'packed-refs.lock')]) writeFileSync(path, '');
    const next = await fixture.again();
    assert.equal(value(await next.push(repository, pushPlan('x', setFile('a.txt', 'three\n')), yes)).result, 'landed');
    for (const path of [lock, half, join(mirror, 'packed-refs.lock')]) assert.equal(existsSync(path), false);
  }),
);

const each = <T>(items: readonly T[], use: (item: T) => void): void => {
  for (const item of items) use(item);
};

/** Writes nonsense into the middle of a file. */
const scribble = (path: string): void => {
  const bytes = readFileSync(path);
  bytes.fill(0x55, 12, bytes.length - 20);
  unlinkSync(path);
  writeFileSync(path, bytes);
};

const damages: readonly (readonly [string, (mirror: string) => void])[] = [
  ['packs that are cut short', (mirror) => each(packs(mirror, '.pack'), (path) => truncateSync(path, 40))],
  ['packs whose bytes are wrong', (mirror) => each(packs(mirror, '.pack'), (path) => scribble(path))],
  ['indexes that are cut short', (mirror) => each(packs(mirror, '.idx'), (path) => truncateSync(path, 100))],
  ['packs that are gone', (mirror) => each([...packs(mirror, '.pack'), ...packs(mirror, '.idx')], (path) => unlinkSync(path))],
  ['a ref that says nonsense', (mirror) => writeFileSync(join(mirror, 'refs', 'promoter', 'main'), `${'f'.repeat(40)}\n`)],
  ['a configuration that says nonsense', (mirror) => writeFileSync(join(mirror, 'config'), '[core\n')],
];

for (const [what, damage] of damages) {
  test(
    `a mirror with ${what} holds up nobody`,
    over('file', async (fixture) => {
      const repository = await fixture.seed('damage', { 'deep/a.txt': 'one\n', 'b.txt': 'b\n' });
      const { tip } = value(await fixture.git.fetch(repository, 'main'));
      value(await fixture.git.preview(repository, tip, setFile('deep/a.txt', 'x\n')));
      await fixture.git.close();
      damage(mirrorOf(fixture));
      const next = await fixture.again();
      assert.equal(value(await next.fetch(repository, 'main')).tip, tip);
      assert.equal(value(await next.preview(repository, tip, setFile('deep/a.txt', 'two\n')))[0]?.before, 'one\n');
      assert.equal(value(await next.push(repository, pushPlan('x', setFile('deep/a.txt', 'two\n')), yes)).result, 'landed');
      assert.equal((await fixture.log(repository, 'main')).length, 2);
    }),
  );
}

/** What somebody may clear away below the engine's folder. */
const cleared: readonly (readonly [string, (folder: string) => readonly string[]])[] = [
  ['the whole folder', (folder) => [folder]],
  ['the mirrors', (folder) => [join(folder, 'mirrors')]],
  ['everything in it', (folder) => readdirSync(folder).map((name) => join(folder, name))],
  ['the records of processes', (folder) => [join(folder, 'children')]],
];

for (const [what, paths] of cleared) {
  test(
    `an engine goes on when ${what} was cleared away while it ran`,
    over('http', async (fixture) => {
      const repository = await fixture.seed('cleared', { 'a.txt': 'one\n' });
      const push = (run: string, text: string) => fixture.git.push(repository, pushPlan(run, setFile('a.txt', text)), yes);
      const clear = (): void => each(paths(join(fixture.folder, 'git')), (path) => rmSync(path, { recursive: true, force: true }));
      const { tip } = value(await fixture.git.fetch(repository, 'main'));
      clear();
      assert.equal(value(await push('x', 'two\n')).result, 'landed');
      clear();
      assert.equal(value(await fixture.git.fetch(repository, 'main')).tip, (await fixture.log(repository, 'main'))[0]?.commit);
      clear();
      assert.equal(value(await fixture.git.preview(repository, tip, setFile('a.txt', 'three\n')))[0]?.before, 'one\n');
      assert.equal(value(await push('y', 'three\n')).result, 'landed');
      assert.equal((await fixture.log(repository, 'main')).length, 3);
    }),
  );
}

test(
  'a branch that vanishes while a run is under way is waited for, and one that never was there is not',
  over('file', async (fixture) => {
    const repository = await fixture.seed('vanished', { 'a.txt': 'one\n' }, ['main', 'other']);
    const { tip: since } = value(await fixture.git.fetch(repository, 'main'));
    const branch = async (...words: string[]) => gitHere([`--git-dir=${fixture.pathOf(repository)}`, 'update-ref', ...words]);
    await branch('-d', 'refs/heads/main');
    const plan = pushPlan('x', setFile('a.txt', 'two\n'));
    assert.equal(failure(await fixture.git.push(repository, plan, yes)), 'terminal GitBranchMissing');
    const waits = await fixture.git.push(repository, { ...plan, since }, yes);
    assert.equal(failure(waits), 'transient GitBranchMissing');
    assert.match(waits.outcome === 'done' ? '' : waits.reason.message, /has no branch "main" any more/);
    await branch('-d', 'refs/heads/other');
    assert.equal(failure(await fixture.git.push(repository, { ...plan, since }, yes)), 'transient GitRepositoryEmpty');
    await branch('refs/heads/main', since);
    assert.equal(value(await fixture.git.push(repository, { ...plan, since }, yes)).result, 'landed');
  }),
);

test(
  'a branch that is locked on the server is not said to have moved',
  over('http', async (fixture) => {
    const repository = await fixture.seed('locked', { 'a.txt': 'one\n' });
    const lock = join(fixture.pathOf(repository), 'refs', 'heads', 'main.lock');
    writeFileSync(lock, '');
    const plan = pushPlan('x', setFile('a.txt', 'two\n'));
    const stuck = await fixture.git.push(repository, plan, yes);
    assert.equal(failure(stuck), 'transient GitPushConflict');
    assert.match(
      stuck.outcome === 'done' ? '' : stuck.reason.message,
      /^the branch "main" is locked on the server, also at the 4th try \(/,
    );
    unlinkSync(lock);
    assert.equal(value(await fixture.git.push(repository, plan, yes)).result, 'landed');
  }),
);

test(
  'an object of ours that a power failure emptied is made again',
  over('file', async (fixture) => {
    const repository = await fixture.seed('emptied', { 'a.txt': 'one\n' });
    const { tip } = value(await fixture.git.fetch(repository, 'main'));
    const plan = pushPlan('x', setFile('a.txt', 'two\n'), { since: tip });
    const { commit } = value(await fixture.git.commit(repository, tip, plan));
    const mirror = mirrorOf(fixture);
    await fixture.git.close();
    for (const folder of readdirSync(join(mirror, 'objects')).filter((name) => name.length === 2))
      for (const name of readdirSync(join(mirror, 'objects', folder))) {
        unlinkSync(join(mirror, 'objects', folder, name));
        writeFileSync(join(mirror, 'objects', folder, name), '');
      }
    const next = await fixture.again();
    const pushed = value(await next.push(repository, plan, yes));
    assert.equal(pushed.result === 'landed' && pushed.commit, commit);
    assert.equal(await gitHere([`--git-dir=${fixture.pathOf(repository)}`, 'fsck', '--full', '--strict', '--no-dangling']), '');
  }),
);

test(
  'a push that is killed before the branch moved is told as transient and lands the next time',
  over('file', async (fixture) => {
    const repository = await fixture.seed('killed', { 'a.txt': 'one\n' });
    fixture.hook(repository, 'pre-receive', 'sleep 20');
    const plan = pushPlan('killed', setFile('a.txt', 'two\n'));
    const pushing = fixture.git.push(repository, plan, yes);
    await until(() => children(fixture, 'push').length === 1);
    await sleep(200);
    const [pid = 0] = children(fixture, 'push');
    process.kill(-pid, 'SIGKILL');
    assert.match(result(await pushing), /^transient Git/);
    fixture.hook(repository, 'pre-receive', 'exit 0');
    assert.equal(result(await fixture.git.push(repository, plan, yes)), 'landed');
    assert.equal((await fixture.log(repository, 'main')).length, 2);
  }),
);

test(
  'a push that is killed after the branch moved has landed',
  over('file', async (fixture) => {
    const repository = await fixture.seed('killed-late', { 'a.txt': 'one\n' });
    fixture.hook(repository, 'post-receive', 'touch moved; sleep 20');
    const pushing = fixture.git.push(repository, pushPlan('late', setFile('a.txt', 'two\n')), yes);
    await until(() => existsSync(join(fixture.pathOf(repository), 'moved')));
    const [pid = 0] = children(fixture, 'push');
    process.kill(-pid, 'SIGKILL');
    assert.equal(result(await pushing), 'landed');
    assert.equal((await fixture.log(repository, 'main')).length, 2);
  }),
);

test(
  'a push whose answer is lost on the way has landed once',
  over('http', async (fixture) => {
    const repository = await fixture.seed('lost-answer', { 'a.txt': 'one\n' });
    let cut = 0;
    // Hands everything on, and cuts the connection instead of handing back the answer to a push.
    const proxy = createServer((incoming, outgoing) => {
      const onward = request(`${fixture.server?.url}${incoming.url}`, { method: incoming.method, headers: incoming.headers }, (answer) => {
        if (incoming.method === 'POST' && incoming.url?.endsWith('git-receive-pack') && cut < 1) {
          cut += 1;
          answer.resume().once('end', () => incoming.socket.destroy());
          return;
        }
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      incoming.pipe(onward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const address = proxy.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const through = { ...repository, url: `http://127.0.0.1:${port}/lost-answer.git` };
    const pushed = await fixture.git.push(through, pushPlan('lost', setFile('a.txt', 'two\n')), yes);
    proxy.closeAllConnections();
    proxy.close();
    assert.equal(result(pushed), 'landed');
    assert.equal(cut, 1);
    assert.equal((await fixture.log(repository, 'main')).length, 2);
  }),
);

test(
  'a server that falls silent holds up later fetches for seconds, not for as long as a first one may take',
  over(
    'http',
    async (fixture) => {
      const repository = await fixture.seed('silent', { 'a.txt': 'one\n' });
      let silent = false;
      const held: (() => void)[] = [];
      const front = createServer((incoming, outgoing) => {
        const forward = (): void => {
          const url = new URL(incoming.url ?? '/', fixture.server?.url);
          const passed = request(url, { method: incoming.method, headers: incoming.headers }, (answer) => {
            outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
            answer.pipe(outgoing);
          });
          incoming.pipe(passed);
        };
        if (silent) held.push(forward);
        else forward();
      });
      await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
      const address = front.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      const through = { ...repository, url: `http://127.0.0.1:${port}/silent.git` };
      const { tip } = value(await fixture.git.fetch(through, 'main'));
      silent = true;
      assert.equal(failure(await fixture.git.fetch(through, 'main')), 'transient GitTimeout');
      assert.equal(held.length, 1);
      silent = false;
      assert.equal(value(await fixture.git.fetch(through, 'main')).tip, tip);
      front.closeAllConnections();
      front.close();
    },
    // Longer than the test may take, so that only the silence can have ended the fetch.
    { limits: { operationMs: 600_000, cloneMs: 600_000, lowSpeedSeconds: 600, fetchSilenceSeconds: 1 } },
  ),
);

test(
  'a page of something else that answers is not taken for an empty repository',
  over('http', async (fixture) => {
    for (const page of ['<html>login</html>', '<html>\n<body>be right back</body>\n</html>\n', '']) {
      const portal = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(page));
      await new Promise<void>((resolve) => portal.listen(0, '127.0.0.1', resolve));
      const address = portal.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      const fetched = await fixture.git.fetch({ url: `http://127.0.0.1:${port}/a.git` }, 'main');
      portal.closeAllConnections();
      portal.close();
      assert.equal(fetched.outcome, 'transient', `${page} ${failure(fetched)}`);
    }
    const empty = await fixture.seed('empty', { 'a.txt': 'one\n' });
    await gitHere([`--git-dir=${fixture.pathOf(empty)}`, 'update-ref', '-d', 'refs/heads/main']);
    assert.equal(failure(await fixture.git.fetch(empty, 'main')), 'terminal GitRepositoryEmpty');
  }),
);

test(
  'a server that does not answer is given up, and nothing keeps running',
  over(
    'file',
    async (fixture) => {
      const silent = createServer(() => undefined);
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      const address = silent.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      const started = performance.now();
      assert.equal(failure(await fixture.git.fetch({ url: `http://127.0.0.1:${port}/a.git` }, 'main')), 'transient GitTimeout');
      // Without a limit of its own, Git would wait for minutes.
      assert.ok(performance.now() - started < 60_000);
      assert.deepEqual(children(fixture, 'fetch'), []);
      silent.closeAllConnections();
      silent.close();
    },
    { limits: { operationMs: 300, cloneMs: 300 } },
  ),
);

test(
  'closing the engine ends a push under way, spoils no mirror, and leaves no process',
  over('file', async (fixture) => {
    const repository = await fixture.seed('closing', { 'a.txt': 'one\n' });
    fixture.hook(repository, 'pre-receive', 'sleep 20');
    const pushing = fixture.git.push(repository, pushPlan('x', setFile('a.txt', 'two\n')), yes);
    await until(() => children(fixture, 'push').length === 1);
    const [pid = 0] = children(fixture, 'push');
    await fixture.git.close();
    assert.match(result(await pushing), /^transient /);
    await until(() => !isAlive(pid));
    assert.equal(failure(await fixture.git.fetch(repository, 'main')), 'transient GitUnavailable');
    assert.deepEqual(readdirSync(join(fixture.folder, 'git', 'spoiled')), []);
  }),
);

test(
  'a run that landed before the controller died is found by the next one',
  over('http', async (fixture) => {
    const repository = await fixture.seed('crash', { 'a.txt': 'one\n' });
    const { tip } = value(await fixture.git.fetch(repository, 'main'));
    const plan = pushPlan('crash', setFile('a.txt', 'two\n'), { since: tip });
    const first = value(await fixture.git.push(repository, plan, yes));
    await fixture.git.close();
    const next = await fixture.again();
    assert.deepEqual(value(await next.push(repository, plan, yes)), { ...first, found: true });
    assert.equal((await fixture.log(repository, 'main')).length, 2);
  }),
);

test(
  'what a killed controller leaves running is ended by the next one before it works',
  over('file', async (fixture) => {
    const repository = await fixture.seed('leftover', { 'a.txt': 'one\n' });
    // This hook runs while the server holds the lock of the branch.
    fixture.hook(repository, 'reference-transaction', 'if [ "$1" = prepared ]; then touch started; sleep 60; fi');
    await fixture.git.close();
    const code = `
      import { createGit } from '${import.meta.dirname}/index.ts';
      import { pushPlan, setFile } from '${import.meta.dirname}/../../../test/contract/git.ts';
      import { realClock } from '${import.meta.dirname}/../../../test/contract/real-git.ts';
      const log = { debug() {}, info() {}, warn() {}, error() {} };
      const secrets = { read: async () => ({ outcome: 'transient', reason: { code: 'SecretMissing', message: '' } }) };
      const git = await createGit({ directory: process.argv[1], secrets, clock: realClock, log, allowFileUrls: true });
      await git.value.push({ url: process.argv[2] }, pushPlan('killed', setFile('a.txt', 'two\\n')), async () => true);
    `;
    const controller = spawn(
      process.execPath,
      ['--input-type=module-typescript', '-e', code, join(fixture.folder, 'git'), repository.url],
      {
        stdio: 'ignore',
      },
    );
    await until(() => existsSync(join(fixture.pathOf(repository), 'started')));
    const [pid = 0] = children(fixture, 'push');
    controller.kill('SIGKILL');
    await sleep(100);
    assert.equal(isAlive(pid), true);
    const next = await fixture.again();
    assert.equal(isAlive(pid), false);
    assert.equal(existsSync(join(fixture.pathOf(repository), 'refs', 'heads', 'main.lock')), false);
    fixture.hook(repository, 'reference-transaction', 'exit 0');
    assert.equal(result(await next.push(repository, pushPlan('killed', setFile('a.txt', 'two\n')), yes)), 'landed');
    assert.equal((await fixture.log(repository, 'main')).length, 2);
    const waiting = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => {
        try {
          return readFileSync(`/proc/${name}/environ`, 'utf8');
        } catch {
          return '';
        }
      })
      .filter((text) => text.includes(`PROMOTER_GIT_HOME=${join(fixture.folder, 'git')}`));
    assert.ok(waiting.length <= 1, 'only the new engine’s reading process may run');
  }),
);

test(
  'a record whose process number belongs to somebody else by now ends nobody',
  over('file', async (fixture) => {
    await fixture.git.close();
    const stranger = spawn('sleep', ['30'], { detached: true, stdio: 'ignore' });
    const pid = stranger.pid ?? 0;
    mkdirSync(join(fixture.folder, 'git', 'children'), { recursive: true });
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    writeFileSync(join(fixture.folder, 'git', 'children', String(pid)), JSON.stringify({ pid, started: '1', boot, recorded: 0 }));
    writeFileSync(join(fixture.folder, 'git', 'children', 'nonsense'), 'nonsense');
    await fixture.again();
    assert.equal(isAlive(pid), true);
    assert.deepEqual(readdirSync(join(fixture.folder, 'git', 'children')), []);
    stranger.kill('SIGKILL');
  }),
);

test(
  'a mirror that cannot be made is a transient reason for everybody who waits, and passes',
  over('file', async (fixture) => {
    const repository = await fixture.seed('unwritable', { 'a.txt': 'one\n' });
    const mirrors = join(fixture.folder, 'git', 'mirrors');
    rmSync(mirrors, { recursive: true });
    writeFileSync(mirrors, 'a file where a folder should be');
    const plan = pushPlan('x', setFile('a.txt', 'two\n'));
    const results = await Promise.all([
      fixture.git.push(repository, plan, yes),
      fixture.git.push(repository, pushPlan('y', setFile('b.txt', 'y')), yes),
    ]);
    for (const one of results) assert.match(result(one), /^transient Git/);
    rmSync(mirrors);
    mkdirSync(mirrors);
    assert.equal(result(await fixture.git.push(repository, plan, yes)), 'landed');
  }),
);

test('a missing git is told before anything is done', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'promoter-no-git-'));
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const secrets = { read: async () => ({ outcome: 'transient', reason: { code: 'SecretMissing', message: '' } }) as const };
  const made = await createGit({ directory: folder, secrets, clock: realClock, log, environment: { PATH: folder } });
  assert.equal(failure(made), 'terminal GitUnusable');
  rmSync(folder, { recursive: true });
});
