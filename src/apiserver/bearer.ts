/** Bearer tokens, compared without telling how much of them was right. */
import { createHash, timingSafeEqual } from 'node:crypto';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The token of an `Authorization: Bearer …` header; undefined when there is none. */
export const bearerToken = (header: string | undefined): string | undefined => /^Bearer +([^\s]+) *$/i.exec(header ?? '')?.[1];

/** Makes the check of one token, in constant time. */
export const tokenCheck = (expected: string): ((given: string | undefined) => boolean) => {
  const wanted = digest(expected);
  return (given) => given !== undefined && timingSafeEqual(digest(given), wanted);
};
