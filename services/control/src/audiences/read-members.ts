/**
 * Reads the user ids of an uploaded membership, NDJSON or CSV, in batches with backpressure. Memory is bounded by one chunk
 * of the stream and the longest line.
 *
 * Ids are not trimmed: " ada" and "ada" may be different users. An id is refused only if a tracking call could not carry it.
 */
import { TailraceError } from '@tailrace/errors';
import { idProblem, isRawNumber, maxIdLength, parseJson, wholeDigits } from '@tailrace/events';
import { amounts } from '../access/shared.ts';
import { readCsvRow, type CsvRow } from './csv-row.ts';

export type MembershipFormat = 'ndjson' | 'csv';

export interface MembersBatch {
  readonly userIds: readonly string[];
  /** Lines read so far, including blank lines and the header of a CSV. */
  readonly lines: number;
}

const maxLineBytes = 64 * 1024;
/** After decompression. */
const maxBytes = amounts.uploadBytes.most;
const newline = 0x0a;

/**
 * @throws TailraceError (from the iteration) `invalid-membership`, with the line and the rule it breaks
 */
export async function* readMembers(
  stream: AsyncIterable<Buffer>,
  format: MembershipFormat,
): AsyncGenerator<MembersBatch> {
  const readLine = format === 'csv' ? createCsvReader() : readJsonLine;
  let lineNumber = 0;
  const read = (lines: readonly string[]): MembersBatch => {
    const userIds: string[] = [];
    for (const line of lines) {
      lineNumber += 1;
      const found = readLine(line, lineNumber);
      if (found !== undefined) userIds.push(checkUserId(found.userId, found.line));
    }
    return { userIds, lines: lineNumber };
  };

  let bytes = 0;
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw invalid(`The membership has more than ${maxBytes / 2 ** 30} GiB.`);
    const end = chunk.lastIndexOf(newline) + 1;
    if (end > 0) {
      const whole = Buffer.concat([...rest, chunk.subarray(0, end - 1)]);
      rest = [];
      restBytes = 0;
      yield read(linesOf(whole, lineNumber));
    }
    if (end < chunk.length) {
      rest.push(chunk.subarray(end));
      restBytes += chunk.length - end;
      if (restBytes > maxLineBytes) throw tooLong(lineNumber + 1);
    }
  }
  if (restBytes > 0) yield read(linesOf(Buffer.concat(rest), lineNumber));
  if (format === 'csv') readLine(endOfFile, lineNumber);
}

/** Ends the input of the CSV reader: a quoted field that is still open is an error. */
const endOfFile = Symbol('end of file');

interface Found {
  readonly userId: string;
  /** The first line of the row; a CSV row may span several lines. */
  readonly line: number;
}

type LineReader = (line: string | typeof endOfFile, lineNumber: number) => Found | undefined;

const readJsonLine: LineReader = (line, lineNumber) => {
  if (line === endOfFile || isBlank(line)) return undefined;
  let value: unknown;
  try {
    value = parseJson(line);
  } catch {
    throw invalidLine(lineNumber, 'is not JSON; write {"userId": "..."} or "..." on each line');
  }
  if (typeof value === 'string') return { userId: value, line: lineNumber };
  const isObject =
    typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
  if (!isObject) throw invalidLine(lineNumber, 'must be {"userId": "..."}, or a JSON string');
  const { userId } = value as { readonly userId?: unknown };
  // Whole numbers are accepted as in a tracking call.
  const text = typeof userId === 'string' ? userId : wholeDigits(userId);
  if (text !== undefined) return { userId: text, line: lineNumber };
  throw invalidLine(lineNumber, userId === undefined ? 'has no userId' : 'has a userId that is no string');
};

/** The first row is a header if one of its columns is named userId; otherwise the file must have a single column. */
function createCsvReader(): LineReader {
  let column: number | undefined;
  let columns = 0;
  let row: CsvRow | undefined;
  let rowLine = 0;
  return (line, lineNumber) => {
    if (line === endOfFile) {
      if (row) throw invalidLine(rowLine, 'has a quoted field that does not end');
      return undefined;
    }
    if (!row) {
      if (isBlank(line)) return undefined;
      rowLine = lineNumber;
    }
    row = readCsvRow(line, row);
    if (row.problem !== undefined) throw invalidLine(rowLine, row.problem);
    if (row.open) {
      if (row.length > maxLineBytes) throw tooLong(rowLine);
      return undefined;
    }
    const { fields } = row;
    row = undefined;
    if (column === undefined) {
      const named = fields.findIndex((name) => /^user_?id$/i.test(name.trim()));
      if (named < 0 && fields.length > 1) {
        throw invalidLine(
          rowLine,
          'must be a header with a column userId, where there is more than one column',
        );
      }
      column = Math.max(named, 0);
      columns = fields.length;
      if (named >= 0) return undefined;
    }
    if (fields.length !== columns) {
      throw invalidLine(rowLine, `has ${count(fields.length, 'column')}, and the first row ${columns}`);
    }
    return { userId: fields[column] ?? '', line: rowLine };
  };
}

function checkUserId(userId: string, line: number): string {
  if (userId === '') throw invalidLine(line, 'has an empty userId');
  const problem = idProblem(userId, maxIdLength);
  if (problem !== undefined) throw invalidLine(line, `has a userId, which ${problem}`);
  return userId;
}

function linesOf(bytes: Buffer, linesBefore: number): string[] {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: linesBefore > 0 }).decode(bytes);
  } catch {
    throw invalidLine(firstUndecodable(bytes, linesBefore), 'is not UTF-8');
  }
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    if (line.length > maxLineBytes) throw tooLong(linesBefore + index + 1);
    if (line.endsWith('\r')) lines[index] = line.slice(0, -1);
  }
  return lines;
}

function firstUndecodable(bytes: Buffer, linesBefore: number): number {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let lineNumber = linesBefore + 1, start = 0; ; lineNumber += 1) {
    const end = bytes.indexOf(newline, start);
    try {
      decoder.decode(bytes.subarray(start, end < 0 ? bytes.length : end));
    } catch {
      return lineNumber;
    }
    if (end < 0) return lineNumber;
    start = end + 1;
  }
}

function isBlank(line: string): boolean {
  return line.trim() === '';
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function tooLong(line: number): TailraceError {
  return invalidLine(line, `is longer than ${maxLineBytes / 1024} KB`);
}

function invalidLine(line: number, problem: string): TailraceError {
  return invalid(`Line ${line} ${problem}.`);
}

function invalid(problem: string): TailraceError {
  return new TailraceError('invalid-membership', `${problem} Nothing was changed.`);
}
