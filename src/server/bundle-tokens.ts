/** Whom a bearer token of the bundle endpoint lets in, and to what. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../api/kinds/native.ts';
import type { Store, StoreError } from '../ports/store.ts';

/** The type of Secrets that hold a token for one Pipeline, under the key `token`; the label `promoter.io/pipeline` names the Pipeline. */
export const BUNDLE_TOKEN_TYPE = 'promoter.io/bundle-token';
const PIPELINE_LABEL = 'promoter.io/pipeline';

/** What a token may do. `key` identifies it for rate limits without being it. */
export type Grant =
  | { readonly scope: 'all'; readonly key: string }
  | { readonly scope: 'pipeline'; readonly key: string; readonly namespace: string; readonly pipeline: string };

/** The end of a check. */
export type Authentication =
  | { readonly result: 'granted'; readonly grant: Grant }
  | { readonly result: 'refused' }
  | { readonly result: 'unavailable'; readonly error: StoreError };

/** Checks tokens. */
export interface BundleTokens {
  /** `search` says whether Secrets may be searched for a token that has not been seen before, which costs a read of all of them. */
  readonly check: (token: string, search: () => boolean) => Promise<Authentication>;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const storedToken = (secret: Secret): string | undefined => {
  const value = secret.data?.['token'];
  const token = value === undefined ? '' : Buffer.from(value, 'base64').toString('utf8').trim();
  return secret.type === BUNDLE_TOKEN_TYPE && token !== '' ? token : undefined;
};

/** What the Secret grants to whoever presents the token; compared in constant time. */
const grantOf = (secret: Secret, presented: Buffer): Grant | undefined => {
  const token = storedToken(secret);
  const pipeline = secret.metadata.labels?.[PIPELINE_LABEL];
  if (token === undefined || pipeline === undefined || !timingSafeEqual(digest(token), presented)) return undefined;
  return { scope: 'pipeline', key: presented.toString('hex'), namespace: secret.metadata.namespace ?? 'default', pipeline };
};

interface Place {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Makes the check. The token of the flag serves all Pipelines. Where the Secret of another token was found is remembered, but the Secret is read
 * again each time, so that a token that is changed or deleted stops working at once.
 */
export const createBundleTokens = (store: Store, apiToken: string): BundleTokens => {
  const master = digest(apiToken);
  const places = new Map<string, Place>();

  const known = async (presented: Buffer): Promise<Grant | undefined> => {
    const key = presented.toString('hex');
    const place = places.get(key);
    if (!place) return undefined;
    const secret = await store.get('Secret', place.namespace, place.name, { fresh: true });
    const grant = secret.ok ? grantOf(secret.value, presented) : undefined;
    if (grant === undefined && (secret.ok || secret.error.code === 'NotFound')) places.delete(key);
    return grant;
  };

  const searched = async (presented: Buffer): Promise<Authentication> => {
    const secrets = await store.list('Secret', { labelSelector: PIPELINE_LABEL, fieldSelector: `type=${BUNDLE_TOKEN_TYPE}`, fresh: true });
    if (!secrets.ok) return { result: 'unavailable', error: secrets.error };
    for (const secret of secrets.value.items) {
      const grant = grantOf(secret, presented);
      if (grant === undefined) continue;
      places.set(grant.key, { namespace: secret.metadata.namespace ?? 'default', name: secret.metadata.name });
      return { result: 'granted', grant };
    }
    return { result: 'refused' };
  };

  return {
    check: async (token, search) => {
      const presented = digest(token);
      if (timingSafeEqual(presented, master)) return { result: 'granted', grant: { scope: 'all', key: presented.toString('hex') } };
      const grant = await known(presented);
      if (grant) return { result: 'granted', grant };
      return search() ? searched(presented) : { result: 'refused' };
    },
  };
};
