import type { CommandModule } from './command.ts';
import { succeeded } from './end.ts';

/** `promoter version`. */
export const version: CommandModule = {
  add: (parent, { wiring, run }) => {
    parent
      .command('version')
      .description('print the version')
      .action(() =>
        run(async () => {
          wiring.terminal.out(`promoter ${wiring.version}\n`);
          return succeeded;
        }),
      );
  },
};
