/** The Git engine: implements `ports/git` over bare mirrors and the git program. */
export type { Git, GitCounters, GitOptions } from './create-git.ts';
export { createGit } from './create-git.ts';
export type { GitLimits } from './limits.ts';
export { defaultLimits } from './limits.ts';
export type { ProcessEvent } from './process.ts';
