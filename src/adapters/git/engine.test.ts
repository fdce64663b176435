import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { failure, pushPlan, setFile, value } from '../../../test/contract/git.ts';
import type { RealGit } from '../../../test/contract/real-git.ts';
import { gitHere, realGit } from '../../../test/contract/real-git.ts';
import { done, transient } from '../../api/outcome.ts';
import { createBareRepository } from '../git-server/index.ts';

const yes = async (): Promise<boolean> => true;

/** Runs a test body over a fixture of its own. */
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

const commands = (fixture: RealGit): readonly string[] => fixture.processes.map((event) => event.command);

const everyFile = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

test(
  'fifty fetches of one repository share a few processes',
  over('http', async (fixture) => {
    const repository = await fixture.seed('fetches', { 'a.txt': 'one\n' });
    const tips = await Promise.all(Array.from({ length: 50 }, () => fixture.git.fetch(repository, 'main')));
    assert.equal(new Set(tips.map((tip) => value(tip).tip)).size, 1);
    assert.ok(commands(fixture).length <= 2, commands(fixture).join());
  }),
);

test(
  'twenty promotions from fetch to push take fewer than two processes each',
  over('http', async (fixture) => {
    const names = Array.from({ length: 20 }, (_, index) => `env/e${index}/k.yaml`);
    const repository = await fixture.seed('promotions', Object.fromEntries(names.map((name, index) => [name, `tag: ${index}\n`])));
    const promote = async (path: string): Promise<string> => {
      const { tip } = value(await fixture.git.fetch(repository, 'main'));
      const plan = pushPlan(path, setFile(path, 'tag: new\n'), { since: tip });
      assert.equal(value(await fixture.git.preview(repository, tip, plan.edit)).length, 1);
      assert.equal(value(await fixture.git.commit(repository, tip, plan)).changed, true);
      return value(await fixture.git.push(repository, plan, yes)).result;
    };
    assert.deepEqual(new Set(await Promise.all(names.map(promote))), new Set(['landed']));
    assert.equal((await fixture.log(repository, 'main')).length, 21);
    assert.ok(fixture.server !== undefined && fixture.server.requests().pushes <= 3);
    await fixture.git.close();
    assert.ok(commands(fixture).length <= 8, commands(fixture).join());
    assert.equal(await gitHere([`--git-dir=${fixture.pathOf(repository)}`, 'fsck', '--full', '--strict', '--no-dangling']), '');
  }),
);

test(
  'a refused group of sixteen costs about twice the logarithm in pushes',
  over('http', async (fixture) => {
    const names = Array.from({ length: 16 }, (_, index) => `env/e${index}.txt`);
    const repository = await fixture.seed('bisect', Object.fromEntries(names.map((name) => [name, 'one\n'])));
    await fixture.refuse(repository, 'env/e5.txt');
    const results = await Promise.all(names.map((path) => fixture.git.push(repository, pushPlan(path, setFile(path, 'two\n')), yes)));
    assert.deepEqual(
      results.map((result) => result.outcome),
      names.map((path) => (path === 'env/e5.txt' ? 'terminal' : 'done')),
    );
    const refused = results[5];
    assert.match(refused?.outcome === 'terminal' ? refused.reason.message : '', /the path env\/e5\.txt is frozen/);
    assert.ok(commands(fixture).filter((command) => command === 'push').length <= 10, commands(fixture).join());
  }),
);

test(
  'the token is in no argument, log, file or message',
  over('http', async (fixture) => {
    const repository = await fixture.seed('secret', { 'a.txt': 'one\n' });
    fixture.hook(repository, 'pre-receive', 'sleep 0.5; echo "hello" >&2');
    const pushing = fixture.git.push(repository, pushPlan('secret', setFile('a.txt', 'two\n')), yes);
    const seen = new Set<string>();
    let over = false;
    void pushing.finally(() => {
      over = true;
    });
    while (!over) {
      for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
        try {
          seen.add(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
        } catch {
          // It has ended meanwhile.
        }
      }
      await sleep(10);
    }
    assert.equal(value(await pushing).result, 'landed');
    assert.ok([...seen].some((line) => line.includes('push')));
    const basic = Buffer.from(`x-access-token:${fixture.token}`).toString('base64');
    const texts = [...seen, ...fixture.logged, ...everyFile(join(fixture.folder, 'git')).map((file) => readFileSync(file, 'latin1'))];
    for (const text of texts) assert.ok(!text.includes(fixture.token) && !text.includes(basic));
  }),
);

