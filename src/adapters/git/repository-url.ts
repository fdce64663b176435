/** Which repository addresses are accepted, and what they are called in mirrors, configuration and messages. */
import { createHash } from 'node:crypto';
import type { Outcome } from '../../api/outcome.ts';
import { done, terminal } from '../../api/outcome.ts';

/** An accepted address. */
export interface RemoteUrl {
  readonly protocol: 'https' | 'http' | 'ssh' | 'file';
  /** What git is given: no user information for http, the user's name for ssh. Fit for messages. */
  readonly address: string;
  /** Names the mirror; equal for spellings of one address. */
  readonly key: string;
  /** Scheme, host and port for http and https, which scopes the credential to that server. */
  readonly origin?: string;
  /** User information that stood in an http address. */
  readonly user?: { readonly name: string; readonly password: string };
}

const accepted = 'accepted are https, http, ssh (also user@host:path) and, where allowed, file';

/** Reads an address; terminal `GitURLRefused` for everything that is not a plain repository address. */
export function parseRepositoryUrl(url: string, allowFileUrls: boolean): Outcome<RemoteUrl> {
  const text = url.trim();
  if (text === '') return refuse('the repository URL is empty');
  if (hasControl(text)) return refuse('the repository URL holds control characters');
  if (text.startsWith('-')) return refuse('the repository URL begins with a dash');
  if (/^[A-Za-z0-9+.-]+::/.test(text)) return refuse(`the repository URL names the helper transport "${text.split('::')[0]}"`);
  if (!text.includes('://')) return parseScp(text);
  const parsed = URL.parse(text);
  if (parsed === null) return refuse('the repository URL cannot be parsed');
  switch (parsed.protocol) {
    case 'https:':
      return parseHttp(parsed, 'https');
    case 'http:':
      return parseHttp(parsed, 'http');
    case 'ssh:':
      return parseSsh(parsed);
    case 'file:':
      return allowFileUrls ? parseFile(parsed) : refuse('file URLs are not allowed here');
    default:
      return refuse(`the scheme "${parsed.protocol.replace(':', '')}" is not known`);
  }
}

function parseHttp(url: URL, protocol: 'https' | 'http'): Outcome<RemoteUrl> {
  if (url.hostname === '') return refuse('the repository URL names no host');
  const path = url.pathname.replace(/\/+$/, '');
  if (path === '') return refuse('the repository URL names no repository');
  // A query would be a place for tokens, which then stood in messages and lists of processes.
  if (url.search !== '' || url.hash !== '') return refuse('the repository URL has a query');
  const address = `${protocol}://${url.host}${path}`;
  const user = url.username === '' ? undefined : { name: decode(url.username), password: decode(url.password) };
  return accept({ protocol, address, origin: `${protocol}://${url.host}/`, ...(user === undefined ? {} : { user }) });
}

function parseSsh(url: URL): Outcome<RemoteUrl> {
  const user = decode(url.username);
  if (url.hostname === '' || url.hostname.startsWith('-') || user.startsWith('-')) return refuse('the repository URL names no usable host');
  const path = url.pathname.replace(/\/+$/, '');
  if (path === '' || path.startsWith('/-')) return refuse('the repository URL names no repository');
  const account = user === '' ? '' : `${encodeURIComponent(user)}@`;
  return accept({ protocol: 'ssh', address: `ssh://${account}${url.host}${path}` });
}

function parseScp(text: string): Outcome<RemoteUrl> {
  const match = /^(?:([A-Za-z0-9._-]+)@)?([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):([^\s].*)$/.exec(text);
  const [, user, host, path] = match ?? [];
  if (host === undefined || path === undefined || host.startsWith('-') || user?.startsWith('-') || path.startsWith('-'))
    return refuse('the repository URL is not an address of a Git server');
  const account = user === undefined ? '' : `${user}@`;
  return accept({ protocol: 'ssh', address: `${account}${host}:${path.replace(/\/+$/, '')}` });
}

function parseFile(url: URL): Outcome<RemoteUrl> {
  if (url.hostname !== '' && url.hostname !== 'localhost') return refuse('a file URL names no host');
  const path = decode(url.pathname).replace(/\/+$/, '');
  if (path === '' || hasControl(path)) return refuse('the file URL names no folder');
  return accept({ protocol: 'file', address: `file://${path}` });
}

function accept(url: Omit<RemoteUrl, 'key'>): Outcome<RemoteUrl> {
  return done({ ...url, key: createHash('sha256').update(url.address).digest('hex').slice(0, 32) });
}

function refuse(why: string): Outcome<RemoteUrl> {
  return terminal('GitURLRefused', `${why}; ${accepted}`);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function hasControl(text: string): boolean {
  for (const character of text) if (character < ' ' || character === '\u007f') return true;
  return false;
}

/** Whether git accepts the name for a branch. */
export function isBranchName(name: string): boolean {
  if (name === '' || name === '@' || name.length > 1000 || hasControl(name)) return false;
  if (/[ ~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|[/.]$/.test(name)) return false;
  return name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'));
}
