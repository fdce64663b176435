/**
 * The environment of every git process: built from nothing, so that no setting of the machine, its user or a parent process reaches it.
 * HOME is an empty folder of ours, because libcurl would otherwise take credentials from a .netrc.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitLimits } from './limits.ts';

/** Where the engine keeps what is not a mirror. */
export interface GitHome {
  /** The engine's folder; also the mark by which its processes are known. */
  readonly directory: string;
  readonly home: string;
  readonly mirrors: string;
  readonly children: string;
  readonly spoiled: string;
  readonly temporary: string;
  readonly globalConfig: string;
  readonly knownHosts: string;
}

/** Name of the variable that marks our processes with the engine's folder. */
export const markVariable = 'PROMOTER_GIT_HOME';

/**
 * The file takes the place of the user's configuration. Unlike settings in the environment it also reaches the programs that serve a file:// URL:
 * they shall offer partial transfer, shall not mind who owns the repository, and shall not leave maintenance running behind our back.
 * Hooks are not named here: those of a repository that is served belong to it.
 */
const globalConfig = `[safe]
\tdirectory = *
[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
[gc]
\tauto = 0
\tautoDetach = false
[maintenance]
\tauto = false
[receive]
\tautogc = false
`;

/** Creates the folders and files of the engine. */
export function prepareHome(directory: string): GitHome {
  const home: GitHome = {
    directory,
    home: join(directory, 'home'),
    mirrors: join(directory, 'mirrors'),
    children: join(directory, 'children'),
    spoiled: join(directory, 'spoiled'),
    temporary: join(directory, 'tmp'),
    globalConfig: join(directory, 'gitconfig'),
    knownHosts: join(directory, 'known_hosts'),
  };
  // Keys of calls that a killed controller did not bring to an end.
  rmSync(home.temporary, { recursive: true, force: true });
  fillHome(home);
  return home;
}

/** Makes what is missing of the engine's folder, which may be cleared away at any time. Throws what the file system throws. */
export function fillHome(home: GitHome): void {
  for (const folder of [home.home, home.mirrors, home.children, home.spoiled, home.temporary])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(home.globalConfig, globalConfig);
}

const passedOn = ['PATH', 'TMPDIR', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO', 'GIT_SSL_CAPATH'];
const proxies = ['http_proxy', 'https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY', 'no_proxy', 'NO_PROXY'];

/** Variables that every git process gets. */
export function baseEnvironment(home: GitHome, allowFileUrls: boolean, outer: NodeJS.ProcessEnv): Record<string, string> {
  const environment: Record<string, string> = {
    LC_ALL: 'C',
    HOME: home.home,
    XDG_CONFIG_HOME: home.home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: home.globalConfig,
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_ALLOW_PROTOCOL: allowFileUrls ? 'https:http:ssh:file' : 'https:http:ssh',
    [markVariable]: home.directory,
  };
  for (const name of [...passedOn, ...proxies]) {
    const value = outer[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}

/** Settings of every command, as name and value. */
export function baseSettings(limits: GitLimits): readonly (readonly [string, string])[] {
  return [
    ['protocol.version', '2'],
    ['core.hooksPath', '/dev/null'],
    ['credential.helper', ''],
    ['core.askPass', ''],
    ['core.fsmonitor', 'false'],
    ['advice.fetchShowForcedUpdates', 'false'],
    ['fetch.showForcedUpdates', 'false'],
    ['fetch.writeCommitGraph', 'false'],
    ['fetch.fsckObjects', 'false'],
    ['push.default', 'nothing'],
    ['push.gpgSign', 'false'],
    ['push.followTags', 'false'],
    ['push.recurseSubmodules', 'no'],
    ['pack.threads', '1'],
    ['http.lowSpeedLimit', String(limits.lowSpeedBytes)],
    ['http.lowSpeedTime', String(limits.lowSpeedSeconds)],
  ];
}

/** Hands settings over in the environment, where they do not show in a list of processes. */
export function settingsEnvironment(settings: readonly (readonly [string, string])[]): Record<string, string> {
  const environment: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) };
  settings.forEach(([name, value], index) => {
    environment[`GIT_CONFIG_KEY_${index}`] = name;
    environment[`GIT_CONFIG_VALUE_${index}`] = value;
  });
  return environment;
}
