/** Lock files that killed git processes leave behind. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Removes lock files of a mirror, and with `everything` half-written files too; only when no git process writes to it, and `everything` only when
 * this process does not either. The number of files removed.
 */
export function removeStaleLocks(gitDirectory: string, what: 'locks' | 'everything'): number {
  let removed = 0;
  const walk = (folder: string, depth: number): void => {
    for (const entry of list(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        // Loose objects live in folders of two characters, which hold no locks.
        if (depth < 6 && entry.name.length > 2) walk(path, depth + 1);
      } else if (entry.name.endsWith('.lock') || (what === 'everything' && /^(tmp_|\.tmp-)/.test(entry.name))) {
        rmSync(path, { force: true });
        removed += 1;
      }
    }
  };
  walk(gitDirectory, 0);
  return removed;
}

function list(folder: string): { readonly name: string; isDirectory(): boolean }[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
