import { gitContract } from './git.ts';
import { realGit } from './real-git.ts';

gitContract('real git over file URLs', () => realGit('file'));
gitContract('real git over smart HTTP with a token', () => realGit('http'));
