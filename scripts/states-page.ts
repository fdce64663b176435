/** docs/reference/states.md: every arrow between phases and states, from the tables that the code moves by. */
import { BUNDLE_ARROWS } from '../src/core/bundle/phases.ts';
import { STEP_ARROWS } from '../src/core/step/states.ts';

type Arrows = Readonly<Record<string, Readonly<Partial<Record<string, string>>>>>;

const rows = (arrows: Arrows): string =>
  Object.entries(arrows)
    .flatMap(([from, targets]) => Object.entries(targets).map(([to, cause]) => `| ${from} | ${to} | ${cause ?? ''} |`))
    .join('\n');

const ends = (arrows: Arrows): string =>
  Object.entries(arrows)
    .filter(([, targets]) => Object.keys(targets).length === 0)
    .map(([state]) => state)
    .join(', ');

const section = (title: string, arrows: Arrows): string => `## ${title}

| From | To | When |
|---|---|---|
${rows(arrows)}

Nothing leaves ${ends(arrows)}.
`;

/** The page. */
export const statesPage = (): string => `# Phases and states

Generated from the tables that the code moves by (\`src/core/bundle/phases.ts\`, \`src/core/step/states.ts\`). A move that is not here cannot happen. Arrows of
features that are not built yet are listed too, because they are the interface.

${section('Bundle phases', BUNDLE_ARROWS)}
${section('PromotionStep states', STEP_ARROWS)}
An environment whose PromotionStep does not exist yet is shown as Pending with what it waits for.
`;
