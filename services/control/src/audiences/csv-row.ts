/**
 * One row of a CSV (RFC 4180), read line by line. A quoted field may contain line breaks, so a row may span several lines.
 */

export interface CsvRow {
  readonly fields: string[];
  /** Whether a quoted field continues in the next line. */
  readonly open: boolean;
  /** Characters read so far. */
  readonly length: number;
  /** The error, as the predicate of a sentence about the line. */
  readonly problem?: string;
}

/** Reads a line as a row, or as the continuation of the open row `begun`, whose fields it takes over: to copy them for each line takes seconds. */
export function readCsvRow(line: string, begun?: CsvRow): CsvRow {
  if (!begun && !line.includes('"')) return { fields: line.split(','), open: false, length: line.length };
  const fields = begun?.fields ?? [];
  const length = (begun?.length ?? 0) + line.length + 1;
  let field = begun ? `${fields.pop() ?? ''}\n` : '';
  let quoted = begun !== undefined;
  let closed = false;
  for (let at = 0; at < line.length; at += 1) {
    const sign = line.charAt(at);
    if (quoted) {
      if (sign !== '"') field += sign;
      else if (line.charAt(at + 1) === '"') {
        field += sign;
        at += 1;
      } else {
        quoted = false;
        closed = true;
      }
    } else if (sign === ',') {
      fields.push(field);
      field = '';
      closed = false;
    } else if (closed) {
      return {
        fields,
        open: false,
        length,
        problem: 'has something between a closing quote and the next comma',
      };
    } else if (sign !== '"') field += sign;
    else if (field !== '') {
      return { fields, open: false, length, problem: 'has a quote inside a field that is not quoted' };
    } else quoted = true;
  }
  fields.push(field);
  return { fields, open: quoted, length };
}
