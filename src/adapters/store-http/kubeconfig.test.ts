import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { stringify } from 'yaml';
import { loadKubeconfig } from './kubeconfig.ts';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
});
after(() => rm(folder, { recursive: true }));

const config = (cluster: object, user: object, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'b',
  contexts: [
    { name: 'a', context: { cluster: 'other', user: 'other' } },
    { name: 'b', context: { cluster: 'here', user: 'me', namespace: 'shop' } },
  ],
  clusters: [{ name: 'here', cluster }],
  users: [{ name: 'me', user }],
  ...more,
});

const load = async (content: object | string) => {
  const path = join(folder, 'config');
  await writeFile(path, typeof content === 'string' ? content : stringify(content));
  return loadKubeconfig(path);
};

const refusal = async (content: object | string): Promise<string> => {
  const outcome = await load(content);
  assert.ok(outcome.outcome === 'terminal');
  assert.equal(outcome.reason.code, 'KubeconfigInvalid');
  return outcome.reason.message;
};

const base64 = (text: string) => Buffer.from(text).toString('base64');

it('the current context gives server, credentials and namespace', async () => {
  const outcome = await load(config({ server: 'https://10.0.0.1:6443/', 'certificate-authority-data': base64('CA') }, { token: 'T' }));
  assert.deepEqual(outcome, {
    outcome: 'done',
    value: { baseUrl: 'https://10.0.0.1:6443', server: 'https://10.0.0.1:6443', ca: 'CA', token: 'T', namespace: 'shop' },
  });
});

it('files are found beside the kubeconfig, client certificates and insecure-skip-tls-verify are heeded', async () => {
  for (const [name, text] of [
    ['ca.pem', 'CA'],
    ['me.crt', 'CERT'],
    ['me.key', 'KEY'],
    ['token', 'T\n'],
  ] as const) {
    await writeFile(join(folder, name), text);
  }
  const cluster = { server: 'https://host', 'certificate-authority': 'ca.pem', 'insecure-skip-tls-verify': true };
  const user = { tokenFile: 'token', 'client-certificate': 'me.crt', 'client-key': 'me.key' };
  const outcome = await load(config(cluster, user));
  assert.ok(outcome.outcome === 'done');
  const { ca, token, client, insecureSkipTlsVerify } = outcome.value;
  assert.deepEqual([ca, token, client, insecureSkipTlsVerify], ['CA', 'T', { certificate: 'CERT', key: 'KEY' }, true]);
});

it('what is missing or wrong is named, and nothing of the file is quoted', async () => {
  const missing = await loadKubeconfig(join(folder, 'nowhere'));
  assert.ok(missing.outcome === 'terminal');
  assert.equal(missing.reason.code, 'KubeconfigUnreadable');
  assert.match(await refusal('token: [hush\n  x'), /is not YAML/);
  assert.doesNotMatch(await refusal('token: [hush\n  x'), /hush/);
  assert.match(await refusal('just text'), /is not YAML/);
  assert.match(await refusal({ clusters: [] }), /no current-context/);
  assert.match(await refusal(config({ server: 'https://h' }, {}, { 'current-context': 'z' })), /no context "z"/);
  assert.match(await refusal(config({ server: 'https://h' }, {}, { clusters: [] })), /no cluster "here"/);
  assert.match(await refusal(config({ server: 'ftp://h' }, {})), /no http or https URL/);
  assert.match(await refusal(config({ server: 'https://h', 'certificate-authority': 'gone.pem' }, {})), /cannot be read \(ENOENT\)/);
  assert.match(await refusal(config({ server: 'https://h' }, { exec: { command: 'x' } })), /exec/);
});
