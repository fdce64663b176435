import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadOrCreatePki } from './pki.ts';

const DAY = 24 * 60 * 60 * 1000;
const NOW = Date.UTC(2026, 5, 1);

const inFolder = async (use: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'pki-'));
  try {
    await use(join(folder, 'pki'));
  } finally {
    await rm(folder, { recursive: true });
  }
};

test('the first start makes a chain that verifies and covers loopback and the bound host', () =>
  inFolder(async (folder) => {
    const pki = await loadOrCreatePki({ folder, hosts: ['api.example.com', '10.1.2.3'], now: NOW });
    const server = new X509Certificate(pki.certificate);
    const ca = new X509Certificate(pki.ca);
    assert.equal(server.verify(ca.publicKey), true);
    assert.equal(server.checkIssued(ca), true);
    assert.equal(ca.ca, true);
    assert.equal(server.ca, false);
    for (const name of ['localhost', 'api.example.com']) assert.equal(server.checkHost(name), name);
    for (const address of ['127.0.0.1', '::1', '10.1.2.3']) assert.equal(server.checkIP(address), address);
    assert.equal(server.checkHost('elsewhere.example.com'), undefined);
    for (const file of await readdir(folder)) assert.equal((await stat(join(folder, file))).mode & 0o777, 0o600, file);
  }));

test('a second start uses the same certificates', () =>
  inFolder(async (folder) => {
    const first = await loadOrCreatePki({ folder, hosts: [], now: NOW });
    assert.deepEqual(await loadOrCreatePki({ folder, hosts: [], now: NOW + 30 * DAY }), first);
  }));

test('a serving certificate near its end, or without a name that is now needed, is made again by the same authority', () =>
  inFolder(async (folder) => {
    const first = await loadOrCreatePki({ folder, hosts: [], now: NOW });
    const later = await loadOrCreatePki({ folder, hosts: [], now: NOW + 300 * DAY });
    assert.equal(later.ca, first.ca);
    assert.notEqual(later.certificate, first.certificate);
    const wider = await loadOrCreatePki({ folder, hosts: ['10.9.9.9'], now: NOW + 300 * DAY });
    assert.equal(wider.ca, first.ca);
    assert.equal(new X509Certificate(wider.certificate).checkIP('10.9.9.9'), '10.9.9.9');
  }));

test('an authority near its end takes the serving certificate with it', () =>
  inFolder(async (folder) => {
    const first = await loadOrCreatePki({ folder, hosts: [], now: NOW });
    const later = await loadOrCreatePki({ folder, hosts: [], now: NOW + 3300 * DAY });
    assert.notEqual(later.ca, first.ca);
    assert.equal(new X509Certificate(later.certificate).verify(new X509Certificate(later.ca).publicKey), true);
  }));

test('damaged files are replaced', () =>
  inFolder(async (folder) => {
    await loadOrCreatePki({ folder, hosts: [], now: NOW });
    await writeFile(join(folder, 'server.key'), 'nonsense');
    const mended = await loadOrCreatePki({ folder, hosts: [], now: NOW });
    assert.equal(await readFile(join(folder, 'server.key'), 'utf8'), mended.key);
    assert.match(mended.key, /BEGIN PRIVATE KEY/);
  }));
