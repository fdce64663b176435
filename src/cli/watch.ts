/** `get --watch`: prints what there is, then rows or objects that are new or have changed, until the process is ended. */
import type { ListOptions, StoreError } from '../ports/store.ts';
import { type End, succeeded } from './end.ts';
import { follow } from './follow.ts';
import { type ObjectFormat, printed } from './print.ts';
import { table } from './table.ts';
import { optionsOf, type Row, type Scope, type View, viewOf } from './views.ts';
import type { Terminal, Wiring } from './wiring.ts';

const tellLoss =
  (terminal: Terminal) =>
  (error: StoreError): void =>
    terminal.err(`The connection is lost and tried again: ${error.message}\n`);

/** Prints whole objects. */
export const watchObjects = async (scope: Scope, format: ObjectFormat, { clock, terminal }: Wiring): Promise<End> => {
  const source = { store: scope.store, clock, signal: new AbortController().signal };
  await follow(source, scope.info.kind, optionsOf(scope), {
    changed: ({ type, object }) => type !== 'DELETED' && terminal.out(printed(object, format, true)),
    lost: tellLoss(terminal),
  });
  return succeeded;
};

/** Reads a table again whenever asked to, never twice at once, and prints the rows that differ in more than their age. */
class ChangingTable {
  readonly #view: View;
  readonly #terminal: Terminal;
  readonly #last = new Map<string, string>();
  #headed = false;
  #busy = false;
  #again = false;

  constructor(view: View, terminal: Terminal) {
    this.#view = view;
    this.#terminal = terminal;
  }

  /** Something may have changed. */
  touch(): void {
    this.#again = true;
    if (!this.#busy) void this.#run();
  }

  async #run(): Promise<void> {
    this.#busy = true;
    while (this.#again) {
      this.#again = false;
      const read = await this.#view.read();
      // A failed read is told by the follower, which also asks again.
      if (read.ok) this.#print(read.rows.filter((row) => this.#isNew(row)));
    }
    this.#busy = false;
  }

  #isNew(row: Row): boolean {
    const age = this.#view.header.indexOf('AGE');
    const content = JSON.stringify(row.cells.filter((_, column) => column !== age));
    const changed = this.#last.get(row.key) !== content;
    this.#last.set(row.key, content);
    return changed;
  }

  #print(rows: readonly Row[]): void {
    if (rows.length === 0) return;
    const cells = rows.map((row) => row.cells);
    const text = table(this.#view.header, cells, this.#terminal);
    this.#terminal.out(this.#headed ? text.slice(text.indexOf('\n') + 1) : text);
    this.#headed = true;
  }
}

/** Prints rows. */
export const watchTable = async (scope: Scope, { clock, terminal }: Wiring): Promise<End> => {
  const source = { store: scope.store, clock, signal: new AbortController().signal };
  const view = viewOf(scope);
  const shown = new ChangingTable(view, terminal);
  const { namespace } = scope.where;
  const around: ListOptions = namespace === undefined ? {} : { namespace };
  const lost = tellLoss(terminal);
  await Promise.all(
    view.kinds.map((kind, index) =>
      follow(source, kind, around, { changed: () => shown.touch(), lost: (error) => index === 0 && lost(error) }),
    ),
  );
  return succeeded;
};
