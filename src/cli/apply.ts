import type { ObjectMeta } from '../api/meta.ts';
import type { KindMap, KindName } from '../api/registry.ts';
import { equal } from '../core/equal.ts';
import type { StoreError, WriteResult } from '../ports/store.ts';
import { type CommandModule, type ServerOptions, serverOptions, withServer } from './command.ts';
import { type ResourceDocument, readDocuments } from './documents.ts';
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

const applyAll = async (
  connection: Connection,
  documents: readonly ResourceDocument[],
  how: { readonly namespace: string; readonly dryRun: boolean; readonly terminal: Terminal },
): Promise<End> => {
  let refused = 0;
  for (const document of documents) {
    const object = placed(document, how.namespace);
    const applied = await put(connection, object, how.dryRun);
    if (applied.ok) {
      for (const warning of applied.warnings) how.terminal.err(`warning: ${displayName(object)}: ${warning}\n`);
      how.terminal.out(`${displayName(object)} ${applied.what}${how.dryRun ? ' (dry run)' : ''}\n`);
      continue;
    }
    refused += 1;
    if (documents.length === 1) return failed(`${displayName(object)} (${document.source}): ${describeStoreError(applied.error)}`);
    how.terminal.err(`error: ${displayName(object)} (${document.source}): ${describeStoreError(applied.error)}\n`);
    if (applied.error.code === 'Unavailable') return failed('The server went away; what was not named above was not applied.');
  }
  return refused === 0 ? succeeded : failed(`${refused} of ${documents.length} objects were refused; the others are applied.`);
};

/** `promoter apply -f`. */
export const apply: CommandModule = {
  add: (parent, { wiring, run }) => {
    serverOptions(parent.command('apply'))
      .description('create or update resources from files')
      .requiredOption('-f, --filename <path...>', 'file, folder or - for standard input; several documents in one file are fine')
      .option('--dry-run', 'have everything checked and write nothing')
      .action((options: ApplyOptions) =>
        run(async () => {
          const { terminal } = wiring;
          const documents = await readDocuments(options.filename, terminal.readInput);
          if (!documents.ok) return documents.end;
          return withServer(wiring, options, (connection, namespace) =>
            applyAll(connection, documents.value, { namespace, dryRun: options.dryRun ?? false, terminal }),
          );
        }),
      );
  },
};
