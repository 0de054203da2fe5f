/** A Markdown table, which the formatter leaves as it is: aligned columns would change every row with the longest one. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const lines = [header, header.map(() => '---'), ...rows].map(line);
  return ['<!-- prettier-ignore-start -->', '', ...lines, '', '<!-- prettier-ignore-end -->', ''].join('\n');
}
