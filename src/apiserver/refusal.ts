/** Refused requests in Kubernetes' words. */
import type { KindInfo } from '../api/registry.ts';
import type { FieldCause, StoreError, StoreErrorCode } from '../ports/store.ts';

/** A request that was not carried out: HTTP status, machine-readable reason and a sentence. */
export interface Refusal {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly causes?: readonly FieldCause[];
}

/** The end of reading something that a client sent. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

/** What a request is about; the name is empty for collections and for objects that have none yet. */
export interface Subject {
  readonly info: KindInfo;
  readonly name: string;
}

/** Makes a refusal for something malformed (400). */
export const badRequest = (message: string): Refusal => ({ code: 400, reason: 'BadRequest', message });
/** Makes the refusal of a body over the limit (413). */
export const tooLarge = (message: string): Refusal => ({ code: 413, reason: 'RequestEntityTooLarge', message });
/** The answer to whoever presents no valid token (401); it says nothing else. */
export const UNAUTHORIZED: Refusal = { code: 401, reason: 'Unauthorized', message: 'Unauthorized' };
/** The answer to a path that is not served (404). */
export const NO_SUCH_PATH: Refusal = { code: 404, reason: 'NotFound', message: 'the server could not find the requested resource' };

/** Makes a failed parse. */
export const refuse = (refusal: Refusal): { readonly ok: false; readonly refusal: Refusal } => ({ ok: false, refusal });

const REASONS: Readonly<Record<StoreErrorCode, readonly [code: number, reason: string]>> = {
  NotFound: [404, 'NotFound'],
  AlreadyExists: [409, 'AlreadyExists'],
  Conflict: [409, 'Conflict'],
  Invalid: [422, 'Invalid'],
  BadRequest: [400, 'BadRequest'],
  Forbidden: [403, 'Forbidden'],
  Expired: [410, 'Expired'],
  TooLarge: [413, 'RequestEntityTooLarge'],
  Unavailable: [503, 'ServiceUnavailable'],
};

/** `bundles.promoter.io`, or `secrets` in the core group. */
export const qualifiedResource = (info: KindInfo): string => (info.group === '' ? info.plural : `${info.plural}.${info.group}`);

const messageOf = (error: StoreError, { info, name }: Subject): string => {
  const resource = qualifiedResource(info);
  switch (error.code) {
    case 'NotFound':
      return `${resource} "${name}" not found`;
    case 'AlreadyExists':
      return `${resource} "${name}" already exists`;
    case 'Conflict':
      return `Operation cannot be fulfilled on ${resource} "${name}": ${error.message}`;
    case 'Invalid': {
      const causes = error.causes?.map(({ field, message }) => `${field}: ${message}`);
      const what = info.group === '' ? info.kind : `${info.kind}.${info.group}`;
      return causes?.length ? `${what} "${name}" is invalid: ${causes.join('; ')}` : error.message;
    }
    default:
      return error.message;
  }
};

/** The refusal for an error of the store. */
export const storeRefusal = (error: StoreError, subject: Subject): Refusal => {
  const [code, reason] = REASONS[error.code];
  return { code, reason, message: messageOf(error, subject), ...(error.causes ? { causes: error.causes } : {}) };
};

const detailsOf = (refusal: Refusal, subject: Subject | undefined) => ({
  ...(subject?.name ? { name: subject.name } : {}),
  ...(subject ? { group: subject.info.group, kind: refusal.code === 422 ? subject.info.kind : subject.info.plural } : {}),
  ...(refusal.causes ? { causes: refusal.causes.map(({ field, message }) => ({ reason: 'FieldValueInvalid', message, field })) } : {}),
});

/** Kubernetes' `Status` object for a refusal. */
export const statusBody = (refusal: Refusal, subject?: Subject) => {
  const details = detailsOf(refusal, subject);
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: refusal.message,
    reason: refusal.reason,
    ...(Object.keys(details).length === 0 ? {} : { details }),
    code: refusal.code,
  };
};
