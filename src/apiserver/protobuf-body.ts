/**
 * Bodies in Kubernetes' protobuf encoding, which its command-line tool sends for `create secret`, `create configmap` and `create namespace`
 * whatever a server says it takes. Only these kinds are read; the answer is always JSON.
 */
import type { JsonObject } from './object-body.ts';
import { type Parsed, type Refusal, refuse } from './refusal.ts';

/** The media type of these bodies. */
export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

type FieldType = 'text' | 'texts' | 'flag' | 'number' | 'time' | 'textMap' | 'bytesMap' | 'empty' | Message | readonly [Message];
/** Name and type of each field, by its number. */
interface Message {
  readonly [number: number]: readonly [name: string, type: FieldType];
}

const OWNER: Message = {
  1: ['kind', 'text'],
  3: ['name', 'text'],
  4: ['uid', 'text'],
  5: ['apiVersion', 'text'],
  6: ['controller', 'flag'],
  7: ['blockOwnerDeletion', 'flag'],
};
const METADATA: Message = {
  1: ['name', 'text'],
  2: ['generateName', 'text'],
  3: ['namespace', 'text'],
  4: ['selfLink', 'text'],
  5: ['uid', 'text'],
  6: ['resourceVersion', 'text'],
  7: ['generation', 'number'],
  8: ['creationTimestamp', 'time'],
  9: ['deletionTimestamp', 'time'],
  11: ['labels', 'textMap'],
  12: ['annotations', 'textMap'],
  13: ['ownerReferences', [OWNER]],
  14: ['finalizers', 'texts'],
};
const KINDS: Readonly<Record<string, Message>> = {
  'v1 Secret': {
    1: ['metadata', METADATA],
    2: ['data', 'bytesMap'],
    3: ['type', 'text'],
    4: ['stringData', 'textMap'],
    5: ['immutable', 'flag'],
  },
  'v1 ConfigMap': { 1: ['metadata', METADATA], 2: ['data', 'textMap'], 3: ['binaryData', 'bytesMap'], 4: ['immutable', 'flag'] },
  'v1 Namespace': { 1: ['metadata', METADATA], 2: ['spec', 'empty'], 3: ['status', 'empty'] },
};
const TYPE: Message = { 1: ['apiVersion', 'text'], 2: ['kind', 'text'] };
/** Fields of the envelope around every object. */
const TYPE_FIELD = 1;
const RAW_FIELD = 2;

interface Entry {
  readonly field: number;
  readonly value: number | Uint8Array;
}

/** Reads one number of variable length; undefined when the bytes end or it is too large to be exact. */
const readVarint = (bytes: Uint8Array, start: number): { readonly value: number; readonly next: number } | undefined => {
  let value = 0;
  for (let index = start, scale = 1; index < bytes.length && value <= Number.MAX_SAFE_INTEGER; index++, scale *= 128) {
    const byte = bytes[index] ?? 0;
    value += (byte & 127) * scale;
    if (byte < 128) return { value, next: index + 1 };
  }
  return undefined;
};

/** The fields of a message in their order; undefined when the bytes are no message. */
const readEntries = (bytes: Uint8Array): readonly Entry[] | undefined => {
  const entries: Entry[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(bytes, at);
    const number = tag && readVarint(bytes, tag.next);
    if (!tag || !number) return undefined;
    const field = Math.floor(tag.value / 8);
    const isBytes = tag.value % 8 === 2;
    const end = isBytes ? number.next + number.value : number.next;
    if ((!isBytes && tag.value % 8 !== 0) || end > bytes.length) return undefined;
    entries.push({ field, value: isBytes ? bytes.subarray(number.next, end) : number.value });
    at = end;
  }
  return entries;
};

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const pairOf = (bytes: Uint8Array): readonly [string, Uint8Array] => {
  const fields = new Map(readEntries(bytes)?.map(({ field, value }) => [field, value]));
  const [key, value] = [fields.get(1), fields.get(2)];
  return [key instanceof Uint8Array ? textOf(key) : '', value instanceof Uint8Array ? value : new Uint8Array()];
};

