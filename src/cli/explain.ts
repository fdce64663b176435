import { Option } from 'commander';
import type { Pipeline } from '../api/kinds/pipeline.ts';
import { KINDS } from '../api/registry.ts';
import { isFinished, phaseOf } from '../core/bundle/phases.ts';
import type { Explanation } from '../core/explain/index.ts';
import type { Store } from '../ports/store.ts';
import { askExplanation, type ExplanationQuestion } from './ask-explanation.ts';
import { type CommandModule, type ServerOptions, serverOptions, withServer } from './command.ts';
import { type End, ends, failed, misused, refusedBy, succeeded } from './end.ts';
import { explanationText } from './explanation-text.ts';
import { namespaceName } from './namespace-name.ts';
import { notFound } from './not-found.ts';
import { warnIfNotReady } from './not-ready.ts';
import { warnOfStrays } from './strays.ts';
import { didYouMean } from './suggest.ts';
import { optionsOf } from './views.ts';
import type { Connection, Wiring } from './wiring.ts';

interface ExplainOptions extends ServerOptions {
  readonly env?: string;
  readonly watch?: boolean;
  readonly output: 'text' | 'json';
  readonly policyNamespace: string;
}

/** One `explain` under way. */
interface Asking {
  readonly connection: Connection;
  readonly wiring: Wiring;
  readonly question: ExplanationQuestion;
  readonly options: ExplainOptions;
}

/** The answer; `lost` tells an unreachable server from a question that has no answer. */
type Asked =
  | { readonly ok: true; readonly value: Explanation; readonly pipeline: Pipeline }
  | { readonly ok: false; readonly end: End; readonly lost?: boolean };

const WATCH_EVERY_MS = 1000;

/** There is no such Pipeline: says so, and which of its Bundles wait for one. */
const withoutPipeline = async (store: Store, namespace: string, pipeline: string): Promise<End> => {
  const end = await notFound(store, KINDS.Pipeline, namespace, pipeline);
  const bundles = await store.list('Bundle', optionsOf({ where: { namespace }, pipeline }));
  const waiting = (bundles.ok ? bundles.value.items : []).filter((bundle) => !isFinished(bundle.status));
  if (waiting.length === 0 || end.code === 0) return end;
  const names = waiting.slice(0, 5).map((bundle) => `${bundle.metadata.name} (${phaseOf(bundle.status)})`);
  const more = waiting.length > names.length ? ', ...' : '';
  return failed(`${end.message} ${waiting.length} Bundle${waiting.length === 1 ? ' waits' : 's wait'} for it: ${names.join(', ')}${more}.`);
};

/** Asks once. */
const ask = async ({ connection, wiring, question, options }: Asking): Promise<Asked> => {
  const { store, cluster } = connection;
  const { namespace, pipeline, env } = question;
  const found = await store.get('Pipeline', namespace, pipeline);
  if (!found.ok && found.error.code === 'NotFound') return ends(await withoutPipeline(store, namespace, pipeline));
  if (!found.ok) return { ...ends(refusedBy(found.error)), lost: found.error.code === 'Unavailable' };
  const names = (found.value.spec?.environments ?? []).map((environment) => environment.name ?? '');
  if (env !== undefined && !names.includes(env)) {
    const near = didYouMean(env, names);
    return ends(misused(`Pipeline ${pipeline} has no environment "${env}".${near} Environments: ${names.join(', ')}.`));
  }
  const source = { store, cluster, clock: wiring.clock, policyNamespace: options.policyNamespace };
  const explained = await askExplanation(source, question);
  if (explained.ok) return { ok: true, value: explained.value, pipeline: found.value };
  return { ...ends(refusedBy(explained.error)), lost: explained.error.code === 'Unavailable' };
};

const render = (explanation: Explanation, { options, wiring }: Asking): string =>
  options.output === 'json'
    ? `${JSON.stringify(explanation, undefined, options.watch ? undefined : 2)}\n`
    : explanationText(explanation, { detailed: options.env !== undefined, now: wiring.clock.now(), terminal: wiring.terminal });

/** What makes an explanation worth printing again: not the ages in it. */
const newsOf = ({ bundle, environments }: Explanation): string =>
  JSON.stringify([
    bundle?.name,
    bundle?.phase,
    environments.map(({ name, state, reason, commit, steps }) => [name, state, reason, commit, steps]),
  ]);

/** Asks again each second and prints what differs, until the process is ended. */
const watch = async (asking: Asking): Promise<End> => {
  const { terminal } = asking.wiring;
  let last = '';
  let lost = false;
  for (;;) {
    const asked = await ask(asking);
    if (!asked.ok && !(asked.lost && last !== '')) return asked.end;
    if (!asked.ok && !lost) terminal.err('The connection is lost and tried again.\n');
    lost = !asked.ok;
    if (asked.ok) {
      const news = newsOf(asked.value);
      const text = render(asked.value, asking);
      if (news !== last) terminal.out(last === '' || asking.options.output === 'json' ? text : `\n${text}`);
      last = news;
    }
    await new Promise((resolve) => setTimeout(resolve, WATCH_EVERY_MS));
  }
};

/** `promoter explain PIPELINE`. */
export const explainCommand: CommandModule = {
  add: (parent, { wiring, run }) => {
    serverOptions(parent.command('explain'))
      .description('say where a pipeline stands, and why')
      .argument('<pipeline>', 'name of the pipeline')
      .option('--env <environment>', 'only this environment, step by step')
      .option('-w, --watch', 'go on and print what changes')
      .addOption(new Option('-o, --output <format>', 'how to print').choices(['text', 'json']).default('text'))
      .addOption(
        new Option('--policy-namespace <name>', 'namespace of org gates')
          .env('PROMOTER_POLICY_NAMESPACE')
          .default('platform-policies')
          .argParser(namespaceName),
      )
      .action((pipeline: string, options: ExplainOptions) =>
        run(() =>
          withServer(wiring, options, async (connection, namespace) => {
            const question = { namespace, pipeline, ...(options.env === undefined ? {} : { env: options.env }) };
            const asking = { connection, wiring, question, options };
            if (options.watch) return watch(asking);
            const asked = await ask(asking);
            if (!asked.ok) return asked.end;
            wiring.terminal.out(render(asked.value, asking));
            warnIfNotReady(asked.pipeline, wiring.terminal);
            await warnOfStrays(connection.store, namespace, pipeline, wiring.terminal);
            return succeeded;
          }),
        ),
      );
  },
};
