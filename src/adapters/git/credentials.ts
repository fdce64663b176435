/**
 * Hands a credential to one git process.
 *
 * Tokens travel as an Authorization header in the environment of that process, bound to the server's scheme, host and port. The environment can be
 * read only by the same user (who could read this process's memory as well) and ends with the process; arguments, files and URLs would show it to
 * more people or for longer, and a credential helper on a pipe would cost a refused request and a shell each time. libcurl drops the header
 * when a redirect leads to another host.
 *
 * Keys for ssh must be files: they lie in a folder of their own with mode 0700 until the call ends, and the folder is emptied at start.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome } from '../../api/outcome.ts';
import { done } from '../../api/outcome.ts';
import type { SecretRef } from '../../api/repository.ts';
import type { Secrets } from '../../ports/secrets.ts';
import type { GitHome } from './environment.ts';
import type { RemoteUrl } from './repository-url.ts';

/** What a git process needs to be let in. */
export interface Access {
  readonly settings: readonly (readonly [string, string])[];
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** What the server is shown, for messages; undefined when it is shown nothing. */
  readonly presented?: string;
  /** Removes what was put down for the call. */
  readonly release: () => void;
}

/** Names a credential in memory; equal for the same Secret. */
export function credentialKey(url: RemoteUrl, secret: SecretRef | undefined): string {
  if (secret !== undefined && url.protocol !== 'file') return `secret ${secret.namespace}/${secret.name}`;
  if (url.user === undefined) return 'none';
  return `user ${createHash('sha256').update(JSON.stringify(url.user)).digest('hex')}`;
}

/** Reads Secrets anew for each operation, so that a rotated one is used at once. */
export class Credentials {
  readonly #secrets: Secrets;
  readonly #home: GitHome;

  constructor(secrets: Secrets, home: GitHome) {
    this.#secrets = secrets;
    this.#home = home;
  }

  /** The access for one call; the caller releases it. */
  async access(url: RemoteUrl, secret: SecretRef | undefined): Promise<Outcome<Access>> {
    if (url.protocol === 'file') return done(nothing);
    if (url.protocol === 'ssh') return this.#ssh(secret);
    const own = url.user;
    if (secret === undefined)
      return done(own === undefined ? nothing : { ...header(url, own.name, own.password), presented: 'the user and password of its URL' });
    const token = await this.#secrets.read(secret, 'token');
    if (token.outcome !== 'done') return token;
    const user = await this.#secrets.read(secret, 'username');
    const access = header(url, user.outcome === 'done' ? user.value.trim() : 'x-access-token', token.value.trim());
    return done({ ...access, presented: `the token of the Secret ${secret.namespace}/${secret.name}` });
  }

  async #ssh(secret: SecretRef | undefined): Promise<Outcome<Access>> {
    if (secret === undefined)
      return done({ ...nothing, environment: { GIT_SSH_COMMAND: sshCommand(this.#home.knownHosts, 'accept-new') } });
    const key = await this.#secrets.read(secret, 'ssh-privatekey');
    if (key.outcome !== 'done') return key;
    const known = await this.#secrets.read(secret, 'known_hosts');
    // The folder may have been cleared away since the start.
    mkdirSync(this.#home.temporary, { recursive: true, mode: 0o700 });
    const folder = mkdtempSync(join(this.#home.temporary, 'ssh-'));
    const keyFile = join(folder, 'key');
    writeFileSync(keyFile, `${key.value.trimEnd()}\n`, { mode: 0o600 });
    const hosts = known.outcome === 'done' ? join(folder, 'known_hosts') : this.#home.knownHosts;
    if (known.outcome === 'done') writeFileSync(hosts, `${known.value.trimEnd()}\n`, { mode: 0o600 });
    const command = sshCommand(hosts, known.outcome === 'done' ? 'yes' : 'accept-new', keyFile);
    const secrets = key.value.split('\n').filter((line) => line.length > 16 && !line.startsWith('-----'));
    return done({
      settings: [],
      environment: { GIT_SSH_COMMAND: command },
      secrets,
      release: () => rmSync(folder, { recursive: true, force: true }),
    });
  }
}

const nothing: Access = { settings: [], environment: {}, secrets: [], release: () => undefined };

function header(url: RemoteUrl, user: string, password: string): Access {
  const basic = Buffer.from(`${user}:${password}`, 'utf8').toString('base64');
  return {
    ...nothing,
    settings: [[`http.${url.origin ?? ''}.extraHeader`, `Authorization: Basic ${basic}`]],
    secrets: [basic, password],
  };
}

function sshCommand(knownHosts: string, checking: 'yes' | 'accept-new', key?: string): string {
  const options = [
    'BatchMode=yes',
    'IdentitiesOnly=yes',
    `IdentityFile=${key === undefined ? 'none' : quoted(key)}`,
    'IdentityAgent=none',
    `StrictHostKeyChecking=${checking}`,
    `UserKnownHostsFile=${quoted(knownHosts)}`,
    'ConnectTimeout=30',
    'ServerAliveInterval=15',
    'ServerAliveCountMax=4',
  ];
  return `ssh -F /dev/null ${options.map((option) => `-o ${shellWord(option)}`).join(' ')}`;
}

/** ssh splits option values at spaces unless they are quoted. */
const quoted = (path: string): string => `"${path}"`;
/** git hands the command to a shell. */
const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
