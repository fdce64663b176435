/** The command line: a table of commands, each loaded only when it is asked for, and exit codes 0 (done), 1 (failed), 2 (used wrongly). */
import { Command, CommanderError } from 'commander';
import type { CommandModule } from './command.ts';
import { type End, succeeded } from './end.ts';
import type { Wiring } from './wiring.ts';

/** Every command: adding one is one file and one line here. The order is that of the help. */
const COMMANDS: ReadonlyMap<string, () => Promise<CommandModule>> = new Map(
  Object.entries({
    demo: async () => (await import('./demo.ts')).demo,
    controller: async () => (await import('./controller.ts')).controller,
    apply: async () => (await import('./apply.ts')).apply,
    create: async () => (await import('./create.ts')).create,
    get: async () => (await import('./get.ts')).get,
    explain: async () => (await import('./explain.ts')).explainCommand,
    history: async () => (await import('./history.ts')).history,
    delete: async () => (await import('./delete.ts')).remove,
    version: async () => (await import('./version.ts')).version,
  }),
);

const INTRODUCTION = 'Carries a Bundle through the environments of a Pipeline by writing Git commits, and can always say why.';

/** Runs one command line (without the program's name) and gives the exit code. */
export const runCli = async (argv: readonly string[], wiring: Wiring): Promise<number> => {
  const { terminal } = wiring;
  let end: End = succeeded;
  const program = new Command('promoter')
    .description(INTRODUCTION)
    .version(`promoter ${wiring.version}`, '-V, --version', 'print the version')
    // Flags after a command belong to it: `create bundle --version` is not the program's.
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError('Run it with --help to see what it takes.')
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err });
  const context = {
    wiring,
    run: async (body: () => Promise<End>): Promise<void> => {
      end = await body();
    },
  };
  // One command needs only its own file; help and mistyped commands need all of them.
  const asked = COMMANDS.get(argv[0] ?? '');
  for (const load of asked === undefined ? COMMANDS.values() : [asked]) (await load()).add(program, context);
  if (argv.length === 0) {
    terminal.err(program.helpInformation());
    return 2;
  }
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
  if (end.code !== 0) terminal.err(`error: ${end.message}\n`);
  return end.code;
};
