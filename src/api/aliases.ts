/** The names that the real tools go by, beside the words of the specification. Objects are stored as given; code sees the specification's word. */

const ALIASES = {
  provider: { github: 'host-a', gitlab: 'host-b' },
  strategy: { kustomize: 'overlay', helm: 'chart' },
  healthType: {
    argocd: 'gitopsApp',
    flux: 'gitopsKustomization',
    argoRollouts: 'progressiveRollout',
    flagger: 'canaryAnalysis',
  },
  delegate: { argoRollouts: 'progressiveRollout', flagger: 'canaryAnalysis' },
  step: { 'kustomize-set-image': 'overlay-set-image', 'kustomize-build': 'overlay-build', 'helm-set-image': 'chart-set-image' },
} as const satisfies Record<string, Readonly<Record<string, string>>>;

/** The vocabularies that have aliases. */
export type Vocabulary = keyof typeof ALIASES;

/** The specification's word for a word of that vocabulary; words without an alias come back as they are. */
export const canonical = (vocabulary: Vocabulary, word: string): string => {
  const table: Readonly<Record<string, string>> = ALIASES[vocabulary];
  return Object.hasOwn(table, word) ? (table[word] ?? word) : word;
};

/** The aliases of a vocabulary, for help texts and admission rules. */
export const aliasesOf = (vocabulary: Vocabulary): readonly string[] => Object.keys(ALIASES[vocabulary]);
