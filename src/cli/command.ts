/** What every command file gives, and the options that reads share. */
import type { Command } from 'commander';
import { Option } from 'commander';
import type { End } from './end.ts';
import { endOf } from './end.ts';
import { namespaceName } from './namespace-name.ts';
import type { Connection, Wiring } from './wiring.ts';

/** What a command is added with. */
export interface CommandContext {
  readonly wiring: Wiring;
  /** Runs the body of a command and keeps how it ended. */
  readonly run: (body: () => Promise<End>) => Promise<void>;
}

/** One file a command. */
export interface CommandModule {
  /** Adds the command to its parent. */
  readonly add: (parent: Command, context: CommandContext) => void;
}

/** Options of commands that talk to a server. */
export interface ServerOptions {
  readonly kubeconfig?: string;
  readonly namespace?: string;
}

/** Options of commands that read. */
export interface ReadCommandOptions extends ServerOptions {
  readonly allNamespaces?: boolean;
  readonly output: 'table' | 'json' | 'yaml' | 'name';
  readonly selector?: string;
  readonly watch?: boolean;
}

/** Adds `--kubeconfig` and `-n`. */
export const serverOptions = (command: Command): Command =>
  command
    .option(
      '--kubeconfig <file>',
      'the server to talk to (default: $PROMOTER_KUBECONFIG, ./.promoter/kubeconfig, $KUBECONFIG, ~/.kube/config)',
    )
    .addOption(new Option('-n, --namespace <namespace>', "namespace (default: the kubeconfig's, else default)").argParser(namespaceName));

/** Adds `-o` and `-l`, and for lists that go on also `-A` and `-w`. */
export const readOptions = (command: Command, form: 'list' | 'once' = 'list'): Command => {
  serverOptions(command)
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['table', 'json', 'yaml', 'name']).default('table'))
    .option('-l, --selector <labels>', 'only objects with these labels, such as a=b,c!=d');
  return form === 'once'
    ? command
    : command.option('-A, --all-namespaces', 'all namespaces').option('-w, --watch', 'go on and print what changes');
};

/** Connects, runs the body with the server and the namespace to use, and closes the connection. */
export const withServer = async (
  wiring: Wiring,
  options: ServerOptions,
  body: (connection: Connection, namespace: string) => Promise<End>,
): Promise<End> => {
  const found = await wiring.connect(options.kubeconfig === undefined ? {} : { kubeconfig: options.kubeconfig });
  if (found.outcome !== 'done') return endOf(found);
  try {
    return await body(found.value, options.namespace ?? found.value.namespace);
  } finally {
    await found.value.close();
  }
};