test('a wrong token is a transient refusal that does not repeat it, and the right one works at once', async () => {
  let token = 'wrong-t0ken';
  const read = async (_: unknown, key: string) => (key === 'token' ? done(token) : transient('SecretMissing', key));
  await over(
    'http',
    async (fixture) => {
      const repository = await fixture.seed('wrong', { 'a.txt': 'one\n' });
      const refused = await fixture.git.fetch(repository, 'main');
      assert.equal(failure(refused), 'transient GitUnauthorized');
      const pushed = await fixture.git.push(repository, pushPlan('x', setFile('a.txt', 'two\n')), yes);
      assert.equal(failure(pushed), 'transient GitUnauthorized');
      assert.ok(!JSON.stringify([refused, pushed]).includes(token));
      token = fixture.token;
      assert.equal((await fixture.git.push(repository, pushPlan('x', setFile('a.txt', 'two\n')), yes)).outcome, 'done');
    },
    { secrets: { read } },
  )();
});

test('a mirror that one credential filled shows nothing to another that is refused', async () => {
  const read = async (secret: { name: string }, key: string) => {
    if (key !== 'token') return transient('SecretMissing', key);
    return done(secret.name === 'git-token' ? 's3cret-t0ken/with+odd=characters' : 'nothing');
  };
  await over(
    'http',
    async (fixture) => {
      const repository = await fixture.seed('shared', { 'a.txt': 'one\n' });
      const { tip } = value(await fixture.git.fetch(repository, 'main'));
      value(await fixture.git.preview(repository, tip, setFile('a.txt', 'two\n')));
      const stranger = { url: repository.url, credential: { namespace: 'other', name: 'stranger' } };
      assert.equal(failure(await fixture.git.preview(stranger, tip, setFile('a.txt', 'two\n'))), 'transient GitUnauthorized');
      assert.equal(failure(await fixture.git.commit(stranger, tip, pushPlan('x', setFile('a.txt', 'two\n')))), 'transient GitUnauthorized');
      assert.equal(failure(await fixture.git.push(stranger, pushPlan('x', setFile('a.txt', 'one\n')), yes)), 'transient GitUnauthorized');
    },
    { secrets: { read } },
  )();
});

test(
  'a preview right after a restart reaches the repository first',
  over('http', async (fixture) => {
    const repository = await fixture.seed('restart', { 'a.txt': 'one\n' });
    const { tip } = value(await fixture.git.fetch(repository, 'main'));
    await fixture.git.close();
    const next = await fixture.again();
    assert.equal(value(await next.preview(repository, tip, setFile('a.txt', 'two\n')))[0]?.before, 'one\n');
    assert.equal(failure(await next.preview(repository, 'f'.repeat(40) as typeof tip, setFile('a.txt', 'x'))), 'transient GitBaseMissing');
  }),
);

test(
  'missing, empty and refused repositories have their own reasons',
  over('file', async (fixture) => {
    const missing = { url: `file://${fixture.folder}/served/none.git` };
    assert.equal(failure(await fixture.git.fetch(missing, 'main')), 'transient GitRepositoryMissing');
    value(await createBareRepository(`${fixture.folder}/served/empty.git`, {}));
    const empty = { url: `file://${fixture.folder}/served/empty.git` };
    assert.equal(failure(await fixture.git.fetch(empty, 'main')), 'terminal GitRepositoryEmpty');
    assert.equal(failure(await fixture.git.push(empty, pushPlan('x', setFile('a', 'b')), yes)), 'terminal GitRepositoryEmpty');
    assert.equal(failure(await fixture.git.fetch({ url: 'ext::sh -c true' }, 'main')), 'terminal GitURLRefused');
    assert.equal(failure(await fixture.git.fetch({ url: 'http://127.0.0.1:1/a.git' }, 'main')), 'transient GitUnreachable');
    const repository = await fixture.seed('deleted', { 'a.txt': 'one\n' }, ['main', 'other']);
    value(await fixture.git.fetch(repository, 'other'));
    await gitHere([`--git-dir=${fixture.pathOf(repository)}`, 'branch', '-D', 'other']);
    assert.equal(failure(await fixture.git.fetch(repository, 'other')), 'terminal GitBranchMissing');
    const [good, bad] = await Promise.all([fixture.git.fetch(repository, 'main'), fixture.git.fetch(repository, 'other')]);
    assert.deepEqual([good.outcome, failure(bad)], ['done', 'terminal GitBranchMissing']);
  }),
);

