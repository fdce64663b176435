// Prepares a checkout on any Node >= 20: installs the locked dependencies when they are missing or older than the lock file.
// Everything after this runs on the pinned Node that is one of those dependencies.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const stamp = join(root, 'node_modules', '.promoter-setup');
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(`${process.platform}-${process.arch}`)
  .digest('hex');

const installed = existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
if (!installed) {
  const git = spawnSync('git', ['--version'], { encoding: 'utf8' });
  if (git.error) {
    console.error('promoter needs git 2.38 or newer on the PATH; install it and run this again.');
    process.exit(1);
  }
  console.error('Installing the locked dependencies (once) ...');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const run = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (run.status !== 0) {
    console.error('Installing the dependencies failed; the messages above say why. Is the npm registry reachable?');
    process.exit(run.status ?? 1);
  }
  writeFileSync(stamp, wanted);
}
