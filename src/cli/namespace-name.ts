import { InvalidArgumentError } from 'commander';

const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** Reads a flag that names a namespace; throws what commander turns into exit code 2. */
export const namespaceName = (text: string): string => {
  if (!NAMESPACE.test(text)) throw new InvalidArgumentError('Give a namespace: lower-case letters, digits and -, at most 63.');
  return text;
};