test(
  'a branch may give way to one below its name',
  over('file', async (fixture) => {
    const repository = await fixture.seed('folders', { 'a.txt': 'one\n' }, ['main', 'env']);
    value(await fixture.git.fetch(repository, 'env'));
    await gitHere([`--git-dir=${fixture.pathOf(repository)}`, 'branch', '-m', 'env', 'env/prod']);
    assert.equal((await fixture.git.fetch(repository, 'env/prod')).outcome, 'done');
  }),
);

test(
  'modes survive; links, submodules, folders and text that is not UTF-8 are refused by name',
  over('file', async (fixture) => {
    const repository = await fixture.seed('modes', { 'run.sh': 'echo one\n', 'plain/a.txt': 'a\n' });
    const path = fixture.pathOf(repository);
    const blob = (await gitHere([`--git-dir=${path}`, 'rev-parse', 'main:run.sh'])).trim();
    const commit = (await gitHere([`--git-dir=${path}`, 'rev-parse', 'main'])).trim();
    const stream = [
      'commit refs/heads/main\ncommitter a <a@b> 1700000100 +0000\ndata 1\nx',
      `from ${commit}`,
      `M 100755 ${blob} run.sh`,
      `M 120000 ${blob} link`,
      `M 160000 ${commit} module`,
      'M 100644 inline bad.txt\ndata 2',
    ].join('\n');
    await importInto(path, Buffer.concat([Buffer.from(`${stream}\n`), Buffer.from([0xff, 0xfe]), Buffer.from('\n')]));
    const { tip } = value(await fixture.git.fetch(repository, 'main'));
    const outcome = async (file: string): Promise<string> => {
      const result = await fixture.git.preview(repository, tip, setFile(file, 'two\n'));
      assert.ok(result.outcome === 'done' || result.reason.message.includes(file.split('/')[0] ?? ''));
      return failure(result);
    };
    assert.equal(await outcome('bad.txt'), 'terminal NotUTF8');
    for (const file of ['link', 'module', 'plain', 'link/x', 'run.sh/x']) assert.equal(await outcome(file), 'terminal NotAFile', file);
    const inFile = await fixture.git.preview(repository, tip, setFile('run.sh/x', 'two\n'));
    assert.match(inFile.outcome === 'done' ? '' : inFile.reason.message, /^run.sh\/x: run.sh is a file, not a folder; only plain files/);
    for (const file of ['../x', '/x', 'a//b', './a', '.git/config', 'x/.GIT/y', ''])
      assert.equal(await outcome(file), 'terminal PathRefused', file);
    value(await fixture.git.push(repository, pushPlan('mode', setFile('run.sh', 'echo two\n')), yes));
    assert.match(await gitHere([`--git-dir=${path}`, 'ls-tree', 'main', 'run.sh']), /^100755/);
  }),
);

test(
  'a server that neither filters nor gives single objects still works',
  over('file', async (fixture) => {
    const repository = await fixture.seed('unfiltered', { 'a.txt': 'one\n' });
    await gitHere([`--git-dir=${fixture.pathOf(repository)}`, 'config', 'uploadpack.allowFilter', 'false']);
    const { tip } = value(await fixture.git.fetch(repository, 'main'));
    assert.equal(value(await fixture.git.preview(repository, tip, setFile('a.txt', 'two\n'))).length, 1);
    assert.equal(value(await fixture.git.push(repository, pushPlan('x', setFile('a.txt', 'two\n')), yes)).result, 'landed');
  }),
);

test(
  'packing at a quiet time keeps everything readable',
  over(
    'http',
    async (fixture) => {
      const repository = await fixture.seed('packing', { 'a.txt': 'one\n', 'b.txt': 'one\n' });
      for (const text of ['two\n', 'three\n', 'four\n'])
        value(await fixture.git.push(repository, pushPlan(text, setFile('a.txt', text)), yes));
      const [mirror = ''] = readdirSync(join(fixture.folder, 'git', 'mirrors'));
      const objects = join(fixture.folder, 'git', 'mirrors', mirror, 'objects');
      const loose = (): number => everyFile(objects).filter((file) => /\/[0-9a-f]{2}\/[0-9a-f]{38}$/.test(file)).length;
      for (let tries = 0; tries < 200 && loose() > 0; tries += 1) await sleep(20);
      assert.equal(loose(), 0);
      assert.equal(readdirSync(join(objects, 'pack')).filter((name) => name.endsWith('.pack')).length, 1);
      const { tip } = value(await fixture.git.fetch(repository, 'main'));
      assert.equal(value(await fixture.git.preview(repository, tip, setFile('b.txt', 'x')))[0]?.before, 'one\n');
      assert.equal(value(await fixture.git.push(repository, pushPlan('five', setFile('b.txt', 'five\n')), yes)).result, 'landed');
      assert.equal((await fixture.log(repository, 'main')).length, 5);
    },
    { limits: { looseObjects: 0, quietMs: 20, idleMs: 50 } },
  ),
);

