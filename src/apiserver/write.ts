/** The writing verbs: create, update and patch. */
import type { KindInfo, KindMap, KindName } from '../api/registry.ts';
import type { StoreError, WriteOptions, WriteResult } from '../ports/store.ts';
import { type Answer, answer, type Call, type Context, refused, subjectOf } from './call.ts';
import { parseObject } from './object-body.ts';
import { applyTypedPatch, patchTypes } from './patch.ts';
import { PROTOBUF } from './protobuf-body.ts';
import { badRequest, type Parsed, storeRefusal } from './refusal.ts';
import { unknownFields } from './unknown-fields.ts';

type Stored = KindMap[KindName];
type Write = (object: Stored, options: WriteOptions) => Promise<WriteResult<Stored>>;

/** How often a patch that names no resourceVersion is applied again to a newer object. */
const PATCH_ATTEMPTS = 8;

const CREATE_STATUS = 201;
/** A list of a thousand unknown fields helps nobody. */
const MAX_NAMED = 32;

const isAnswer = (end: Answer | StoreError): end is Answer => 'ok' in end;

/** Writes, having handled fields that no schema knows as the client asked: refused, named in warnings, or dropped in silence. */
const write = async (call: Call, object: Stored, run: Write): Promise<Answer | StoreError> => {
  const unknown = unknownFields(call.info, object).map((path) => `unknown field "${path}"`);
  const { fieldValidation, dryRun } = call.query;
  if (fieldValidation === 'Strict' && unknown.length > 0) {
    return refused(call, badRequest(`strict decoding error: ${unknown.slice(0, MAX_NAMED).join(', ')}`), object.metadata.name);
  }
  const result = await run(object, { dryRun });
  if (!result.ok) return result.error;
  const silent = fieldValidation === 'Ignore';
  return answer(200, result.object, silent ? result.warnings.filter((warning) => !unknown.includes(warning)) : result.warnings);
};

const settle = (call: Call, end: Answer | StoreError, name: string): Answer =>
  isAnswer(end) ? end : refused(call, storeRefusal(end, subjectOf(call, name)), name);

/** Makes a new object (201). */
export const createObject = async ({ store }: Context, call: Call): Promise<Answer> => {
  const parsed = parseObject(call.body, call);
  if (!parsed.ok) return refused(call, parsed.refusal);
  const end = await write(call, parsed.value, (object, options) => store.create(object, options));
  const settled = settle(call, end, parsed.value.metadata.name || parsed.value.metadata.generateName || '');
  return settled.ok ? { ...settled, code: CREATE_STATUS } : settled;
};

const writer = ({ store }: Context, call: Call): Write =>
  call.status ? (object, options) => store.updateStatus(object, options) : (object, options) => store.update(object, options);

/** Replaces an object, or its status. */
export const updateObject = async (context: Context, call: Call): Promise<Answer> => {
  const parsed = parseObject(call.body, call);
  if (!parsed.ok) return refused(call, parsed.refusal);
  return settle(call, await write(call, parsed.value, writer(context, call)), call.name ?? '');
};

const patched = (call: Call, current: Stored): Parsed<Stored> => {
  const applied = applyTypedPatch(current, call.body, call.contentType);
  return applied.ok ? parseObject(applied.value, call) : applied;
};

/**
 * Applies a merge or JSON patch to the latest version. When the object changes in between, the patch is applied again to what it has become,
 * unless the patch itself names the version that it is meant for.
 */
export const patchObject = async (context: Context, call: Call): Promise<Answer> => {
  let error: StoreError | undefined;
  for (let attempt = 0; attempt < PATCH_ATTEMPTS; attempt++) {
    const current = await context.store.get(call.info.kind, call.namespace ?? '', call.name ?? '', { fresh: true });
    if (!current.ok) return refused(call, storeRefusal(current.error, subjectOf(call)));
    const wanted = patched(call, current.value);
    if (!wanted.ok) return refused(call, wanted.refusal);
    const end = await write(call, wanted.value, writer(context, call));
    if (isAnswer(end)) return end;
    error = end;
    const pinned = wanted.value.metadata.resourceVersion !== current.value.metadata.resourceVersion;
    if (pinned || end.code !== 'Conflict') break;
  }
  return settle(call, error ?? { code: 'Conflict', message: 'the object keeps changing' }, call.name ?? '');
};

/** The media types of bodies that a verb takes. */
export const acceptedTypes = (method: string, info: KindInfo): readonly string[] =>
  method === 'PATCH' ? patchTypes(info) : ['application/json', PROTOBUF];
