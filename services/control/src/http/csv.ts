/** Rows as CSV (RFC 4180), safe to open in a spreadsheet. */

/**
 * Where a spreadsheet begins to read a formula: at the start of a cell, also behind what separates cells or rows in some countries. An
 * apostrophe there makes it a text. What begins with apostrophes gets one more, so that `unguarded` is exact.
 */
const formula = /(?<=^|[;\t\r\n])'*(?=[=+\-@\t\r＝＋－＠])/g;

/** A line, with its end. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(cellOf).join(',')}\r\n`;
}

/** The text of which `csvLine` has made this cell. */
export function unguarded(cell: string): string {
  return cell.replaceAll(formula, (apostrophes) => apostrophes.slice(1));
}

function cellOf(value: unknown): string {
  if (typeof value === 'string') return `"${value.replaceAll(formula, "'$&").replaceAll('"', '""')}"`;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
