/** The certificate authority of one data directory and the certificate that the resource API serves. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { readPrivateFile, writePrivateFile } from './private-file.ts';

const DAY = 24 * 60 * 60 * 1000;
/** Clocks of client and server differ: certificates are valid from a little before they are made. */
const BACKDATE = 60 * 60 * 1000;
const CA_DAYS = 3650;
const SERVER_DAYS = 365;
/** A certificate with less time left is made again at the next start. */
const RENEW_CA_BEFORE = 400 * DAY;
const RENEW_SERVER_BEFORE = 120 * DAY;

/** What TLS needs, all in PEM. */
export interface Pki {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

/** Where the files lie, which names the certificate carries, and the time in milliseconds. */
export interface PkiRequest {
  readonly folder: string;
  /** Host names and addresses beside `localhost`, `127.0.0.1` and `::1`. */
  readonly hosts: readonly string[];
  readonly now: number;
}

interface Pair {
  readonly certificate: string;
  readonly key: string;
}

const readPair = async (folder: string, name: string): Promise<Pair | undefined> => {
  const certificate = await readPrivateFile(join(folder, `${name}.crt`));
  const key = await readPrivateFile(join(folder, `${name}.key`));
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
};

const writePair = async (folder: string, name: string, pair: Pair): Promise<void> => {
  await writePrivateFile(join(folder, `${name}.key`), pair.key);
  await writePrivateFile(join(folder, `${name}.crt`), pair.certificate);
};

/** Undefined when the text holds no certificate, or one that does not belong to the key: files can be damaged or mixed up. */
const parsePair = (pair: Pair): X509Certificate | undefined => {
  try {
    const certificate = new X509Certificate(pair.certificate);
    return certificate.checkPrivateKey(createPrivateKey(pair.key)) ? certificate : undefined;
  } catch {
    return undefined;
  }
};

const lasts = (certificate: X509Certificate, now: number, atLeast: number): boolean =>
  Date.parse(certificate.validFrom) <= now && Date.parse(certificate.validTo) - now > atLeast;

const covers = (certificate: X509Certificate, host: string): boolean =>
  (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;

const usableCa = (pair: Pair | undefined, now: number): pair is Pair => {
  const certificate = pair && parsePair(pair);
  return certificate?.ca === true && lasts(certificate, now, RENEW_CA_BEFORE);
};

const usableServer = (pair: Pair | undefined, ca: Pair, names: readonly string[], now: number): pair is Pair => {
  const certificate = pair && parsePair(pair);
  if (!certificate?.verify(new X509Certificate(ca.certificate).publicKey)) return false;
  return lasts(certificate, now, RENEW_SERVER_BEFORE) && names.every((name) => covers(certificate, name));
};

/** The certificate library costs 100 ms to load, and only the first start needs it. */
const loadLibrary = async () => {
  await import('reflect-metadata');
  return import('@peculiar/x509');
};

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

const toPem = async (key: CryptoKey): Promise<string> => {
  const base64 = Buffer.from(await crypto.subtle.exportKey('pkcs8', key)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${base64.replace(/.{64}(?=.)/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
};

const fromPem = (pem: string): Promise<CryptoKey> =>
  crypto.subtle.importKey('pkcs8', createPrivateKey(pem).export({ format: 'der', type: 'pkcs8' }), ALGORITHM, false, ['sign']);

const validity = (now: number, days: number) => ({ notBefore: new Date(now - BACKDATE), notAfter: new Date(now + days * DAY) });

const makeCa = async (now: number): Promise<Pair> => {
  const x509 = await loadLibrary();
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=promoter-ca',
    keys,
    signingAlgorithm: ALGORITHM,
    ...validity(now, CA_DAYS),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: await toPem(keys.privateKey) };
};

const makeServer = async (ca: Pair, names: readonly string[], now: number): Promise<Pair> => {
  const x509 = await loadLibrary();
  const issuer = new x509.X509Certificate(ca.certificate);
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: 'CN=promoter-api',
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey: await fromPem(ca.key),
    signingAlgorithm: ALGORITHM,
    ...validity(now, SERVER_DAYS),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value }))),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: await toPem(keys.privateKey) };
};

/**
 * Reads the authority and the serving certificate (ECDSA P-256) of the folder, and makes again what is missing, damaged, near its end or
 * lacks a name. Files have mode 0600. A new authority invalidates kubeconfigs that were handed out; it lasts ten years.
 */
export const loadOrCreatePki = async ({ folder, hosts, now }: PkiRequest): Promise<Pki> => {
  const names = [...new Set(['localhost', '127.0.0.1', '::1', ...hosts])];
  let ca = await readPair(folder, 'ca');
  if (!usableCa(ca, now)) {
    ca = await makeCa(now);
    await writePair(folder, 'ca', ca);
  }
  let server = await readPair(folder, 'server');
  if (!usableServer(server, ca, names, now)) {
    server = await makeServer(ca, names, now);
    await writePair(folder, 'server', server);
  }
  return { ca: ca.certificate, certificate: server.certificate, key: server.key };
};
