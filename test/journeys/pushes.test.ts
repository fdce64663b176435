/** What a server can do to a push: lose races, refuse a path, refuse access. */
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Secret } from '../../src/api/kinds/native.ts';
import type { Store } from '../../src/ports/store.ts';
import { type Controller, eventually, folderFor, startController } from './command-line.ts';
import { startGitFront } from './git-front.ts';
import {
  apply,
  BUNDLE_TOKEN,
  connect,
  deploySteady,
  fileAt,
  git,
  landed,
  makeRepository,
  overlay,
  pipeline,
  post,
  reaches,
  recordOf,
  settledIn,
  stepOf,
  stepWhen,
} from './scene.ts';

/** The beginning of every hook: it stands outside the quarantine, so that it may write like somebody else. */
const HOOK_HEAD = `#!/bin/sh
unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
cd "$GIT_DIR" || exit 1
unset GIT_DIR
export GIT_DIR="$PWD" GIT_AUTHOR_NAME=o GIT_AUTHOR_EMAIL=o@example.com GIT_COMMITTER_NAME=o GIT_COMMITTER_EMAIL=o@example.com
`;

const setHook = (repository: string, name: string, script: string): void => {
  const path = join(repository, 'hooks', name);
  writeFileSync(path, `${HOOK_HEAD}${script}`);
  chmodSync(path, 0o755);
};

/** Before each push is taken, as often as the file \`races\` says, somebody else's commit to the same file gets in first. */
const loseRaces = (repository: string, file: string, times: number): void => {
  writeFileSync(join(repository, 'races'), `${times}\n`);
  const script = `
left=$(cat races)
[ "$left" -gt 0 ] || exit 0
echo $((left - 1)) > races
tip=$(git rev-parse refs/heads/main)
blob=$( (git cat-file blob "$tip:${file}"; echo "# outside $left") | git hash-object -w --stdin)
export GIT_INDEX_FILE="$PWD/outside-index"
rm -f "$GIT_INDEX_FILE"
git read-tree "$tip" && git update-index --cacheinfo "100644,$blob,${file}"
commit=$(echo "outside $left" | git commit-tree "$(git write-tree)" -p "$tip")
git update-ref refs/heads/main "$commit" "$tip"
`;
  setHook(repository, 'pre-receive', script);
};

const setUp = async (context: TestContext) => {
  const folder = await folderFor(context);
  const controller = await startController(context, join(folder, 'data'), '--bundle-api-token', BUNDLE_TOKEN);
  const store = await connect(context, controller.kubeconfig);
  await deploySteady(store);
  return { folder, controller, store };
};

const oneEnvironment = (path: string) => [{ name: 'prod', path, health: settledIn('0s') }];

const races = async (scene: Awaited<ReturnType<typeof setUp>>, name: string, times: number) => {
  const { folder, controller, store } = scene;
  const file = 'prod/kustomization.yaml';
  const repository = await makeRepository(join(folder, `${name}.git`), { [file]: overlay(name) });
  loseRaces(repository, file, times);
  await apply(store, pipeline(name, `file://${repository}`, oneEnvironment('prod')));
  const bundle = await post(controller.http, name, '1.0');
  await reaches(store, bundle, 'Verified');
  const outside = Array.from({ length: times }, (_, index) => `# outside ${times - index}\n`).join('');
  assert.equal(fileAt(repository, file), overlay(name).replace('"0"', '"1.0"') + outside, "both the others' lines and ours are there");
  assert.equal(landed(repository).length, 1, 'one commit only');
  assert.equal(git(repository, 'rev-list', '--count', '--min-parents=2', 'main').trim(), '0', 'nothing is merged');
  return recordOf(await stepOf(store, bundle, 'prod'), 'git-push');
};

/** A token that the server wants and the Secret holds, or not yet. */
const secretOf = (name: string, token: string): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'default' },
  stringData: { token },
});

