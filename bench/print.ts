/** Results as tables for people. */
import type { Measured, Table } from './benchmark.ts';

const shown = (value: number | undefined): string =>
  value === undefined ? '' : Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en-US') : String(value);

const printTable = (title: string, table: Table): string => {
  const columns = [...new Set(Object.values(table).flatMap((cells) => Object.keys(cells)))];
  const head = ['', ...columns];
  const body = Object.entries(table).map(([name, cells]) => [name, ...columns.map((column) => shown(cells[column]))]);
  const widths = head.map((_, index) => Math.max(...[head, ...body].map((cells) => cells[index]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0))).join('  ');
  return [title, line(head), ...body.map(line)].map((text, index) => (index === 0 ? `\n${text}` : `  ${text}`)).join('\n');
};

/** All tables and budgets of one benchmark. */
export const printMeasured = (name: string, { figures, budgets }: Measured): string => {
  const tables = Object.entries(figures).map(([title, table]) => printTable(title, table));
  const limits = budgets.map((budget) => `  ${budget.holds ? 'holds' : 'MISSED'}  ${budget.name}: ${budget.value} (${budget.limit})`);
  return [`== ${name}`, ...tables, '\nbudgets', ...limits].join('\n');
};
