import { KINDS, type KindInfo, type KindName } from '../api/registry.ts';
import type { ListOptions, StoreError } from '../ports/store.ts';
import { type CommandModule, type ReadCommandOptions, readOptions, withServer } from './command.ts';
import { type Either, type End, ends, refusedBy, succeeded, value } from './end.ts';
import { kindOfWord, kindWords } from './kind-words.ts';
import { notFound } from './not-found.ts';
import { listed, type ObjectFormat, printed } from './print.ts';
import { warnOfStrays } from './strays.ts';
import { table } from './table.ts';
import { optionsOf, type Scope, viewOf } from './views.ts';
import { watchObjects, watchTable } from './watch.ts';
import type { Wiring } from './wiring.ts';

const placeOf = ({ namespace }: ListOptions): ListOptions => (namespace === undefined ? {} : { namespace });

/**
 * What the optional argument means: of Bundles and PromotionSteps the Pipeline they belong to, or else one of them by name; of all other kinds
 * a name.
 */
const narrowed = async (scope: Scope, argument: string | undefined): Promise<Either<Scope | undefined>> => {
  if (argument === undefined) return value(scope);
  const { store, info, where } = scope;
  let error: StoreError | undefined;
  // Only an answer says that there is none.
  const any = async (kind: KindName, options: ListOptions): Promise<boolean> => {
    const found = await store.list(kind, { ...options, limit: 1 });
    if (!found.ok) error ??= found.error;
    return found.ok && found.value.items.length > 0;
  };
  if (info.kind === 'Bundle' || info.kind === 'PromotionStep') {
    const pipeline = { ...scope, pipeline: argument };
    if (await any('Pipeline', optionsOf({ where: placeOf(where), name: argument }))) return value(pipeline);
    if (await any('Bundle', optionsOf({ where: placeOf(where), pipeline: argument }))) return value(pipeline);
  }
  if (await any(info.kind, optionsOf({ where, name: argument }))) return value({ ...scope, name: argument });
  return error === undefined ? value(undefined) : ends(refusedBy(error));
};

const printTable = async (scope: Scope, wiring: Wiring): Promise<End> => {
  const view = viewOf(scope);
  const read = await view.read();
  if (!read.ok) return refusedBy(read.error);
  if (read.rows.length === 0) {
    const where = scope.where.namespace === undefined ? '' : ` in namespace ${scope.where.namespace}`;
    wiring.terminal.err(`No ${scope.info.plural}${where}.\n`);
    return succeeded;
  }
  wiring.terminal.out(
    table(
      view.header,
      read.rows.map((row) => row.cells),
      wiring.terminal,
    ),
  );
  return succeeded;
};

const printObjects = async (scope: Scope, format: ObjectFormat, wiring: Wiring): Promise<End> => {
  const list = await scope.store.list(scope.info.kind, optionsOf(scope));
  if (!list.ok) return refusedBy(list.error);
  const { items } = list.value;
  const only = scope.name !== undefined && items.length === 1 ? items[0] : undefined;
  wiring.terminal.out(only === undefined ? listed(items, format) : printed(only, format, false));
  return succeeded;
};

const show = async (scope: Scope, argument: string | undefined, options: ReadCommandOptions, wiring: Wiring): Promise<End> => {
  const found = await narrowed(scope, argument);
  if (!found.ok) return found.end;
  const narrow = found.value;
  if (narrow === undefined) {
    const subject: KindInfo = scope.info.kind === 'Bundle' || scope.info.kind === 'PromotionStep' ? KINDS.Pipeline : scope.info;
    return notFound(scope.store, subject, scope.info.namespaced ? (scope.where.namespace ?? '') : '', argument ?? '');
  }
  if (options.watch) {
    // A watch tries again for ever once it has begun; that it can begin at all is found out here.
    const first = await scope.store.list(scope.info.kind, { ...scope.where, limit: 1 });
    if (!first.ok) return refusedBy(first.error);
  }
  if (options.watch) return options.output === 'table' ? watchTable(narrow, wiring) : watchObjects(narrow, options.output, wiring);
  const end = await (options.output === 'table' ? printTable(narrow, wiring) : printObjects(narrow, options.output, wiring));
  if (end.code === 0 && narrow.info.kind === 'Bundle' && narrow.pipeline !== undefined && narrow.where.labelSelector === undefined) {
    await warnOfStrays(narrow.store, narrow.where.namespace, narrow.pipeline, wiring.terminal);
  }
  return end;
};

/** `promoter get KIND [NAME]`. */
export const get: CommandModule = {
  add: (parent, { wiring, run }) => {
    readOptions(parent.command('get'))
      .description('list resources, or show one')
      .argument('<kind>', `one of ${kindWords().join(', ')}; singular and short names work too`)
      .argument('[name]', 'one object; of bundles and steps: those of this pipeline')
      .action((word: string, name: string | undefined, options: ReadCommandOptions) =>
        run(async () => {
          const info = kindOfWord(word);
          if (!info.ok) return info.end;
          return withServer(wiring, options, ({ store }, namespace) => {
            const everywhere = options.allNamespaces === true || !info.value.namespaced;
            const where: ListOptions = {
              ...(everywhere ? {} : { namespace }),
              ...(options.selector === undefined ? {} : { labelSelector: options.selector }),
            };
            const allNamespaces = options.allNamespaces === true && info.value.namespaced;
            return show({ store, info: info.value, where, allNamespaces, now: wiring.clock.now }, name, options, wiring);
          });
        }),
      );
  },
};
