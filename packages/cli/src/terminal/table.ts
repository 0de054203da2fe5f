/** Text for terminals: tables, counts and safe characters. */

/** Rows of cells as lines with aligned columns. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const shown = rows.map((row) => row.map(printable));
  const widths = shown.reduce<number[]>(
    (widest, row) => row.map((cell, column) => Math.max(cell.length, widest[column] ?? 0)),
    [],
  );
  return shown.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Escapes control characters: events and responses are untrusted, and could send commands to the terminal. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** As one word for a shell. */
export function quoted(text: string): string {
  return /^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** JSON whose texts have no control characters either: `JSON.stringify` escapes those below U+0020 only. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).split('\n').map(printable).join('\n');
}

export function formatCount(count: number): string {
  return count.toLocaleString('en');
}

/** `1 dead letter`, `1,200 dead letters`, `2 deliveries`. */
export function countOf(count: number, noun: string): string {
  const plural = /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}
