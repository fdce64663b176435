import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyFailure, lockInTheWay, missingBranch, serverWords } from './transport-failure.ts';

const failed = (stderr: string) => ({ end: 'exited' as const, code: 128, stdout: '', stderr });
const code = (stderr: string): string => {
  const { outcome, reason } = classifyFailure(failed(stderr), 'https://host/a.git');
  return `${outcome} ${reason.code}`;
};

test('every known complaint has its reason', () => {
  const known: readonly (readonly [string, string])[] = [
    ["fatal: could not read Username for 'https://host': terminal prompts disabled", 'GitUnauthorized'],
    ["fatal: unable to access 'https://host/a.git/': The requested URL returned error: 403", 'GitUnauthorized'],
    ["fatal: Authentication failed for 'https://host/a.git/'", 'GitUnauthorized'],
    ['git@host: Permission denied (publickey).\nfatal: Could not read from remote repository.', 'GitUnauthorized'],
    ['Host key verification failed.\nfatal: Could not read from remote repository.', 'GitUnauthorized'],
    ["fatal: repository 'https://host/a.git/' not found", 'GitRepositoryMissing'],
    ["fatal: '/srv/a.git' does not appear to be a git repository", 'GitRepositoryMissing'],
    ["fatal: unable to access 'https://host/a.git/': Could not resolve host: host", 'GitUnreachable'],
    ["fatal: unable to access 'http://x/': Failed to connect to x port 1 after 0 ms: Couldn't connect to server", 'GitUnreachable'],
    ["fatal: unable to access 'https://x/': SSL certificate problem: self-signed certificate", 'GitUnreachable'],
    ['ssh: Could not resolve hostname nowhere: Name or service not known', 'GitUnreachable'],
    ['ssh: connect to host x port 22: Connection timed out', 'GitTimeout'],
    ['error: RPC failed; curl 28 Operation too slow. Less than 1000 bytes/sec', 'GitTimeout'],
    ["fatal: unable to access 'https://host/': The requested URL returned error: 502", 'GitServerError'],
    ['error: RPC failed; HTTP 500 curl 22 The requested URL returned error: 500', 'GitServerError'],
    ['fatal: the remote end hung up unexpectedly', 'GitUnreachable'],
    ["fatal: unable to access 'http://host/a.git/': Empty reply from server", 'GitUnreachable'],
    ["fatal: unable to access 'http://host/a.git/': transfer closed with 10 bytes remaining to read", 'GitUnreachable'],
    ["fatal: unable to access 'http://host/a.git/': Send failure: Broken pipe", 'GitUnreachable'],
    ["fatal: unable to access 'https://host/a.git/': HTTP/2 stream 1 was not closed cleanly: INTERNAL_ERROR (err 2)", 'GitUnreachable'],
    ['fatal: write error: No space left on device', 'GitDiskFull'],
    ['error: object file ./objects/aa/bb is empty\nfatal: loose object aabb is corrupt', 'GitMirrorCorrupt'],
    ['error: file ./objects/pack/pack-1.pack is far too short to be a packfile', 'GitMirrorCorrupt'],
    ['fatal: bad object refs/promoter/main', 'GitMirrorCorrupt'],
    ['something nobody has seen', 'GitServerError'],
  ];
  for (const [stderr, expected] of known) assert.equal(code(stderr), `transient ${expected}`, stderr);
});

test('a credential that is not taken is told apart from one that is missing, and names no prompt', () => {
  const stderr = "fatal: could not read Username for 'https://host': terminal prompts disabled";
  const message = (presented?: string) => classifyFailure(failed(stderr), 'https://host/a.git', presented).reason.message;
  assert.equal(
    message('the token of the Secret team/git'),
    'https://host/a.git: the Git server refused access: it does not take the token of the Secret team/git',
  );
  assert.equal(message(), 'https://host/a.git: the Git server refused access: it wants a credential, and none is given');
  assert.match(
    classifyFailure(failed('fatal: x: The requested URL returned error: 429'), 'a').reason.message,
    /^a: the Git server wants fewer requests \(/,
  );
});

test('a repository with other ids is refused for good', () => {
  assert.equal(code('fatal: mismatched algorithms: client sha1; server sha256'), 'terminal GitFormatUnsupported');
});

test('what the server says of its own disk and objects is not taken for ours', () => {
  assert.equal(code('remote: fatal: No space left on device\nfatal: the remote end hung up unexpectedly'), 'transient GitUnreachable');
  assert.equal(code('remote: fatal: bad object x\nfatal: the remote end hung up unexpectedly'), 'transient GitUnreachable');
});

test('words inside addresses and paths decide nothing', () => {
  assert.equal(
    code("fatal: unable to access 'https://certificate.example/corrupt object': Could not resolve host: x"),
    'transient GitUnreachable',
  );
  assert.equal(code("fatal: strange thing about 'https://host/Authentication failed'"), 'transient GitServerError');
});

test('a call that took too long or was killed is not judged by its last words', () => {
  assert.equal(classifyFailure({ ...failed('fatal: bad object x'), end: 'timeout' }, 'a').reason.code, 'GitTimeout');
  assert.equal(classifyFailure({ ...failed('fatal: bad object x'), end: 'killed' }, 'a').reason.code, 'GitUnavailable');
  assert.equal(classifyFailure({ ...failed('ENOSPC: no space left on device'), end: 'not-started' }, 'a').reason.code, 'GitDiskFull');
});

test('branches and locks are read out of complaints', () => {
  assert.equal(missingBranch(failed("fatal: couldn't find remote ref refs/heads/env/prod\n")), 'env/prod');
  assert.equal(
    lockInTheWay(failed("error: cannot lock ref 'refs/promoter/main': Unable to create '/m/refs/promoter/main.lock': File exists.")),
    '/m/refs/promoter/main.lock',
  );
});

test('user information is taken out of the server’s words', () => {
  assert.equal(serverWords("fatal: unable to access 'https://me:pw@host/a': no"), "fatal: unable to access 'https://host/a': no");
});
