/** What a benchmark is, and what it hands back. */

/** How a benchmark is run. */
export interface Setting {
  /** Small sizes, so that all of it takes less than a minute. */
  readonly smoke: boolean;
  /** A temporary folder, removed after the run. */
  readonly folder: string;
  /** Folder for CPU profiles of our own process; none are written when absent. */
  readonly profile: string | undefined;
  /** Takes a line of progress. */
  readonly tell: (line: string) => void;
}

/** Rows of one table, by the name of the row and of the column. */
export type Table = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Every number that was measured, by the name of its table. */
export type Figures = Readonly<Record<string, Table>>;

/** What one number is held against. */
export interface Budget {
  readonly name: string;
  readonly value: number;
  /** `at most` or `at least`, with the number. */
  readonly limit: string;
  readonly holds: boolean;
}

/** The end of a benchmark. */
export interface Measured {
  readonly figures: Figures;
  readonly budgets: readonly Budget[];
}

/** One benchmark. */
export interface Benchmark {
  readonly name: string;
  /** One line: what is measured against what. */
  readonly about: string;
  readonly run: (setting: Setting) => Promise<Measured>;
}

/** A budget that holds when the value is no more than the limit. */
export const atMost = (name: string, value: number, limit: number): Budget => ({
  name,
  value: rounded(value),
  limit: `at most ${limit}`,
  holds: value <= limit,
});

/** A budget that holds when the value is no less than the limit. */
export const atLeast = (name: string, value: number, limit: number): Budget => ({
  name,
  value: rounded(value),
  limit: `at least ${limit}`,
  holds: value >= limit,
});

/** Three significant digits: more than that no run gives. */
export const rounded = (value: number): number => Number(value.toPrecision(3));

/** A row of a table with every number rounded. */
export const row = (numbers: Readonly<Record<string, number>>): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, rounded(value)]));
