import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { done, type Outcome, terminal } from '../api/outcome.ts';

/** Where to look. */
export interface KubeconfigSearch {
  /** The flag. */
  readonly given?: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
}

/**
 * Path of the kubeconfig to use: the flag, $PROMOTER_KUBECONFIG, ./.promoter/kubeconfig, $KUBECONFIG, ~/.kube/config. What was named on purpose is
 * taken even when it is not there, so that the error names it.
 */
export const findKubeconfig = ({ given, environment, folder }: KubeconfigSearch): Outcome<string> => {
  const named = given ?? (environment['PROMOTER_KUBECONFIG'] || undefined);
  if (named !== undefined) return done(resolve(folder, named));
  const listed = (environment['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  const home = environment['HOME'] ?? homedir();
  const candidates = [join('.promoter', 'kubeconfig'), ...listed, join(home, '.kube', 'config')].map((path) => resolve(folder, path));
  const found = candidates.find((path) => existsSync(path));
  if (found !== undefined) return done(found);
  return terminal(
    'NoServer',
    'No server is known here. Start one with `promoter controller` in this folder, or name one with --kubeconfig or $PROMOTER_KUBECONFIG.',
  );
};
