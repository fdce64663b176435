/**
 * Admission rules as data: CEL over one node of the resource. The same text is evaluated here and stands in the generated
 * CustomResourceDefinitions, so rules use only what both engines understand alike (`RULE_OPERATORS`, `RULE_FUNCTIONS`).
 */

/** One rule, in the words of `x-kubernetes-validations`. */
export interface Rule {
  /** The node that `self` is: empty for the resource itself, else a path such as `spec.environments[]`. Skipped where the node is absent. */
  readonly at: string;
  /** CEL that is true for what is accepted. A rule that mentions `oldSelf` is asked on updates only, and is not at a node in a list. */
  readonly rule: string;
  /** Said when the rule is false. */
  readonly message: string;
  /** CEL that gives a better message, with what was given; where it fails, `message` is said. */
  readonly messageExpression?: string;
  /** The field that is wrong, below the node, such as `.git.provider`. */
  readonly fieldPath?: string;
  /** Invalid when absent. */
  readonly reason?: 'FieldValueRequired' | 'FieldValueForbidden';
}

/** Operators (in the syntax tree's words) on which the engine here and Kubernetes' agree. */
export const RULE_OPERATORS: ReadonlySet<string> = new Set([
  ...['value', 'id', 'list', 'call', 'rcall', '.', '[]'],
  ...['==', '!=', '<=', '>', '>=', '<', '+', 'in', '&&', '||', '!_', '?:'],
]);

/** Functions and macros on which both engines agree. */
export const RULE_FUNCTIONS: ReadonlySet<string> = new Set([
  'has',
  'size',
  'all',
  'exists',
  'exists_one',
  'map',
  'matches',
  'startsWith',
  'split',
  'string',
  'duration',
]);

const quoted = (word: string): string => `'${word}'`;

/** A list of words as CEL. */
export const celList = (words: readonly string[]): string => `[${words.map(quoted).join(', ')}]`;

/** A pattern as a CEL raw string; it may hold no apostrophe. */
export const celPattern = (pattern: string): string => `r'${pattern}'`;

/** `has()` of a dotted path below `self`, guarded at every level, such as `git.secretRef.name`. */
export const hasPath = (path: string): string => {
  const parts = path.split('.');
  return parts.map((_, index) => `has(self.${parts.slice(0, index + 1).join('.')})`).join(' && ');
};

/** True when the text at the path is there and not empty. */
export const filled = (path: string): string => `${hasPath(path)} && size(self.${path}) > 0`;

/** The text at a path must be there and not empty. */
export const required = (at: string, path: string, message: string): Rule => ({
  at,
  rule: filled(path),
  message,
  fieldPath: `.${path}`,
  reason: 'FieldValueRequired',
});

/** True when the field is absent or the condition on it holds. */
const whenThere = (path: string, condition: string): string => `!(${hasPath(path)}) || ${condition}`;

/** A field that is there must be one of these words. */
export const oneOf = (at: string, path: string, words: readonly string[]): Rule => ({
  at,
  rule: whenThere(path, `self.${path} in ${celList(words)}`),
  message: `must be one of: ${words.join(', ')}`,
  messageExpression: `"must be one of: ${words.join(', ')}; got '" + self.${path} + "'"`,
  fieldPath: `.${path}`,
});

/** What a pattern rule needs to know. */
export interface PatternCheck {
  readonly pattern: string;
  /** Whether a text that matches is refused; accepted when absent. */
  readonly refused?: boolean;
  /** Follows "must be". */
  readonly accepted: string;
}

/** A field that is there must match (or must not match) a pattern. */
export const pattern = (at: string, path: string, check: PatternCheck): Rule => ({
  at,
  rule: whenThere(path, `${check.refused ? '!' : ''}self.${path}.matches(${celPattern(check.pattern)})`),
  message: `must be ${check.accepted}`,
  messageExpression: `"must be ${check.accepted}; got '" + self.${path} + "'"`,
  fieldPath: `.${path}`,
});
