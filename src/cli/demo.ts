import type { CommandModule } from './command.ts';
import { endOf, succeeded } from './end.ts';
import type { DemoOptions } from './wiring.ts';

/** `promoter demo`. */
export const demo: CommandModule = {
  add: (parent, { wiring, run }) => {
    parent
      .command('demo')
      .description('show it: controller, Git repository, pipeline and a first Bundle on this machine')
      .option('--once', 'run to the end unattended; exit 0 only when the Bundle is Verified', false)
      .option('--json', 'one JSON line last on standard output; progress goes to standard error', false)
      .option('--data-dir <folder>', 'where to keep everything (default: a new temporary folder)')
      .action((options: DemoOptions) =>
        run(async () => {
          const shown = await wiring.runDemo(options);
          return shown.outcome === 'done' ? succeeded : endOf(shown);
        }),
      );
  },
};
