/** What git's complaints about the remote or the mirror mean: the one place where they are read. Run with LC_ALL=C. */
import type { Terminal, Transient } from '../../api/outcome.ts';
import { terminal, transient } from '../../api/outcome.ts';
import type { GitExit } from './process.ts';
import { mirrorGone } from './process.ts';

/** A failure that is not about one branch. */
export type Failure = Transient | Terminal;

/** Codes after which the remote has certainly not taken anything. */
export const refusedBeforeWriting: ReadonlySet<string> = new Set(['GitUnauthorized', 'GitRepositoryMissing', 'GitMirrorCorrupt']);

type Rules = readonly (readonly [RegExp, string, string])[];

/** About this machine; what the server says of itself is not looked at. */
const localRules: Rules = [
  [/No space left on device|Disk quota exceeded|ENOSPC|EDQUOT/i, 'GitDiskFull', 'the disk is full'],
  [
    /is corrupt|corrupt (loose )?object|bad object|inflate: data|unpack_sha1|garbage at end of loose|index file .*is too small|far too short to be a packfile|packfile .*(cannot be accessed|index unavailable|does not match)|unable to (read|find) (tree|[0-9a-f]{40})|unresolved deltas|Could not read [0-9a-f]{40}|not a git repository|bad config|invalid object|broken (link|ref)|reference broken|object file .*is empty|bad tree object|Failed to traverse|did not send all necessary objects/i,
    'GitMirrorCorrupt',
    'the local mirror is damaged',
  ],
];

const remoteRules: Rules = [
  [
    /Authentication failed|returned error: 40[13]\b|Permission denied \(|HTTP 40[13]\b|Host key verification failed|access denied/i,
    'GitUnauthorized',
    'the Git server refused access',
  ],
  [
    /repository '.*' not found|returned error: 404\b|does not appear to be a git repository|Repository not found|repository .*does not exist/i,
    'GitRepositoryMissing',
    'there is no such repository, or the credential may not see it',
  ],
  [/Operation too slow|Operation timed out|Connection timed out|timed out/i, 'GitTimeout', 'the Git server did not answer in time'],
  [
    /Could not resolve host|Failed to connect|Couldn't connect|Connection refused|No route to host|Network is unreachable|Connection reset|unable to connect|\bSSL\b|\bTLS\b|certificate/i,
    'GitUnreachable',
    'the Git server cannot be reached',
  ],
  [/returned error: 429\b|HTTP 429\b/i, 'GitServerError', 'the Git server wants fewer requests'],
  [/returned error: 5\d\d\b|HTTP 5\d\d\b/i, 'GitServerError', 'the Git server has a problem of its own'],
  [
    /hung up|early EOF|RPC failed|unexpected disconnect|Connection closed|Empty reply|transfer closed|Broken pipe|not closed cleanly|returned error: \d+/i,
    'GitUnreachable',
    'the connection to the Git server broke',
  ],
];

/** Git asks a person when a server wants a credential, another one included. */
const asksPerson = /could not read (Username|Password)|terminal prompts disabled/i;

/** The outcome of a failed call, with the server's own words. `presented` says which credential the server was shown, if any. */
export function classifyFailure(exit: GitExit, address: string, presented?: string): Failure {
  const words = serverWords(exit.stderr);
  const about = (what: string): string => `${address}: ${what}${words === '' ? '' : ` (${words})`}`;
  if (exit.end === 'timeout') return transient('GitTimeout', about('the operation took too long'));
  if (exit.end === 'killed') return transient('GitUnavailable', about('git was killed'));
  // Paths and addresses stand in quotes and may hold any word.
  const text = exit.stderr.replaceAll(/'[^'\n]*'/g, "''");
  if (/mismatched algorithms/.test(text)) return terminal('GitFormatUnsupported', about('repositories with SHA-256 ids are not supported'));
  if (exit.end === 'not-started' && exit.stderr === mirrorGone) return transient('GitMirrorCorrupt', about(mirrorGone));
  const own = text.replaceAll(/^remote:.*$/gm, '');
  for (const [pattern, code, what] of localRules) if (pattern.test(own)) return transient(code, about(what));
  if (exit.end === 'not-started') return transient('GitUnavailable', about('git could not be started'));
  if (asksPerson.test(text)) {
    const what =
      presented === undefined
        ? 'the Git server refused access: it wants a credential, and none is given'
        : `the Git server refused access: it does not take ${presented}`;
    return transient('GitUnauthorized', `${address}: ${what}`);
  }
  for (const [pattern, code, what] of remoteRules) if (pattern.test(text)) return transient(code, about(what));
  return transient('GitServerError', about(`git failed with status ${exit.code}`));
}

/** Branches that the remote does not have, out of a failed fetch. */
export function missingBranch(exit: GitExit): string | undefined {
  return /couldn't find remote ref refs\/heads\/(.+)$/m.exec(exit.stderr)?.[1];
}

/** The remote does not hand out an object by its id. */
export function objectNotServed(exit: GitExit): boolean {
  return /not our ref|unadvertised object|couldn't find remote ref [0-9a-f]{40}/.test(exit.stderr);
}

/** A lock of the mirror stands in the way: the path of the lock file. */
export function lockInTheWay(exit: GitExit): string | undefined {
  return /Unable to create '(.+\.lock)': File exists/.exec(exit.stderr)?.[1];
}

/** What a person needs of git's and the server's words: one line, no control characters, no user information, at most 400 characters. */
export function serverWords(stderr: string): string {
  const lines = stderr
    .split(/[\r\n]+/)
    .map((line) => clean(line))
    .filter((line) => line !== '' && !/^(remote: )?(Enumerating|Counting|Compressing|Writing|Receiving|Resolving|Total|Delta) /.test(line));
  const remote = lines.filter((line) => line.startsWith('remote:')).map((line) => line.slice('remote:'.length).trim());
  const own = lines.filter((line) => /^(fatal|error):/.test(line));
  const text = [...remote.filter((line) => line !== ''), ...own].join('; ');
  return bounded(withoutUserinfo(text === '' ? (lines.at(-1) ?? '') : text));
}

/** Takes control characters, terminal sequences and invisible direction marks out of somebody else's text. */
export function clean(text: string): string {
  return text
    .replace(/\p{Cc}\[[0-9;?]*[A-Za-z]/gu, '')
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, ' ')
    .trim();
}

/** Cuts at 400 characters. */
export function bounded(text: string): string {
  return text.length <= 400 ? text : `${text.slice(0, 399)}…`;
}

function withoutUserinfo(text: string): string {
  return text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@']*@/gi, '$1');
}
