/** Which git is installed: older ones lack the long-lived reading process that the engine needs. */
import { spawnSync } from 'node:child_process';
import type { Outcome } from '../../api/outcome.ts';
import { done, terminal } from '../../api/outcome.ts';

const oldest = [2, 38] as const;

/** Terminal `GitUnusable` when git is missing or too old. */
export function checkGitVersion(environment: Readonly<Record<string, string>>): Outcome<void> {
  const shown = spawnSync('git', ['version'], { env: environment, encoding: 'utf8', timeout: 30_000 });
  if (shown.error !== undefined || shown.status !== 0)
    return terminal('GitUnusable', 'git cannot be run; install git 2.38 or newer and put it on PATH');
  const [, major = '', minor = ''] = /^git version (\d+)\.(\d+)/.exec(shown.stdout) ?? [];
  const isEnough = Number(major) > oldest[0] || (Number(major) === oldest[0] && Number(minor) >= oldest[1]);
  return isEnough
    ? done(undefined)
    : terminal('GitUnusable', `${shown.stdout.trim()} is too old; install git ${oldest.join('.')} or newer`);
}
