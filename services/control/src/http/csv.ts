/** Rows as CSV (RFC 4180), safe to open in a spreadsheet. */

/**
 * Where a spreadsheet begins to read a formula: at the start of a cell, also behind what separates cells or rows in some countries. An
 * apostrophe there makes it a text.
 */
const formula = /(?<=^|[;\t\r\n])(?=[=+\-@\t\r＝＋－＠])/g;

/** A line, with its end. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(cellOf).join(',')}\r\n`;
}

function cellOf(value: unknown): string {
  if (typeof value === 'string') return `"${value.replaceAll(formula, "'").replaceAll('"', '""')}"`;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
