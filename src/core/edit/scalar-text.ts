/** How a string is written as a YAML scalar so that every reader takes it for a string, YAML 1.1 readers included. */

/** The style a scalar is written in. */
export type ScalarStyle = 'plain' | 'single' | 'double';

// Narrower than YAML allows: whatever is not certain to be plain text for all readers, in block and flow collections, is quoted.
const PLAIN = /^[A-Za-z0-9_](?:[A-Za-z0-9_.\-/+@]|:(?=[A-Za-z0-9]))*$/;
const KEYWORD = /^(?:y|n|yes|no|on|off|true|false|null)$/i;
const NUMBER = /^(?=.*[0-9])[0-9_]*\.?[0-9_]*(?:e[-+]?[0-9_]*)?$/i;
const PREFIXED_NUMBER = /^0[xob][0-9a-f_]+$/i;
const SEXAGESIMAL = /^[0-9][0-9_]*(?::[0-9]{1,2})+(?:\.[0-9_]*)?$/;
const DATE = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt].*)?$/;

/** Whether a plain scalar with this text is a string for every YAML reader. */
export const isPlainString = (value: string): boolean =>
  PLAIN.test(value) && ![KEYWORD, NUMBER, PREFIXED_NUMBER, SEXAGESIMAL, DATE].some((pattern) => pattern.test(value));

// Control characters, lone surrogates, and what some readers take for a line break or refuse.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029\ufeff\ufffe\uffff]/u;

const doubleQuoted = (value: string): string =>
  // JSON's strings are YAML's double-quoted scalars; what JSON leaves bare but YAML may fold is escaped on top.
  JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Writes a string in the style wanted, or in double quotes where that style cannot hold it as a string. */
export const scalarText = (value: string, style: ScalarStyle): string => {
  if (style === 'plain' && isPlainString(value)) return value;
  if (style === 'single' && !UNPRINTABLE.test(value)) return `'${value.replaceAll("'", "''")}'`;
  return doubleQuoted(value);
};
