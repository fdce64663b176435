import { Option } from 'commander';
import { KINDS } from '../api/registry.ts';
import { type Explanation, explain } from '../core/explain/index.ts';
import { gatherExplanation } from '../world/gather-explanation.ts';
import { type CommandModule, type ServerOptions, serverOptions, withServer } from './command.ts';
import { type Either, type End, endOf, ends, failed, misused, succeeded, value } from './end.ts';
import { explanationText } from './explanation-text.ts';
import { notFound } from './not-found.ts';
import { didYouMean } from './suggest.ts';
import type { Connection, Wiring } from './wiring.ts';

interface ExplainOptions extends ServerOptions {
  readonly env?: string;
  readonly watch?: boolean;
  readonly output: 'text' | 'json';
}

const WATCH_EVERY_MS = 1000;

/** Asks once; `lost` tells an unreachable server from a question that has no answer. */
const ask = async (
  { store }: Connection,
  wiring: Wiring,
  place: { readonly namespace: string; readonly pipeline: string; readonly env?: string },
): Promise<Either<Explanation> & { readonly lost?: boolean }> => {
  const { namespace, pipeline, env } = place;
  const found = await store.get('Pipeline', namespace, pipeline);
  if (!found.ok && found.error.code === 'NotFound') return ends(await notFound(store, KINDS.Pipeline, namespace, pipeline));
  if (!found.ok) return { ...ends(failed(found.error.message)), lost: found.error.code === 'Unavailable' };
  const names = (found.value.spec?.environments ?? []).map((environment) => environment.name ?? '');
  if (env !== undefined && !names.includes(env)) {
    const near = didYouMean(env, names);
    return ends(misused(`Pipeline ${pipeline} has no environment "${env}".${near} Environments: ${names.join(', ')}.`));
  }
  const world = await gatherExplanation(store, namespace, pipeline, env);
  if (world.outcome !== 'done') return { ...ends(endOf(world)), lost: world.outcome === 'transient' };
  return value(explain(world.value, wiring.clock.now()));
};

const render = (explanation: Explanation, options: ExplainOptions, wiring: Wiring): string => {
  const { env } = options;
  const environments = explanation.environments.filter((environment) => env === undefined || environment.name === env);
  const shown = { ...explanation, environments };
  if (options.output === 'json') return `${JSON.stringify(shown, undefined, options.watch ? undefined : 2)}\n`;
  return explanationText(shown, { detailed: env !== undefined, now: wiring.clock.now(), terminal: wiring.terminal });
};

/** Asks again each second and prints what differs, until the process is ended. */
const watch = async (connection: Connection, wiring: Wiring, place: Parameters<typeof ask>[2], options: ExplainOptions): Promise<End> => {
  const { terminal } = wiring;
  let last = '';
  let lost = false;
  for (;;) {
    const asked = await ask(connection, wiring, place);
    if (!asked.ok && !(asked.lost && last !== '')) return asked.end;
    if (!asked.ok && !lost) terminal.err('The connection is lost and tried again.\n');
    lost = !asked.ok;
    if (asked.ok) {
      const text = render(asked.value, options, wiring);
      // Ages move by themselves; only what else differs is news.
      const news = JSON.stringify(asked.value);
      if (news !== last) terminal.out(last === '' || options.output === 'json' ? text : `\n${text}`);
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
      .action((pipeline: string, options: ExplainOptions) =>
        run(() =>
          withServer(wiring, options, async (connection, namespace) => {
            const place = { namespace, pipeline, ...(options.env === undefined ? {} : { env: options.env }) };
            if (options.watch) return watch(connection, wiring, place, options);
            const asked = await ask(connection, wiring, place);
            if (!asked.ok) return asked.end;
            wiring.terminal.out(render(asked.value, options, wiring));
            return succeeded;
          }),
        ),
      );
  },
};
