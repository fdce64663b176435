/** Reads the machine-readable report of `git push --porcelain`: the one place where a lost race and a refusal are told apart. */
import type { GitExit } from './process.ts';
import { bounded, clean, serverWords } from './transport-failure.ts';

/** What became of one branch in a push. */
export type RefResult =
  | { readonly result: 'landed' }
  /** Somebody else moved the branch, as far as one can tell. */
  | { readonly result: 'race'; readonly words: string }
  /** The server said no to these commits, or to the whole branch. */
  | { readonly result: 'refused'; readonly words: string; readonly wholeBranch: boolean }
  /** The server could not do it for reasons of its own. */
  | { readonly result: 'server'; readonly words: string };

const lostRace =
  /stale info|fetch first|non-fast-forward|needs update|failed to (update|lock) ref|cannot lock ref|incorrect old value|already exists|reference does not exist|remote ref updated since checkout/i;
const serverTrouble =
  /unpacker error|unpack failed|n\/a|remote failed to report status|missing necessary objects|internal server error|failed to (write|read)|index-pack|Internal API/i;
const wholeBranch =
  /protected branch|deny updating|refusing to update checked out branch|branch is currently checked out|read-?only|archived|prohibited|hidden ref/i;

/** Results by branch; a branch that the report does not mention is absent. */
export function readPushReport(exit: GitExit): ReadonlyMap<string, RefResult> {
  const results = new Map<string, RefResult>();
  for (const line of exit.stdout.split('\n')) {
    const [, flag, branch, summary] = /^([ +\-*=!])\t[^\t]*:refs\/heads\/([^\t]+)\t(.*)$/.exec(line) ?? [];
    if (flag === undefined || branch === undefined || summary === undefined) continue;
    const result = flag === '!' ? rejected(summary, exit.stderr) : ({ result: 'landed' } as const);
    if (result !== undefined) results.set(branch, result);
  }
  return results;
}

/** Undefined for a status that does not say whether the server took the push. */
function rejected(summary: string, stderr: string): RefResult | undefined {
  const reason = bounded(clean(summary));
  const own = serverWords(stderr.replaceAll(/^(error|fatal|hint|To ).*$/gm, ''));
  const unpacking = clean(/^error: remote unpack failed: (.*)$/m.exec(stderr)?.[1] ?? '');
  const remote = [own, unpacking].filter((text) => text !== '').join('; ');
  const words = remote === '' ? reason : bounded(`${reason}: ${remote}`);
  if (/^\[remote failure\]|remote failed to report status/.test(summary)) return undefined;
  if (summary.startsWith('[remote rejected]') && serverTrouble.test(summary)) return { result: 'server', words };
  if (lostRace.test(summary)) return { result: 'race', words };
  return { result: 'refused', words, wholeBranch: wholeBranch.test(summary) };
}
