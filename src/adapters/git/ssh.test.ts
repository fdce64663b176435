import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { failure, pushPlan, setFile, value } from '../../../test/contract/git.ts';
import { realGit } from '../../../test/contract/real-git.ts';
import { done, transient } from '../../api/outcome.ts';

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

test('over ssh the key is a private file for the time of the call, and nothing of the machine’s user is used', async () => {
  const secrets: Record<string, string> = { 'ssh-privatekey': key };
  const fixture = await realGit('file', {
    secrets: { read: async (_, name) => (secrets[name] === undefined ? transient('SecretMissing', name) : done(secrets[name])) },
  });
  try {
    const bin = join(fixture.folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'ssh'), stub);
    chmodSync(join(bin, 'ssh'), 0o755);
    await fixture.git.close();
    const git = await fixture.again({ environment: { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` } });
    const repository = await fixture.seed('ssh', { 'a.txt': 'one\n' });
    const credential = { namespace: 'default', name: 'key' };
    const url = `ssh://git@host.example${fixture.pathOf(repository)}`;
    assert.equal(value(await git.push({ url, credential }, pushPlan('x', setFile('a.txt', 'two\n')), async () => true)).result, 'landed');
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
  } finally {
    await fixture.close();
  }
});
