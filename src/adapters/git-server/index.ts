/** A small smart-HTTP Git server over `git http-backend`, and bare repositories to serve. */
export type { FirstCommit } from './bare-repository.ts';
export { createBareRepository } from './bare-repository.ts';
export type { GitServer, GitServerOptions, GitServerRequests } from './server.ts';
export { startGitServer } from './server.ts';
