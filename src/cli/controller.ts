import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../api/duration.ts';
import { parseAddress } from './address.ts';
import type { CommandModule } from './command.ts';
import { endOf, misused, succeeded } from './end.ts';
import { namespaceName } from './namespace-name.ts';
import type { ControllerOptions } from './wiring.ts';

interface ControllerFlags extends Omit<ControllerOptions, 'auditRetentionMs'> {
  readonly mode: string;
  /** Milliseconds. */
  readonly auditRetention: number;
}

const address = (text: string): string => {
  if (parseAddress(text) === undefined) throw new InvalidArgumentError('Give host:port, such as 127.0.0.1:8083; port 0 takes a free one.');
  return text;
};

const whole =
  (least: number) =>
  (text: string): number => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= least)) throw new InvalidArgumentError(`Give a whole number, at least ${least}.`);
    return number;
  };

const HOUR_MS = 3_600_000;
/** In milliseconds. Events are looked through once an hour, so that less could not be kept to. */
const retention = (text: string): number => {
  const wanted = parseDuration(text);
  if (wanted === undefined || wanted < HOUR_MS) throw new InvalidArgumentError('Give a Go duration such as 2160h, at least 1h.');
  return wanted;
};

const externalUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) throw new InvalidArgumentError('Give an http or https URL.');
  return text.replace(/\/+$/, '');
};

const boolean = (text: string): boolean => {
  if (['1', 'true', 'yes'].includes(text)) return true;
  if (['0', 'false', 'no', ''].includes(text)) return false;
  throw new InvalidArgumentError('Give true or false.');
};

const option = (flags: string, variable: string, description: string): Option => new Option(flags, description).env(variable);

const OPTIONS: readonly Option[] = [
  option('--data-dir <folder>', 'PROMOTER_DATA_DIR', 'where everything is kept').default('./.promoter'),
  option('--http-address <host:port>', 'PROMOTER_HTTP_ADDRESS', 'bundle endpoint and health').default('127.0.0.1:8083').argParser(address),
  option('--api-address <host:port>', 'PROMOTER_API_ADDRESS', 'resource API, over TLS').default('127.0.0.1:8084').argParser(address),
  option('--bundle-api-token <token>', 'PROMOTER_BUNDLE_TOKEN', 'token of POST /api/v1/bundles, which is off without one'),
  option('--bundle-rate-limit <number>', 'PROMOTER_BUNDLE_RATE_LIMIT', 'requests per minute and token; 0 is no limit')
    .default(60)
    .argParser(whole(0)),
  option('--policy-namespace <name>', 'PROMOTER_POLICY_NAMESPACE', 'namespace of org gates')
    .default('platform-policies')
    .argParser(namespaceName),
  option('--system-namespace <name>', 'PROMOTER_SYSTEM_NAMESPACE', "the controller's own namespace")
    .default('promoter-system')
    .argParser(namespaceName),
  option('--concurrency <number>', 'PROMOTER_CONCURRENCY', 'workers per resource type').default(1).argParser(whole(1)),
  option('--audit-retention <duration>', 'PROMOTER_AUDIT_RETENTION', 'how long AuditEvents are kept')
    .default(2160 * HOUR_MS, '2160h')
    .argParser(retention),
  option('--log-level <level>', 'PROMOTER_LOG_LEVEL', 'what is logged').choices(['debug', 'info', 'warn', 'error']).default('info'),
  option('--external-url <url>', 'PROMOTER_EXTERNAL_URL', 'base of links that others see').argParser(externalUrl),
  option('--allow-local-git [yes]', 'PROMOTER_ALLOW_LOCAL_GIT', 'accept file:// repositories even when others can reach the servers')
    .default(false)
    .preset('true')
    .argParser(boolean),
  option('--mode <mode>', 'PROMOTER_MODE', 'standalone; distributed is not there yet').default('standalone'),
];

/** `promoter controller`. */
export const controller: CommandModule = {
  add: (parent, { wiring, run }) => {
    const command = parent.command('controller').description('serve: the embedded resource API, the bundle endpoint and the controllers');
    for (const one of OPTIONS) command.addOption(one);
    command.action(({ mode, auditRetention, ...options }: ControllerFlags) =>
      run(async () => {
        if (mode !== 'standalone') {
          return misused(
            `--mode ${mode} is not there yet: this version runs everything in one process. Use --mode standalone or leave it out.`,
          );
        }
        const served = await wiring.runController({ ...options, auditRetentionMs: auditRetention });
        return served.outcome === 'done' ? succeeded : endOf(served);
      }),
    );
  },
};
