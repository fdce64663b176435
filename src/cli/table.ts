/** Tables and colours for people. */
import { stripVTControlCharacters, styleText } from 'node:util';
import type { Terminal } from './wiring.ts';

const COLOURS: Readonly<Record<string, 'green' | 'red' | 'yellow' | 'cyan' | 'gray'>> = {
  Verified: 'green',
  Succeeded: 'green',
  PASS: 'green',
  True: 'green',
  Failed: 'red',
  AbortedByAlarm: 'red',
  SkipDenied: 'red',
  FAIL: 'red',
  ERROR: 'red',
  Promoting: 'cyan',
  Running: 'cyan',
  HealthChecking: 'cyan',
  WaitingForMerge: 'yellow',
  RollingBack: 'yellow',
  Pending: 'gray',
  Superseded: 'gray',
};

/** A phase, state or result in its colour, when the terminal takes colours. */
export const painted = (word: string, terminal: Terminal): string => {
  const colour = COLOURS[word];
  return terminal.colour && colour !== undefined ? styleText(colour, word, { validateStream: false }) : word;
};

/** Text of a resource as one safe line: nothing in it can move the cursor or break the row. */
export const oneLine = (text: string): string =>
  stripVTControlCharacters(text)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not reach the terminal.
    .replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim();

/** Columns aligned by two or more spaces; the words of states are coloured. Ends with a line feed. */
export const table = (header: readonly string[], rows: readonly (readonly string[])[], terminal: Terminal): string => {
  const clean = rows.map((row) => row.map(oneLine));
  const widths = header.map((title, column) => Math.max(title.length, ...clean.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[], paint: boolean): string =>
    cells
      .map((cell, column) => {
        const padding = column === cells.length - 1 ? '' : ' '.repeat((widths[column] ?? 0) - cell.length + 3);
        return `${paint ? painted(cell, terminal) : cell}${padding}`;
      })
      .join('')
      .trimEnd();
  return [line(header, false), ...clean.map((row) => line(row, true))].map((text) => `${text}\n`).join('');
};