const waiting = async (store: Store, controller: Controller, bundle: string, application: string): Promise<void> => {
  const at = application === 'read-only' ? 'git-push' : 'git-clone';
  await stepWhen(
    store,
    [bundle, 'prod'],
    (step) => (recordOf(step, at)?.attempts ?? 0) >= 2 && step.status?.state === 'Promoting',
    'waits after two attempts',
  );
  const { out } = await controller.run('explain', application, '--env', 'prod');
  assert.match(out, /the Git server refused access/, out);
};

test('a push that loses three races lands all the same, and a fourth loss is tried again', async (context) => {
  const scene = await setUp(context);
  const [three, five] = await Promise.all([races(scene, 'three', 3), races(scene, 'five', 5)]);
  assert.equal(three?.attempts, 1, 'three lost races are one attempt');
  // A first loss on a tip that was not asked for anew is a look that was saved in vain, and does not count.
  assert.match(three?.message ?? '', /after [23] lost races/);
  assert.equal(five?.attempts, 2, 'the fourth lost race ends the attempt');
});

test('a hook that refuses one path fails that environment alone, in its own words', async (context) => {
  const { folder, controller, store } = await setUp(context);
  const names = ['alpha', 'beta', 'gamma', 'delta'];
  const files = names.flatMap((name) => ['test', 'prod'].map((place) => [`${name}/${place}/kustomization.yaml`, overlay(name)] as const));
  const repository = await makeRepository(join(folder, 'shared.git'), Object.fromEntries(files));
  // The first push is held until all four wait, so that the next one is a group; each push is written down with its number of commits.
  setHook(
    repository,
    'update',
    `
count=$(git rev-list --count "$2..$3")
if git diff --name-only "$2" "$3" | grep -q '^beta/prod/'; then
  echo "refused $count" >> pushes
  echo "beta/prod is frozen until Monday" >&2
  exit 1
fi
echo "taken $count" >> pushes
[ -e held ] || { touch held; sleep 2; }
exit 0
`,
  );
  for (const name of names) {
    const environments = ['test', 'prod'].map((place) => ({ name: place, path: `${name}/${place}`, health: settledIn('0s') }));
    await apply(store, pipeline(name, `file://${repository}`, environments));
  }
  const bundles = await Promise.all(names.map((name) => post(controller.http, name, '1.0')));
  const failed = await reaches(store, bundles[1] ?? '', 'Failed');
  await Promise.all([0, 2, 3].map((index) => reaches(store, bundles[index] ?? '', 'Verified')));
  const step = await stepOf(store, 'beta-1.0', 'prod');
  assert.equal(step?.status?.state, 'Failed');
  assert.match(step?.status?.message ?? '', /beta\/prod is frozen until Monday/);
  assert.equal(recordOf(step, 'git-push')?.attempts, 1, 'a refusal is not tried again as if it were a race');
  assert.equal(failed.status?.environments?.find((record) => record.name === 'test')?.state, 'Verified');
  assert.equal(fileAt(repository, 'beta/prod/kustomization.yaml'), overlay('beta'));
  assert.equal(landed(repository).length, 7);
  const pushes = readFileSync(join(repository, 'pushes'), 'utf8').trim().split('\n');
  assert.ok(
    pushes.some((line) => /^taken [2-9]/.test(line)),
    `promotions that wait for one repository share a push: ${pushes.join(', ')}`,
  );
});

