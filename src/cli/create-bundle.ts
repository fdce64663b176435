import { type Command, Option } from 'commander';
import type { Bundle } from '../api/kinds/bundle.ts';
import type { Pipeline } from '../api/kinds/pipeline.ts';
import { bundleName, bundleVersion } from '../api/names.ts';
import { KINDS } from '../api/registry.ts';
import { intentProblems } from '../core/bundle-request/intent-problems.ts';
import { NO_ORIGINS } from '../core/bundle-request/pointer.ts';
import { equal } from '../core/equal.ts';
import type { Store } from '../ports/store.ts';
import { type DraftOptions, draftBundle } from './bundle-draft.ts';
import { type CommandContext, type ServerOptions, serverOptions, withServer } from './command.ts';
import { type End, failed, misused, refusedBy, succeeded } from './end.ts';
import { notFound } from './not-found.ts';
import { warnIfNotReady } from './not-ready.ts';
import { optionsOf } from './views.ts';
import type { Terminal, Wiring } from './wiring.ts';

interface CreateOptions extends ServerOptions, DraftOptions {
  readonly dryRun?: boolean;
}

const typeOf = (bundle: Bundle): string => bundle.spec?.type ?? 'image';

/** Same pipeline, type and version is a duplicate, whatever its name is. */
const duplicateOf = (wanted: Bundle, present: readonly Bundle[]): Bundle | undefined =>
  present.find(
    (other) =>
      other.spec?.pipeline === wanted.spec?.pipeline &&
      typeOf(other) === typeOf(wanted) &&
      bundleVersion(other.spec ?? {}) === bundleVersion(wanted.spec ?? {}),
  );

const refuseDuplicate = (wanted: Bundle, other: Bundle): End => {
  const contents = (bundle: Bundle) => [bundle.spec?.images ?? [], bundle.spec?.configRef ?? {}];
  const same = equal(contents(wanted), contents(other)) ? 'with the same content' : 'with other content';
  return failed(
    `Bundle ${other.metadata.name} already carries version ${bundleVersion(wanted.spec ?? {})} of ${wanted.spec?.pipeline}, ${same} ` +
      `(phase ${other.status?.phase ?? 'Available'}). Use another tag or --version, such as --version ${bundleVersion(wanted.spec ?? {})}-2.`,
  );
};

/** What the flags name must be in the Pipeline, as the Bundle endpoint asks for it too; the Bundle would wait for ever. */
const refuseIntent = (wanted: Bundle, pipeline: Pipeline): End | undefined => {
  const [problem] = intentProblems({ bundle: wanted, origins: NO_ORIGINS }, pipeline);
  if (problem === undefined) return undefined;
  return misused(`${problem.pointer.startsWith('/intent/targetEnvironment') ? '--target' : '--skip'}: ${problem.detail}.`);
};

const submit = async (store: Store, wanted: Bundle, options: CreateOptions, terminal: Terminal): Promise<End> => {
  const pipeline = wanted.spec?.pipeline ?? '';
  const namespace = wanted.metadata.namespace ?? '';
  const found = await store.get('Pipeline', namespace, pipeline);
  if (!found.ok) return found.error.code === 'NotFound' ? notFound(store, KINDS.Pipeline, namespace, pipeline) : refusedBy(found.error);
  const unfit = refuseIntent(wanted, found.value);
  if (unfit !== undefined) return unfit;
  const present = await store.list('Bundle', { ...optionsOf({ where: { namespace }, pipeline }), fresh: true });
  if (!present.ok) return refusedBy(present.error);
  const duplicate = duplicateOf(wanted, present.value.items);
  if (duplicate !== undefined) return refuseDuplicate(wanted, duplicate);
  const write = { dryRun: options.dryRun ?? false };
  let written = await store.create<Bundle>(wanted, write);
  if (!written.ok && written.error.code === 'AlreadyExists') {
    // The name belongs to a different Bundle, or somebody was faster with this very one.
    const again = await store.list('Bundle', { ...optionsOf({ where: { namespace }, pipeline }), fresh: true });
    const other = again.ok ? duplicateOf(wanted, again.value.items) : undefined;
    if (other !== undefined) return refuseDuplicate(wanted, other);
    const name = bundleName(pipeline, bundleVersion(wanted.spec ?? {}), typeOf(wanted)).name;
    written = await store.create<Bundle>({ ...wanted, metadata: { ...wanted.metadata, name } }, write);
  }
  if (!written.ok) return refusedBy(written.error);
  warnIfNotReady(found.value, terminal);
  for (const warning of written.warnings) terminal.err(`warning: ${warning}\n`);
  terminal.out(`bundle/${written.object.metadata.name} created${write.dryRun ? ' (dry run)' : ''}\n`);
  if (terminal.interactive && !write.dryRun) terminal.err(`Follow it with \`promoter explain ${pipeline} --watch\`.\n`);
  return succeeded;
};

const run = async (pipeline: string, options: CreateOptions, wiring: Wiring): Promise<End> => {
  // What is wrong with the flags is said before a server is looked for.
  const draft = draftBundle(pipeline, 'default', options);
  if (!draft.ok) return draft.end;
  return withServer(wiring, options, ({ store }, namespace) =>
    submit(store, { ...draft.value, metadata: { ...draft.value.metadata, namespace } }, options, wiring.terminal),
  );
};

/** Gathers a repeated flag; a variadic one would swallow the argument that follows it. */
const collect = (given: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), given];

/** `promoter create bundle PIPELINE`. */
export const addCreateBundle = (parent: Command, { wiring, run: keep }: CommandContext): void => {
  serverOptions(parent.command('bundle'))
    .description('create a Bundle: what to deploy, for one pipeline')
    .argument('<pipeline>', 'name of the pipeline that promotes it')
    .option('--image <reference>', 'repository:tag, repository@sha256:<hex> or both; may be repeated', collect)
    .addOption(new Option('--type <type>', 'what it carries (default: what the other flags say)').choices(['image', 'config', 'mixed']))
    .option('--version <version>', 'overrides the version that is otherwise the first tag or commit')
    .option('--label <key=value>', 'label of the Bundle; may be repeated', collect)
    .option('--author <name>', 'who made the change')
    .option('--commit <sha>', 'source commit that the artifacts were built from')
    .option('--ci-run-url <url>', 'URL of the CI run')
    .option('--target <environment>', 'the last environment to promote to (default: prod)')
    .option('--skip <environment>', 'environment to skip; may be repeated, commas work too', collect)
    .option('--config-repo <url>', 'repository of the configuration commit')
    .option('--config-commit <sha>', 'configuration commit')
    .option('--dry-run', 'have everything checked and write nothing')
    .action((pipeline: string, options: CreateOptions) => keep(() => run(pipeline, options, wiring)));
};
