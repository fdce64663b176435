/** Finds server and credentials in a kubeconfig. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { done, type Outcome, terminal } from '../../api/outcome.ts';
import type { Endpoint } from './transport.ts';

/** What the current context of a kubeconfig says; may be handed to `createHttpStore` as it is. */
export interface KubeAccess extends Endpoint {
  /** The same as `baseUrl`. */
  readonly server: string;
  /** Namespace of requests that name none; `default` when the context names none. */
  readonly namespace: string;
}

type Fields = { readonly [key: string]: unknown };
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** The entry of a named list (clusters, users, contexts) with that name. */
const entryOf = (config: Fields, lists: 'clusters' | 'users' | 'contexts', name: string): Fields | undefined => {
  const list = config[lists];
  const found = Array.isArray(list) ? list.filter(isObject).find((entry) => entry['name'] === name) : undefined;
  const content = found?.[lists.slice(0, -1)];
  return isObject(content) ? content : undefined;
};

/** Text given inline in base64, or in a file named relative to the kubeconfig. */
const inlineOrFile = async (fields: Fields, key: string, folder: string): Promise<string | undefined> => {
  const data = textOf(fields[`${key}-data`]);
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  const file = textOf(fields[key]);
  return file === undefined ? undefined : readFile(resolve(folder, file), 'utf8');
};

const tokenOf = async (user: Fields, folder: string): Promise<string | undefined> => {
  const token = textOf(user['token']);
  const file = textOf(user['tokenFile']);
  if (token !== undefined || file === undefined) return token;
  return (await readFile(resolve(folder, file), 'utf8')).trim();
};

const serverOf = (cluster: Fields): string | undefined => {
  const server = textOf(cluster['server']);
  return server !== undefined && URL.canParse(server) && /^https?:$/.test(new URL(server).protocol) ? server : undefined;
};

const endpointOf = async (server: string, cluster: Fields, user: Fields, folder: string): Promise<Endpoint> => {
  const ca = await inlineOrFile(cluster, 'certificate-authority', folder);
  const token = await tokenOf(user, folder);
  const certificate = await inlineOrFile(user, 'client-certificate', folder);
  const key = await inlineOrFile(user, 'client-key', folder);
  return {
    baseUrl: server.replace(/\/+$/, ''),
    ...(ca === undefined ? {} : { ca }),
    ...(token === undefined ? {} : { token }),
    ...(certificate === undefined || key === undefined ? {} : { client: { certificate, key } }),
    ...(cluster['insecure-skip-tls-verify'] === true ? { insecureSkipTlsVerify: true } : {}),
  };
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'error';

const read = async (path: string): Promise<Outcome<Fields>> => {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    return terminal('KubeconfigUnreadable', `the kubeconfig ${path} cannot be read (${codeOf(error)})`);
  }
  try {
    const config: unknown = parse(text);
    if (isObject(config)) return done(config);
  } catch {
    // What the parser says may quote the file, and the file holds a token.
  }
  return terminal('KubeconfigInvalid', `the kubeconfig ${path} is not YAML with clusters, users and contexts`);
};

/** Reads the current context of a kubeconfig. Terminal `KubeconfigUnreadable` or `KubeconfigInvalid` when that cannot be done. */
export const loadKubeconfig = async (path: string): Promise<Outcome<KubeAccess>> => {
  const config = await read(path);
  if (config.outcome !== 'done') return config;
  const invalid = (problem: string) => terminal('KubeconfigInvalid', `the kubeconfig ${path} ${problem}`);
  const current = textOf(config.value['current-context']);
  if (current === undefined) return invalid('names no current-context');
  const context = entryOf(config.value, 'contexts', current);
  if (!context) return invalid(`has no context ${JSON.stringify(current)}`);
  const cluster = entryOf(config.value, 'clusters', textOf(context['cluster']) ?? '');
  if (!cluster) return invalid(`has no cluster ${JSON.stringify(context['cluster'] ?? '')}, which its context names`);
  const user = entryOf(config.value, 'users', textOf(context['user']) ?? '') ?? {};
  if (user['exec'] || user['auth-provider'])
    return invalid('gets its credentials from a program (exec, auth-provider), which is not supported');
  const server = serverOf(cluster);
  if (server === undefined) return invalid('has no http or https URL in server');
  try {
    const endpoint = await endpointOf(server, cluster, user, dirname(path));
    return done({ ...endpoint, server: endpoint.baseUrl, namespace: textOf(context['namespace']) ?? 'default' });
  } catch (error) {
    return invalid(`names a file that cannot be read (${codeOf(error)})`);
  }
};
