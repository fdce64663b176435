import { stringify } from 'yaml';
import { KINDS, type KindMap } from '../api/registry.ts';
import { isEnded, stateOf } from '../core/step/states.ts';
import { ageOf } from './age.ts';
import { versionOf } from './columns.ts';
import { type CommandModule, type ReadCommandOptions, readOptions, withServer } from './command.ts';
import { type End, refusedBy, succeeded } from './end.ts';
import { type EnvironmentLine, environmentsOf } from './environments.ts';
import { notFound } from './not-found.ts';
import { listed } from './print.ts';
import { table } from './table.ts';
import { newestFirst, optionsOf } from './views.ts';
import type { Connection, Wiring } from './wiring.ts';

/** One Bundle with all that is known of its way. */
interface Entry {
  readonly bundle: KindMap['Bundle'];
  readonly environments: readonly EnvironmentLine[];
}

const rowsOf = ({ bundle, environments }: Entry, now: number): string[][] => {
  const head = [bundle.metadata.name, versionOf(bundle), bundle.status?.phase ?? 'Available'];
  if (environments.length === 0) return [[...head, '-', '-', '-', '-']];
  return environments.map(({ name, state, commit, at }, index) => [
    ...(index === 0 ? head : ['', '', '']),
    name,
    // A Bundle that was replaced is not at work anywhere any more, whatever its record says it was doing.
    bundle.status?.phase === 'Superseded' && !isEnded(stateOf({ state })) ? 'Superseded' : state,
    commit === undefined ? '-' : commit.slice(0, 12),
    at === undefined ? '-' : `${at.slice(0, 19).replace('T', ' ')}Z (${ageOf(at, now)} ago)`,
  ]);
};

const plain = ({ bundle, environments }: Entry) => ({
  bundle: bundle.metadata.name,
  version: versionOf(bundle),
  phase: bundle.status?.phase ?? 'Available',
  createdAt: bundle.metadata.creationTimestamp,
  environments,
});

const entriesOf = async (
  { store }: Connection,
  namespace: string,
  pipeline: string,
  options: ReadCommandOptions,
): Promise<{ readonly ok: true; readonly entries: readonly Entry[] } | { readonly ok: false; readonly end: End }> => {
  const where = { namespace, ...(options.selector === undefined ? {} : { labelSelector: options.selector }) };
  const bundles = await store.list('Bundle', optionsOf({ where, pipeline }));
  if (!bundles.ok) return { ok: false, end: refusedBy(bundles.error) };
  if (bundles.value.items.length === 0 && !(await store.get('Pipeline', namespace, pipeline)).ok) {
    return { ok: false, end: await notFound(store, KINDS.Pipeline, namespace, pipeline) };
  }
  const steps = await store.list('PromotionStep', optionsOf({ where: { namespace }, pipeline }));
  if (!steps.ok) return { ok: false, end: refusedBy(steps.error) };
  const entries = bundles.value.items
    .toSorted(newestFirst)
    .map((bundle) => ({ bundle, environments: environmentsOf(bundle, steps.value.items) }));
  return { ok: true, entries };
};

const show = ({ terminal, clock }: Wiring, entries: readonly Entry[], format: ReadCommandOptions['output']): End => {
  const bundles = entries.map((entry) => entry.bundle);
  if (format === 'json') terminal.out(`${JSON.stringify(entries.map(plain), undefined, 2)}\n`);
  else if (format === 'yaml') terminal.out(stringify(entries.map(plain), { lineWidth: 0 }));
  else if (format === 'name') terminal.out(listed(bundles, 'name'));
  else if (entries.length === 0) terminal.err('No Bundle yet. Create one with `promoter create bundle`.\n');
  else {
    const rows = entries.flatMap((entry) => rowsOf(entry, clock.now()));
    terminal.out(table(['BUNDLE', 'VERSION', 'PHASE', 'ENV', 'STATE', 'COMMIT', 'SINCE'], rows, terminal));
  }
  return succeeded;
};

/** `promoter history PIPELINE`. */
export const history: CommandModule = {
  add: (parent, { wiring, run }) => {
    readOptions(parent.command('history'), 'once')
      .description('the Bundles of a pipeline, newest first, with the commit of each environment')
      .argument('<pipeline>', 'name of the pipeline')
      .action((pipeline: string, options: ReadCommandOptions) =>
        run(() =>
          withServer(wiring, options, async (connection, namespace) => {
            const read = await entriesOf(connection, namespace, pipeline, options);
            return read.ok ? show(wiring, read.entries, options.output) : read.end;
          }),
        ),
      );
  },
};
