/** The secrets port over Secrets in a store. */
import { done, type Outcome, transient } from '../api/outcome.ts';
import type { SecretRef } from '../api/repository.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { Store } from '../ports/store.ts';

const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

const decode = (value: string): string | undefined => {
  if (!BASE64.test(value)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'base64'));
  } catch {
    return undefined;
  }
};

const readKey = async (store: Store, { namespace, name }: SecretRef, key: string): Promise<Outcome<string>> => {
  const found = await store.get('Secret', namespace, name, { fresh: true });
  if (!found.ok) {
    return found.error.code === 'NotFound'
      ? transient('SecretMissing', `there is no Secret ${namespace}/${name}; create it with the key ${key}`)
      : transient('SecretUnreadable', `the Secret ${namespace}/${name} cannot be read: ${found.error.message}`);
  }
  const data = found.value.data ?? {};
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  if (value === undefined) return transient('SecretMissing', `the Secret ${namespace}/${name} has no key ${key}`);
  const text = decode(value);
  if (text !== undefined) return done(text);
  return transient('SecretInvalid', `the key ${key} of the Secret ${namespace}/${name} is not base64 of UTF-8 text`);
};

/**
 * Makes the port. Values are read at the latest version each time and handed over exactly as they are stored. Every failure is transient,
 * because the Secret may be created or mended at any time: `SecretMissing`, `SecretInvalid`, `SecretUnreadable`.
 */
export const createSecrets = (store: Store): Secrets => ({ read: (secret, key) => readKey(store, secret, key) });