test(
  'an idle engine runs no process',
  over(
    'file',
    async (fixture) => {
      const repository = await fixture.seed('idle', { 'a.txt': 'one\n' });
      value(await fixture.git.push(repository, pushPlan('x', setFile('a.txt', 'two\n')), yes));
      const children = join(fixture.folder, 'git', 'children');
      for (let tries = 0; tries < 200 && readdirSync(children).length > 0; tries += 1) await sleep(10);
      assert.deepEqual(readdirSync(children), []);
      assert.equal(fixture.git.counters().processes, fixture.processes.length);
    },
    { limits: { idleMs: 20 } },
  ),
);

test(
  'many repositories share a bounded number of reading processes',
  over(
    'file',
    async (fixture) => {
      const names = Array.from({ length: 8 }, (_, index) => `r${index}`);
      const repositories = await Promise.all(names.map((name) => fixture.seed(name, { 'a.txt': 'one\n' })));
      for (let round = 0; round < 2; round += 1)
        for (const repository of repositories) {
          const { tip } = value(await fixture.git.fetch(repository, 'main'));
          assert.equal(value(await fixture.git.preview(repository, tip, setFile('a.txt', 'two\n')))[0]?.before, 'one\n');
        }
      const children = join(fixture.folder, 'git', 'children');
      for (let tries = 0; tries < 100 && readdirSync(children).length > 2; tries += 1) await sleep(10);
      assert.equal(readdirSync(children).length, 2);
    },
    { limits: { readers: 2 } },
  ),
);

test(
  'guards are asked when everything is ready to be sent, and again when somebody was left out',
  over('file', async (fixture) => {
    const repository = await fixture.seed('ready', { 'a.txt': 'one\n', 'b.txt': 'one\n', 'c.txt': 'one\n' });
    value(await fixture.git.fetch(repository, 'main'));
    const mirror = join(fixture.folder, 'git', 'mirrors', readdirSync(join(fixture.folder, 'git', 'mirrors'))[0] ?? '');
    const objects = (): number => readdirSync(join(mirror, 'objects')).filter((name) => /^[0-9a-f]{2}$/.test(name)).length;
    const before = objects();
    const asked = new Map<string, number>();
    const push = (run: string, agree: (times: number) => boolean) =>
      fixture.git.push(repository, pushPlan(run, setFile(`${run}.txt`, 'two\n')), async () => {
        assert.ok(objects() > before, 'the commits are there');
        assert.equal(fixture.processes.filter(({ command }) => command === 'push').length, 0);
        asked.set(run, (asked.get(run) ?? 0) + 1);
        return agree(asked.get(run) ?? 0);
      });
    const results = await Promise.all([push('a', () => true), push('b', () => false), push('c', (times) => times === 1)]);
    assert.deepEqual(
      results.map((result) => value(result).result),
      ['landed', 'withdrawn', 'withdrawn'],
    );
    assert.deepEqual(
      [...asked],
      [
        ['a', 3],
        ['b', 1],
        ['c', 2],
      ],
    );
    assert.equal((await fixture.log(repository, 'main')).length, 2);
    assert.deepEqual([...(await fixture.files(repository, 'main')).values()], ['two\n', 'one\n', 'one\n']);
  }),
);

test(
  'a guard or an edit that throws fails its own run and no other',
  over('file', async (fixture) => {
    const repository = await fixture.seed('throws', { 'a.txt': 'one\n' });
    const results = await Promise.allSettled([
      fixture.git.push(repository, pushPlan('guard', setFile('b.txt', 'x')), async () => {
        throw new Error('a bug');
      }),
      fixture.git.push(repository, pushPlan('good', setFile('a.txt', 'two\n')), yes),
      fixture.git.push(
        repository,
        pushPlan('edit', {
          reads: ['a.txt'],
          apply: () => {
            throw new Error('another bug');
          },
        }),
        yes,
      ),
    ]);
    assert.deepEqual(
      results.map((result) => result.status),
      ['rejected', 'fulfilled', 'rejected'],
    );
    assert.equal((await fixture.files(repository, 'main')).get('a.txt'), 'two\n');
  }),
);

async function importInto(path: string, stream: Buffer): Promise<void> {
  const { spawnSync } = await import('node:child_process');
  const ended = spawnSync('git', [`--git-dir=${path}`, 'fast-import', '--quiet'], { input: stream, encoding: 'utf8' });
  assert.equal(ended.status, 0, ended.stderr);
}
