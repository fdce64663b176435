/** Whether an open file is still the one at its path: what is written into a file that was removed is lost when it is closed. */
import { type BigIntStats, statSync } from 'node:fs';

const statOf = (path: string): BigIntStats | undefined => {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
};

/** Notes which file is at the path now; the answer says at any later time whether it still is. */
export const watchPresence = (path: string): (() => boolean) => {
  const opened = statOf(path);
  return () => {
    const now = statOf(path);
    return opened !== undefined && now !== undefined && now.ino === opened.ino && now.dev === opened.dev;
  };
};
