/** Formats tables and figures. */

export type Row = readonly string[];
export type Format = (value: number) => string;

const thousands = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
export const whole: Format = (value) => (Number.isNaN(value) ? '-' : thousands.format(value));
export const tenths: Format = (value) => (Number.isNaN(value) ? '-' : value.toFixed(1));
export const hundredths: Format = (value) => (Number.isNaN(value) ? '-' : value.toFixed(2));
export const percent: Format = (value) => (Number.isNaN(value) ? '-' : `${(value * 100).toFixed(1)} %`);
export const mebibytes: Format = (bytes) => whole(bytes / 2 ** 20);

/** Columns as wide as their widest cell; the first is text, the others are figures. */
export function table(header: Row, rows: readonly Row[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  const rule = '-'.repeat(Math.max(...lines.map((line) => line.length)));
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}
