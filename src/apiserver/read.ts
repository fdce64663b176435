/** The reading verbs: get and list. */
import type { Resource } from '../api/meta.ts';
import { apiVersionOf } from '../api/registry.ts';
import type { Page } from '../ports/store.ts';
import { type Answer, answer, type Call, type Context, refused, subjectOf } from './call.ts';
import { listOptionsOf } from './query.ts';
import { storeRefusal } from './refusal.ts';

/** Answers with one object, at its latest version. */
export const getObject = async ({ store }: Context, call: Call): Promise<Answer> => {
  const result = await store.get(call.info.kind, call.namespace ?? '', call.name ?? '', { fresh: true });
  return result.ok ? answer(200, result.value) : refused(call, storeRefusal(result.error, subjectOf(call)));
};

/** Kubernetes' list object for a page. */
export const listBody = (call: Call, page: Page<Resource>): object => ({
  kind: `${call.info.kind}List`,
  apiVersion: apiVersionOf(call.info),
  metadata: { resourceVersion: page.resourceVersion, ...(page.continue === undefined ? {} : { continue: page.continue }) },
  items: page.items,
});

/** Answers with a page of a collection. */
export const listObjects = async ({ store }: Context, call: Call): Promise<Answer> => {
  const result = await store.list(call.info.kind, listOptionsOf(call.query, call.namespace));
  return result.ok ? answer(200, listBody(call, result.value)) : refused(call, storeRefusal(result.error, subjectOf(call)));
};
