import type { ObjectMeta } from '../api/meta.ts';
import type { KindMap, KindName } from '../api/registry.ts';
import { equal } from '../core/equal.ts';
import type { StoreError, WriteResult } from '../ports/store.ts';
import { type CommandModule, type ServerOptions, serverOptions, withServer } from './command.ts';
import { type Documents, type ResourceDocument, readDocuments } from './documents.ts';
import { describeStoreError, type End, failed, succeeded } from './end.ts';
import { displayName } from './kind-words.ts';
import type { Connection, Terminal } from './wiring.ts';

interface ApplyOptions extends ServerOptions {
  readonly filename: readonly string[];
  readonly dryRun?: boolean;
}

type AnyObject = KindMap[KindName];
type Applied =
  | { readonly ok: true; readonly what: string; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly error: StoreError };

/** Why an object was not taken, and whether the server was out of reach. */
interface Refused {
  readonly sentence: string;
  readonly away: boolean;
}

/** What is asked for over what is there: given labels and annotations win, others stay; so do owners and finalizers. */
const over = (wanted: AnyObject, present: AnyObject): AnyObject => {
  const labels = { ...present.metadata.labels, ...wanted.metadata.labels };
  const annotations = { ...present.metadata.annotations, ...wanted.metadata.annotations };
  const metadata: ObjectMeta = {
    ...present.metadata,
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
  return { ...wanted, metadata };
};

const sameContent = (a: AnyObject, b: AnyObject): boolean =>
  equal({ ...a, metadata: { ...a.metadata, resourceVersion: '' } }, { ...b, metadata: { ...b.metadata, resourceVersion: '' } });

const result = (written: WriteResult<AnyObject>, what: (object: AnyObject) => string): Applied =>
  written.ok ? { ok: true, what: what(written.object), warnings: written.warnings } : { ok: false, error: written.error };

/** Creates the object, or writes it over the present one; repeated when somebody else wrote in between. */
const put = async ({ store }: Connection, wanted: AnyObject, dryRun: boolean): Promise<Applied> => {
  const { name, namespace = '' } = wanted.metadata;
  for (let attempt = 1; ; attempt += 1) {
    const present = await store.get(wanted.kind, namespace, name, { fresh: true });
    if (!present.ok && present.error.code !== 'NotFound') return { ok: false, error: present.error };
    const written = present.ok
      ? await store.update<AnyObject>(over(wanted, present.value), { dryRun })
      : await store.create<AnyObject>(wanted, { dryRun });
    const race = !written.ok && ['Conflict', 'AlreadyExists', 'NotFound'].includes(written.error.code);
    if (race && attempt < 5) continue;
    if (!present.ok) return result(written, () => 'created');
    return result(written, (object) => (sameContent(object, present.value) ? 'unchanged' : 'configured'));
  }
};

const placed = ({ info, object }: ResourceDocument, namespace: string): AnyObject => {
  const { namespace: own, ...rest } = object.metadata;
  const metadata = info.namespaced ? { ...rest, namespace: own ?? namespace } : rest;
  return { ...object, metadata } as AnyObject;
};

/** How to apply, and where to say how it went. */
interface How {
  readonly namespace: string;
  readonly dryRun: boolean;
  readonly terminal: Terminal;
}

/** Applies one object and says so; undefined when it was taken. */
const applyOne = async (
  connection: Connection,
  document: ResourceDocument,
  { namespace, dryRun, terminal }: How,
): Promise<Refused | undefined> => {
  const object = placed(document, namespace);
  const applied = await put(connection, object, dryRun);
  if (!applied.ok) {
    const sentence = `${displayName(object)} (${document.source}): ${describeStoreError(applied.error)}`;
    return { sentence, away: applied.error.code === 'Unavailable' };
  }
  for (const warning of applied.warnings) terminal.err(`warning: ${displayName(object)}: ${warning}\n`);
  terminal.out(`${displayName(object)} ${applied.what}${dryRun ? ' (dry run)' : ''}\n`);
  return undefined;
};

/** How many of what was given went wrong, as the last sentence. */
const summary = (unread: number, refused: number, { of, dryRun }: { readonly of: number; readonly dryRun: boolean }): string => {
  const counts = [
    ...(unread === 0 ? [] : [`${unread} could not be read`]),
    ...(refused === 0 ? [] : [`${refused} of ${of} objects were refused`]),
  ];
  const others = dryRun ? 'the others would be taken' : 'the others are applied';
  return `${counts.join(' and ')}; ${refused === of ? 'nothing was applied' : others}.`;
};

/** Applies what could be read, tells every fault, and ends with the number of them; a single fault of a single object is the end itself. */
const applyAll = async (connection: Connection, { documents, problems }: Documents, how: How): Promise<End> => {
  const { terminal, dryRun } = how;
  for (const problem of problems) terminal.err(`error: ${problem}\n`);
  let refused = 0;
  for (const document of documents) {
    const fault = await applyOne(connection, document, how);
    if (fault === undefined) continue;
    refused += 1;
    if (documents.length === 1 && problems.length === 0) return failed(fault.sentence);
    terminal.err(`error: ${fault.sentence}\n`);
    if (fault.away) return failed('The server went away; what was not named above was not applied.');
  }
  if (refused + problems.length === 0) return succeeded;
  return failed(summary(problems.length, refused, { of: documents.length, dryRun }));
};

/** `promoter apply -f`. */
export const apply: CommandModule = {
  add: (parent, { wiring, run }) => {
    serverOptions(parent.command('apply'))
      .description('create or update resources from files')
      .requiredOption(
        '-f, --filename <path...>',
        'file, folder (without those inside it) or - for standard input; several documents in one file are fine',
      )
      .option('--dry-run', 'have everything checked and write nothing')
      .action((options: ApplyOptions) =>
        run(async () => {
          const { terminal } = wiring;
          const read = await readDocuments(options.filename, terminal.readInput);
          if (!read.ok) return read.end;
          const { documents, problems, notes } = read.value;
          for (const note of notes) terminal.err(`note: ${note}\n`);
          const [only] = problems;
          if (documents.length === 0 && problems.length === 1 && only !== undefined) return failed(only);
          return withServer(wiring, options, (connection, namespace) =>
            applyAll(connection, read.value, { namespace, dryRun: options.dryRun ?? false, terminal }),
          );
        }),
      );
  },
};
