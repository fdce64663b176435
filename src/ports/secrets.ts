/** Reads secret values. Values never enter a World, a status, a log or an error. */
import type { Outcome } from '../api/outcome.ts';
import type { SecretRef } from '../api/repository.ts';

export interface Secrets {
  /** The decoded value of one key. Transient `SecretMissing` when the Secret or the key is not there (it may be created later). */
  read(secret: SecretRef, key: string): Promise<Outcome<string>>;
}
