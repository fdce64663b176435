/** Names of repositories, credentials and commits, shared by decisions and adapters. */

/** 40 (or 64) lower-case hexadecimal digits. */
export type CommitSha = string & { readonly __brand: 'CommitSha' };

/** Brands a full commit id; undefined when it is none. */
export const parseCommitSha = (value: string): CommitSha | undefined =>
  /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value) ? (value as CommitSha) : undefined;

/** A Secret by name. */
export interface SecretRef {
  readonly namespace: string;
  readonly name: string;
}

/** A repository and the credential it is reached with. */
export interface Repository {
  readonly url: string;
  /** Absent for repositories that need none. */
  readonly credential?: SecretRef;
}
