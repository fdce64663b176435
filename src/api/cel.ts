/**
 * The one place that touches the CEL engine: parsing, checking and evaluating with limits, and with patterns that cannot block.
 * The engine's own `matches` is JavaScript's backtracking RegExp; here every call of it becomes one of RE2, which is linear. Its `duration`
 * reads only some of what Go writes; here every call of it takes the durations that all resources take.
 */
import { type ASTNode, Environment, EvaluationError, ParseError, TypeError as TypeProblem } from '@marcbachmann/cel-js';
import { RE2JS } from 're2js';
import { parseDuration } from './duration.ts';

/** An expression that is ready to be evaluated, any number of times. */
export interface Compiled {
  readonly text: string;
  /** Throws what the engine throws; use evaluateBool or evaluateText. */
  readonly run: (context: Readonly<Record<string, unknown>>) => unknown;
  /** The syntax tree, for those who read expressions. */
  readonly ast: ASTNode;
}

/** What is wrong with an expression, and at which character (from 0). */
export interface CelProblem {
  readonly ok: false;
  readonly message: string;
  readonly position: number;
}

/** The type of a variable in the engine's words: `dyn`, `string`, `int`, `bool`, `map`, `timestamp` and so on. */
export type Variables = Readonly<Record<string, string>>;

/** Bounds on expressions that users write. Comprehensions are what makes an expression cost more than its length. */
const LIMITS = { maxAstNodes: 4096, maxDepth: 64, maxListElements: 512, maxMapEntries: 256, maxCallArguments: 16 };
const MAX_NESTED_COMPREHENSIONS = 2;
const COMPREHENSIONS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
const SAFE_MATCHES = 'matchesRe2';
const GO_DURATION = 'goDuration';

class Refused extends Error {
  readonly position: number;
  constructor(message: string, position: number) {
    super(message);
    this.position = position;
  }
}

const isNode = (value: unknown): value is ASTNode => typeof value === 'object' && value !== null && 'op' in value && 'args' in value;

/** Calls back for every node below and including this one, with the number of comprehensions around it. */
export const visitNodes = (node: unknown, visit: (node: ASTNode, nesting: number) => void, nesting = 0): void => {
  if (Array.isArray(node)) {
    for (const child of node) visitNodes(child, visit, nesting);
    return;
  }
  if (!isNode(node)) return;
  visit(node, nesting);
  if (node.op === 'rcall') {
    const [name, receiver, args] = node.args;
    visitNodes(receiver, visit, nesting);
    visitNodes(args, visit, COMPREHENSIONS.has(name) ? nesting + 1 : nesting);
    return;
  }
  visitNodes(node.args, visit, nesting);
};

const patternOf = (text: string, position: number): RE2JS => {
  try {
    return RE2JS.compile(text);
  } catch (error) {
    throw new Refused(
      `invalid regular expression ${JSON.stringify(text.slice(0, 100))}: ${error instanceof Error ? error.message : ''}`,
      position,
    );
  }
};

/** Patterns compiled so far, in the order of their use; the oldest go first. */
const patternCache = (): ((text: string) => RE2JS) => {
  const known = new Map<string, RE2JS>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = patternOf(text, 0);
    if (known.size >= 256) for (const oldest of [...known.keys()].slice(0, 64)) known.delete(oldest);
    known.set(text, made);
    return made;
  };
};

/** The engine's durations, made from whole nanoseconds, which it reads without fault. */
const fromNanoseconds = new Environment().registerVariable('text', 'string').parse('duration(text)');

const durationOf = (text: string): unknown => {
  const ms = parseDuration(text);
  if (ms === undefined) throw new Refused(`invalid duration ${JSON.stringify(text.slice(0, 100))}`, 0);
  // What is below a nanosecond is cut off, as Go does, but not what is only lost in the sum.
  const nanoseconds = Math.trunc(Math.round(ms * 1e9) / 1e3);
  return fromNanoseconds({ text: `${BigInt(nanoseconds)}ns` });
};

const prepare = (ast: ASTNode): void => {
  visitNodes(ast, (node, nesting) => {
    if (nesting > MAX_NESTED_COMPREHENSIONS) {
      throw new Refused(`more than ${MAX_NESTED_COMPREHENSIONS} comprehensions (all, exists, map, filter) inside each other`, node.pos);
    }
    if (node.op === 'id' && node.args === 'cel') throw new Refused('cel.bind is not supported', node.pos);
    if (node.op === 'call' && node.args[0] === 'duration' && node.args[1].length === 1) node.args[0] = GO_DURATION;
    if (node.op !== 'rcall' || node.args[0] !== 'matches' || node.args[2].length !== 1) return;
    const pattern = node.args[2][0];
    if (pattern?.op === 'value' && typeof pattern.args === 'string') patternOf(pattern.args, pattern.pos);
    node.args[0] = SAFE_MATCHES;
  });
};

