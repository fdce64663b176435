import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { failure, pushPlan, setFile, value } from '../../../test/contract/git.ts';
import type { RealGit } from '../../../test/contract/real-git.ts';
import { gitHere, realGit } from '../../../test/contract/real-git.ts';
import { done, transient } from '../../api/outcome.ts';
import type { Git } from './create-git.ts';

const key = '-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0LWtleS1tYXRlcmlhbA==\n-----END OPENSSH PRIVATE KEY-----';

/** Plays the ssh program: notes what it was given, checks the key, and runs the remote command here. */
const stub = `#!/bin/sh
printf '%s\\n' "$@" >> "$0.args"
for word in "$@"; do
  case "$word" in
    IdentityFile=*) file=$(printf '%s' "$word" | cut -d= -f2 | tr -d '"') ;;
  esac
  last=$word
done
[ "$file" = none ] && { echo 'git@host.example: Permission denied (publickey).' >&2; exit 255; }
stat -c '%a' "$file" >> "$0.mode"
grep -q c2VjcmV0LWtleS1tYXRlcmlhbA== "$file" || exit 255
unset $(git rev-parse --local-env-vars)
exec sh -c "$last"
`;

/** An engine that reaches a repository through the stub. */
async function overSsh(script: string, body: (reached: Reached) => Promise<void>): Promise<void> {
  const secrets: Record<string, string> = { 'ssh-privatekey': key };
  const fixture = await realGit('file', {
    secrets: { read: async (_, name) => (secrets[name] === undefined ? transient('SecretMissing', name) : done(secrets[name])) },
  });
  try {
    const bin = join(fixture.folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'ssh'), script);
    chmodSync(join(bin, 'ssh'), 0o755);
    await fixture.git.close();
    const git = await fixture.again({ environment: { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` } });
    await body({ fixture, git, bin, secrets });
  } finally {
    await fixture.close();
  }
}

interface Reached {
  readonly fixture: RealGit;
  readonly git: Git;
  readonly bin: string;
  readonly secrets: Record<string, string>;
}

const credential = { namespace: 'default', name: 'key' };
const yes = async (): Promise<boolean> => true;

test('over ssh the key is a private file for the time of the call, and nothing of the machine’s user is used', () =>
  overSsh(stub, async ({ fixture, git, bin, secrets }) => {
    const repository = await fixture.seed('ssh', { 'a.txt': 'one\n' });
    const url = `ssh://git@host.example${fixture.pathOf(repository)}`;
    assert.equal(value(await git.push({ url, credential }, pushPlan('x', setFile('a.txt', 'two\n')), yes)).result, 'landed');
    const temporary = join(fixture.folder, 'git', 'tmp');
    for (let tries = 0; tries < 100 && readdirSync(temporary).length > 0; tries += 1) await sleep(5);
    assert.deepEqual(readdirSync(temporary), []);
    const args = readFileSync(join(bin, 'ssh.args'), 'utf8');
    for (const wanted of ['BatchMode=yes', 'IdentitiesOnly=yes', 'IdentityAgent=none', 'StrictHostKeyChecking=accept-new', '-F\n/dev/null'])
      assert.ok(args.includes(wanted), wanted);
    assert.ok(!args.includes('c2VjcmV0'));
    assert.deepEqual(new Set(readFileSync(join(bin, 'ssh.mode'), 'utf8').trim().split('\n')), new Set(['600']));
    secrets['known_hosts'] = 'host.example ssh-ed25519 AAAA';
    value(await git.fetch({ url: `git@host.example:${fixture.pathOf(repository)}`, credential }, 'main'));
    assert.ok(readFileSync(join(bin, 'ssh.args'), 'utf8').includes('StrictHostKeyChecking=yes'));
    assert.equal(failure(await git.fetch({ url }, 'main')), 'transient GitUnauthorized');
  }));

test('a server of the old protocol that hands out no single objects is read as a whole, once', () =>
  overSsh(stub.replace('unset $(', 'unset GIT_PROTOCOL $('), async ({ fixture, git }) => {
    const repository = await fixture.seed('old', { 'a.txt': 'one\n', 'b.txt': 'b\n' });
    for (const name of ['allowAnySHA1InWant', 'allowReachableSHA1InWant', 'allowTipSHA1InWant'])
      await gitHere([`--git-dir=${fixture.pathOf(repository)}`, 'config', `uploadpack.${name}`, 'false']);
    const reached = { url: `ssh://git@host.example${fixture.pathOf(repository)}`, credential };
    const { tip } = value(await git.fetch(reached, 'main'));
    assert.equal(value(await git.preview(reached, tip, setFile('a.txt', 'two\n')))[0]?.before, 'one\n');
    assert.equal(value(await git.push(reached, pushPlan('x', setFile('a.txt', 'two\n')), yes)).result, 'landed');
    await fixture.write(repository, 'main', { 'b.txt': 'c\n' });
    const next = value(await git.fetch(reached, 'main')).tip;
    const before = fixture.processes.length;
    assert.equal(value(await git.preview(reached, next, setFile('b.txt', 'd\n')))[0]?.before, 'c\n');
    assert.equal(fixture.processes.length, before);
    assert.equal(fixture.logged.filter((line) => line.includes('the whole repository is fetched')).length, 1);
  }));
