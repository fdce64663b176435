// Prepares a checkout on any Node >= 20: installs the locked dependencies when they are missing or older than the lock file.
// Everything after this runs on the pinned Node that is one of those dependencies.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const stamp = join(root, 'node_modules', '.promoter-setup');
const digest = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');
const wanted = digest(readFileSync(join(root, 'package-lock.json')), `${process.platform}-${process.arch}`);
const installed = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;

const install = () => {
  const git = spawnSync('git', ['--version'], { encoding: 'utf8' });
  if (git.error) {
    console.error('promoter needs git 2.38 or newer on the PATH; install it and run this again.');
    return 1;
  }
  console.error('Installing the locked dependencies (once) ...');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const run = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (run.status !== 0) {
    console.error('Installing the dependencies failed; the messages above say why. Is the npm registry reachable?');
    return run.status ?? 1;
  }
  writeFileSync(stamp, wanted);
  return 0;
};

// Two commands that are started at once must not both empty node_modules: the second one waits for the first.
const lock = join(tmpdir(), `promoter-setup-${digest(root).slice(0, 16)}`);
const isAlive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
};
const take = () => {
  try {
    mkdirSync(lock);
    writeFileSync(join(lock, 'pid'), String(process.pid));
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
};
const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);

let tries = 0;
while (!installed()) {
  if (take()) {
    try {
      if (!installed()) process.exitCode = install();
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
    break;
  }
  const owner = existsSync(join(lock, 'pid')) ? Number(readFileSync(join(lock, 'pid'), 'utf8')) : 0;
  // A lock without a process is left over; without a pid it gets two seconds to be written.
  if (owner > 0 ? !isAlive(owner) : tries > 10) rmSync(lock, { recursive: true, force: true });
  tries += 1;
  pause();
}
