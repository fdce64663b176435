import { GitRemotes } from '../sim/git-remotes.ts';
import { createMemoryGit } from '../sim/memory-git.ts';
import { openTurnstile } from '../sim/turnstile.ts';
import { type GitFixture, gitContract, sha } from './git.ts';

const memoryGit = async (): Promise<GitFixture> => {
  const remotes = new GitRemotes();
  const refused = new Set<string>();
  const git = createMemoryGit({
    remotes,
    turnstile: openTurnstile(),
    serial: true,
    faults: {
      failure: () => undefined,
      handOver: () => 'carried out',
      beforeSwap: () => undefined,
      refuses: (url, paths) => paths.find((path) => refused.has(`${url} ${path}`)),
    },
  });
  return {
    git,
    seed: async (name, files, branches = ['main']) => {
      const url = `memory://${name}`;
      remotes.seed(url, branches, new Map(Object.entries(files)));
      return { url };
    },
    files: async ({ url }, branch) => remotes.tip(url, branch)?.files ?? new Map(),
    log: async ({ url }, branch) =>
      remotes.history(url, branch).map(({ sha: commit, parent, message }) => ({ commit, parents: parent ? [parent] : [], message })),
    write: async ({ url }, branch, files) => {
      const edit = (texts: Map<string, string>) => {
        for (const [path, text] of Object.entries(files)) texts.set(path, text);
      };
      remotes.writeOutside(url, branch, { message: 'Somebody else', time: 0, edit });
      return sha(remotes.tip(url, branch)?.sha ?? '');
    },
    reset: async ({ url }, branch, commit) => remotes.reset(url, branch, commit),
    refuse: async ({ url }, path) => void refused.add(`${url} ${path}`),
    close: async () => undefined,
  };
};

gitContract('in memory', memoryGit);
