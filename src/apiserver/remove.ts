/** The deleting verbs. */
import type { Resource } from '../api/meta.ts';
import type { DeleteOptions } from '../ports/store.ts';
import { type Answer, answer, type Call, type Context, refused, subjectOf } from './call.ts';
import { isJsonObject, type JsonObject } from './object-body.ts';
import { listOptionsOf, parsePropagation } from './query.ts';
import { listBody } from './read.ts';
import { badRequest, type Parsed, refuse, storeRefusal } from './refusal.ts';

const FIELDS = ['kind', 'apiVersion', 'propagationPolicy', 'preconditions', 'gracePeriodSeconds', 'dryRun', 'orphanDependents'];

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const preconditionsOf = (body: JsonObject): Parsed<Pick<DeleteOptions, 'uid' | 'resourceVersion'>> => {
  const given = body['preconditions'] ?? {};
  if (!isJsonObject(given)) return refuse(badRequest('preconditions must be an object'));
  const { uid, resourceVersion, ...others } = given;
  if ([uid, resourceVersion].some((value) => value !== undefined && value !== null && !isText(value)) || Object.keys(others).length > 0) {
    return refuse(badRequest('preconditions takes uid and resourceVersion, both texts'));
  }
  return { ok: true, value: { ...(isText(uid) ? { uid } : {}), ...(isText(resourceVersion) ? { resourceVersion } : {}) } };
};

const propagationOf = (body: JsonObject): Parsed<Pick<DeleteOptions, 'propagation'>> => {
  const { propagationPolicy: policy, orphanDependents: orphan } = body;
  if (policy === undefined || policy === null) return { ok: true, value: orphan === true ? { propagation: 'orphan' } : {} };
  const propagation = typeof policy === 'string' ? parsePropagation(policy) : undefined;
  if (propagation === undefined) return refuse(badRequest('propagationPolicy must be Background, Foreground or Orphan'));
  return { ok: true, value: { propagation } };
};

const dryRunOf = (body: JsonObject): Parsed<Pick<DeleteOptions, 'dryRun'>> => {
  const given = body['dryRun'];
  if (given === undefined || given === null || (Array.isArray(given) && given.length === 0)) return { ok: true, value: {} };
  if (Array.isArray(given) && given.every((word) => word === 'All')) return { ok: true, value: { dryRun: true } };
  return refuse(badRequest('dryRun must be ["All"]'));
};

const bodyProblem = (body: JsonObject): string | undefined => {
  const unknown = Object.keys(body).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined)
    return `DeleteOptions has no field ${JSON.stringify(unknown.slice(0, 100))}; its fields are ${FIELDS.join(', ')}`;
  if (body['kind'] !== undefined && body['kind'] !== 'DeleteOptions') return 'the body of a deletion must be of kind DeleteOptions';
  return undefined;
};

/** What a deletion asks for: its body, over its query parameters. */
export const deleteOptionsOf = (call: Call): Parsed<DeleteOptions> => {
  const body = call.body ?? {};
  if (!isJsonObject(body)) return refuse(badRequest('the body of a deletion must be a DeleteOptions object'));
  const problem = bodyProblem(body);
  if (problem !== undefined) return refuse(badRequest(problem));
  const preconditions = preconditionsOf(body);
  if (!preconditions.ok) return preconditions;
  const propagation = propagationOf(body);
  if (!propagation.ok) return propagation;
  const dryRun = dryRunOf(body);
  if (!dryRun.ok) return dryRun;
  const fromQuery: DeleteOptions = {
    ...(call.query.propagation === undefined ? {} : { propagation: call.query.propagation }),
    ...(call.query.dryRun ? { dryRun: true } : {}),
  };
  return { ok: true, value: { ...fromQuery, ...preconditions.value, ...propagation.value, ...dryRun.value } };
};

/** Deletes an object and answers with it: as it was, or marked when finalizers hold it. */
export const deleteObject = async ({ store }: Context, call: Call): Promise<Answer> => {
  const options = deleteOptionsOf(call);
  if (!options.ok) return refused(call, options.refusal);
  const result = await store.delete(call.info.kind, call.namespace ?? '', call.name ?? '', options.value);
  return result.ok ? answer(200, result.object, result.warnings) : refused(call, storeRefusal(result.error, subjectOf(call)));
};

/** Deletes what the selectors select and answers with the list of it. Objects that vanish meanwhile are fine. */
export const deleteCollection = async ({ store }: Context, call: Call): Promise<Answer> => {
  const options = deleteOptionsOf(call);
  if (!options.ok) return refused(call, options.refusal);
  const page = await store.list(call.info.kind, listOptionsOf(call.query, call.namespace));
  if (!page.ok) return refused(call, storeRefusal(page.error, subjectOf(call)));
  const deleted: Resource[] = [];
  for (const { metadata } of page.value.items) {
    const result = await store.delete(call.info.kind, metadata.namespace ?? '', metadata.name, {
      ...options.value,
      ...(metadata.uid === undefined ? {} : { uid: metadata.uid }),
    });
    if (result.ok) deleted.push(result.object);
    else if (result.error.code !== 'NotFound')
      return refused(call, storeRefusal(result.error, subjectOf(call, metadata.name)), metadata.name);
  }
  return answer(200, listBody(call, { ...page.value, items: deleted }));
};