/** Makes an environment with these variables and, where wanted, functions of its own (`signature` → handler). */
export const celEnvironment = (
  variables: Variables,
  functions: Readonly<Record<string, (...values: never[]) => unknown>> = {},
): Environment => {
  const patterns = patternCache();
  const environment = new Environment({ limits: LIMITS, homogeneousAggregateLiterals: false });
  environment.registerFunction({
    signature: `string.${SAFE_MATCHES}(string): bool`,
    handler: (value: string, pattern: string) => patterns(pattern).matcher(value).find(),
    async: false,
  });
  environment.registerFunction({
    signature: `${GO_DURATION}(string): google.protobuf.Duration`,
    handler: durationOf,
    async: false,
  });
  for (const [name, type] of Object.entries(variables)) environment.registerVariable(name, type);
  for (const [signature, handler] of Object.entries(functions)) environment.registerFunction({ signature, handler, async: false });
  return environment;
};

const problemOf = (error: unknown): CelProblem => {
  if (error instanceof Refused) return { ok: false, message: error.message, position: error.position };
  if (error instanceof ParseError || error instanceof TypeProblem || error instanceof EvaluationError) {
    return { ok: false, message: error.summary, position: error.range?.start ?? 0 };
  }
  // Deep nesting may exhaust the stack of the engine: that too is the expression's fault.
  return { ok: false, message: error instanceof Error ? error.message : String(error), position: 0 };
};

/** Parses and type-checks an expression in an environment. */
export const compileIn = (environment: Environment, text: string): { readonly ok: true; readonly compiled: Compiled } | CelProblem => {
  try {
    const parsed = environment.parse(text);
    prepare(parsed.ast);
    const checked = parsed.check();
    if (!checked.valid) return problemOf(checked.error);
    return { ok: true, compiled: { text, run: (context) => parsed(context), ast: parsed.ast } };
  } catch (error) {
    return problemOf(error);
  }
};

/** The result of an evaluation: a value of the wanted type, or why there is none. */
export type Evaluated<T> = { readonly ok: true; readonly value: T } | CelProblem;

const evaluate = (compiled: Compiled, context: Readonly<Record<string, unknown>>): Evaluated<unknown> => {
  try {
    return { ok: true, value: compiled.run(context) };
  } catch (error) {
    return problemOf(error);
  }
};

/** Evaluates an expression that must give a bool. */
export const evaluateBool = (compiled: Compiled, context: Readonly<Record<string, unknown>>): Evaluated<boolean> => {
  const result = evaluate(compiled, context);
  if (!result.ok) return result;
  if (typeof result.value === 'boolean') return { ok: true, value: result.value };
  return { ok: false, message: 'the expression must give true or false', position: 0 };
};

/** Evaluates an expression that must give a string. */
export const evaluateText = (compiled: Compiled, context: Readonly<Record<string, unknown>>): Evaluated<string> => {
  const result = evaluate(compiled, context);
  if (!result.ok) return result;
  if (typeof result.value === 'string') return { ok: true, value: result.value };
  return { ok: false, message: 'the expression must give a text', position: 0 };
};

const SELF = celEnvironment({ self: 'dyn' });
const RULES = celEnvironment({ self: 'dyn', oldSelf: 'dyn' });

/** Compiles an admission rule over `self` and `oldSelf`; throws when it is wrong, because rules are ours. */
export const compileRule = (text: string): Compiled => {
  const result = compileIn(RULES, text);
  if (!result.ok) throw new Error(`rule ${text}: ${result.message} at ${result.position}`);
  return result.compiled;
};

/** Compiles an expression over `self`, a resource (`readyWhen`, `propagateWhen`). */
export const compileExpression = (text: string): { readonly ok: true; readonly compiled: Compiled } | CelProblem => compileIn(SELF, text);

/** Says whether an expression is one, with these variables (`self`, any type, when absent); `position` counts characters from 0. */
export const checkExpression = (text: string, variables?: Variables): { readonly ok: true } | CelProblem => {
  const result = compileIn(variables === undefined ? SELF : celEnvironment(variables), text);
  return result.ok ? { ok: true } : result;
};
