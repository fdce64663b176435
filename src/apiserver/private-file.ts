/** Files that only their owner may read: keys, tokens, kubeconfigs. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Replaces the file in one step, with mode 0600 from its first byte on; folders that are missing are made with mode 0700. */
export const writePrivateFile = async (path: string, content: string): Promise<void> => {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
};

/** Reads the file, taking away other people's access first; undefined when it does not exist. */
export const readPrivateFile = async (path: string): Promise<string | undefined> => {
  try {
    await chmod(path, 0o600);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

/** The bearer token kept in the file: 32 random bytes in base64url, made when there is none (or one too short to be a secret). */
export const readOrCreateToken = async (path: string): Promise<string> => {
  const kept = (await readPrivateFile(path))?.trim();
  if (kept !== undefined && /^[\w.~+/=-]{32,}$/.test(kept)) return kept;
  const token = randomBytes(32).toString('base64url');
  await writePrivateFile(path, `${token}\n`);
  return token;
};
