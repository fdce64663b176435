import type { CommandModule } from './command.ts';
import { addCreateBundle } from './create-bundle.ts';

/** `promoter create`. */
export const create: CommandModule = {
  add: (parent, context) => {
    const command = parent.command('create').description('create a Bundle');
    addCreateBundle(command, context);
  },
};