const append = (target: JsonObject, name: string, value: unknown): void => {
  const list = target[name];
  target[name] = Array.isArray(list) ? [...list, value] : [value];
};

const setPair = (target: JsonObject, name: string, key: string, value: string): void => {
  target[name] = { ...(target[name] as JsonObject | undefined), [key]: value };
};

/** Puts one field into the object; false when its content is not understood. Texts that are empty count as absent. */
const setField = (target: JsonObject, name: string, type: FieldType, value: number | Uint8Array): boolean => {
  if (typeof value === 'number') {
    if (type === 'flag') target[name] = value !== 0;
    else if (type === 'number' && value !== 0) target[name] = value;
    return type === 'flag' || type === 'number';
  }
  switch (type) {
    case 'text':
      if (value.length > 0) target[name] = textOf(value);
      return true;
    case 'texts':
      append(target, name, textOf(value));
      return true;
    case 'textMap':
    case 'bytesMap': {
      const [key, content] = pairOf(value);
      setPair(target, name, key, type === 'textMap' ? textOf(content) : Buffer.from(content).toString('base64'));
      return true;
    }
    // The server sets timestamps, and these parts of a Namespace, itself.
    case 'time':
    case 'empty':
      return true;
    case 'flag':
    case 'number':
      return false;
    default:
      return setMessage(target, name, type, value);
  }
};

const setMessage = (target: JsonObject, name: string, type: Message | readonly [Message], bytes: Uint8Array): boolean => {
  const message = isListOf(type) ? type[0] : type;
  const inner = readMessage(bytes, message);
  if (!inner) return false;
  if (isListOf(type)) append(target, name, inner);
  else target[name] = inner;
  return true;
};

const isListOf = (type: Message | readonly [Message]): type is readonly [Message] => Array.isArray(type);

/** Undefined when something is in the message that is not understood: nothing is dropped in silence. */
const readMessage = (bytes: Uint8Array, message: Message): JsonObject | undefined => {
  const entries = readEntries(bytes);
  const target: JsonObject = {};
  const understood = entries?.every(({ field, value }) => {
    const known = message[field];
    return known !== undefined && setField(target, known[0], known[1], value);
  });
  return understood ? target : undefined;
};

const NOT_READ: Refusal = {
  code: 415,
  reason: 'UnsupportedMediaType',
  message:
    'of protobuf bodies only those of Secret, ConfigMap and Namespace are read; send application/json, ' +
    'for instance by `kubectl create … --dry-run=client -o yaml | kubectl apply -f -`',
};

const MAGIC = Buffer.from('k8s\0');

/** The JSON form of a protobuf body. */
export const decodeProtobuf = (body: Buffer): Parsed<JsonObject> => {
  const entries = body.subarray(0, MAGIC.length).equals(MAGIC) ? readEntries(body.subarray(MAGIC.length)) : undefined;
  const type = typeOf(entries ?? []);
  const raw = entries?.find(({ field }) => field === RAW_FIELD)?.value;
  const id = `${type.apiVersion} ${type.kind}`;
  const message = Object.hasOwn(KINDS, id) ? KINDS[id] : undefined;
  if (message === undefined || !(raw instanceof Uint8Array)) return refuse(NOT_READ);
  const object = readMessage(raw, message);
  return object ? { ok: true, value: { ...type, ...object } } : refuse(NOT_READ);
};

const typeOf = (entries: readonly Entry[]): { readonly apiVersion: string; readonly kind: string } => {
  const bytes = entries.find(({ field }) => field === TYPE_FIELD)?.value;
  const read = bytes instanceof Uint8Array ? readMessage(bytes, TYPE) : undefined;
  return { apiVersion: String(read?.['apiVersion'] ?? ''), kind: String(read?.['kind'] ?? '') };
};