test('a repository that refuses access leaves the step waiting, and it goes on within 30 s of access being granted', async (context) => {
  const { folder, controller, store } = await setUp(context);
  const names = ['granted', 'rotated', 'forbidden', 'read-only'];
  for (const name of names) await makeRepository(join(folder, `${name}.git`), { 'prod/kustomization.yaml': overlay(name) });
  let wanted = 'somebody-elses-token';
  let forbidden = true;
  const open = await startGitFront(context, folder, () => wanted);
  const rotating = await startGitFront(context, folder, () => 'the-rotated-token');
  const closed = await startGitFront(context, folder);
  closed.rule = () => (forbidden ? { status: 403 } : {});
  const readable = await startGitFront(context, folder);
  readable.rule = ({ path }) => (forbidden && path.includes('git-receive-pack') ? { status: 403 } : {});
  const servers = [open.url, rotating.url, closed.url, readable.url];
  for (const [index, name] of names.entries()) {
    await apply(store, secretOf(name, 'the-first-token'));
    const url = `${servers[index]}/${name}.git`;
    await apply(store, pipeline(name, { url, provider: 'git', secretRef: { name } }, oneEnvironment('prod')));
  }
  const bundles = await Promise.all(names.map((name) => post(controller.http, name, '1.0')));
  await Promise.all(names.map((name, index) => waiting(store, controller, bundles[index] ?? '', name)));
  wanted = 'the-first-token';
  forbidden = false;
  await apply(store, secretOf('rotated', 'the-rotated-token'));
  const since = performance.now();
  await Promise.all(bundles.map((bundle) => reaches(store, bundle, 'Verified')));
  assert.ok(performance.now() - since <= 30_000);
  for (const name of names) {
    const repository = join(folder, `${name}.git`);
    assert.equal(landed(repository).length, 1);
    assert.match(fileAt(repository, 'prod/kustomization.yaml'), /newTag: "1.0"/);
  }
  const step = await stepOf(store, bundles[0] ?? '', 'prod');
  assert.deepEqual(
    step?.status?.transitions?.map((transition) => transition.to),
    ['Promoting', 'HealthChecking', 'Verified'],
    'it never left Promoting for a refusal',
  );
  assert.equal(recordOf(step, 'git-clone')?.state, 'Succeeded');
});

test('a Secret that is missing is waited for too', async (context) => {
  const { folder, controller, store } = await setUp(context);
  await makeRepository(join(folder, 'late.git'), { 'prod/kustomization.yaml': overlay('late') });
  const front = await startGitFront(context, folder, () => 'late-token');
  const url = `${front.url}/late.git`;
  await apply(store, pipeline('late', { url, provider: 'git', secretRef: { name: 'late' } }, oneEnvironment('prod')));
  const bundle = await post(controller.http, 'late', '1.0');
  await eventually(
    async () => ((await controller.run('explain', 'late', '--env', 'prod')).out.includes('Secret') ? true : undefined),
    'explain',
  );
  assert.equal(front.asked.length, 0, 'nobody is asked without the credential');
  await apply(store, secretOf('late', 'late-token'));
  await reaches(store, bundle, 'Verified');
});

test('a branch that is rewritten under a push, and a server that goes away, are got over with one commit each', async (context) => {
  const { folder, controller, store } = await setUp(context);
  const file = 'prod/kustomization.yaml';
  const rewritten = await makeRepository(join(folder, 'rewritten.git'), { [file]: overlay('rewritten') });
  const absent = await makeRepository(join(folder, 'absent.git'), { [file]: overlay('absent') });
  const other = await makeRepository(join(folder, 'other.git'), { [file]: `# another history\n${overlay('rewritten')}` });
  const front = await startGitFront(context, folder);
  let pushes = 0;
  front.rule = ({ push }) => {
    if (push) pushes += 1;
    if (push && pushes === 1) git(rewritten, 'fetch', '--quiet', '--force', other, '+refs/heads/main:refs/heads/main');
    return {};
  };
  let down = true;
  const unsteady = await startGitFront(context, folder);
  unsteady.rule = ({ push }) => (down || (push && unsteady.asked.filter((one) => one.push).length === 1) ? { hangUp: true } : {});
  await apply(store, pipeline('rewritten', `${front.url}/rewritten.git`, oneEnvironment('prod')));
  await apply(store, pipeline('absent', `${unsteady.url}/absent.git`, oneEnvironment('prod')));
  const bundles = await Promise.all(['rewritten', 'absent'].map((name) => post(controller.http, name, '1.0')));
  await stepWhen(store, ['absent-1.0', 'prod'], (step) => step.status?.reason === 'GitUnreachable', 'waits for the server');
  down = false;
  await Promise.all(bundles.map((bundle) => reaches(store, bundle, 'Verified')));
  assert.equal(fileAt(rewritten, file), `# another history\n${overlay('rewritten').replace('"0"', '"1.0"')}`);
  assert.equal(fileAt(absent, file), overlay('absent').replace('"0"', '"1.0"'));
  assert.deepEqual([landed(rewritten).length, landed(absent).length], [1, 1]);
});
