import { type CommandModule, type ServerOptions, serverOptions, withServer } from './command.ts';
import { refusedBy, succeeded } from './end.ts';
import { kindOfWord } from './kind-words.ts';
import { notFound } from './not-found.ts';

/** `promoter delete KIND NAME`. */
export const remove: CommandModule = {
  add: (parent, { wiring, run }) => {
    serverOptions(parent.command('delete'))
      .description('delete a resource and what it owns')
      .argument('<kind>', 'such as bundle or pipeline')
      .argument('<name...>', 'one or more names')
      .action((word: string, names: readonly string[], options: ServerOptions) =>
        run(async () => {
          const info = kindOfWord(word);
          if (!info.ok) return info.end;
          return withServer(wiring, options, async ({ store }, namespace) => {
            const place = info.value.namespaced ? namespace : '';
            for (const name of names) {
              const deleted = await store.delete(info.value.kind, place, name);
              if (!deleted.ok && deleted.error.code === 'NotFound') return notFound(store, info.value, place, name);
              if (!deleted.ok) return refusedBy(deleted.error);
              const held = (deleted.object.metadata.finalizers ?? []).length > 0 && deleted.object.metadata.deletionTimestamp;
              wiring.terminal.out(`${info.value.singular}/${name} ${held ? 'is being deleted' : 'deleted'}\n`);
            }
            return succeeded;
          });
        }),
      );
  },
};
