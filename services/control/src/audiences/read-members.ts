/**
 * Reads the user ids of an upload, NDJSON or CSV, in batches with backpressure: the whole membership, or users who were added and
 * removed. Memory is bounded by one chunk of the stream and the longest line. A file of one kind is refused as the other.
 *
 * Ids are not trimmed: " ada" and "ada" may be different users. In CSV they may have the guard of an export. An id is refused only if a
 * tracking call could not carry it.
 */
import { TailraceError } from '@tailrace/errors';
import { idProblem, isRawNumber, maxIdLength, parseJson, wholeDigits } from '@tailrace/events';
import { amounts } from '../access/shared.ts';
import { unguarded } from '../http/csv.ts';
import { readCsvRow, type CsvRow } from './csv-row.ts';
import type { AudienceSync, Change } from './state/records.ts';

export type MembershipFormat = 'ndjson' | 'csv';
export type UploadKind = Extract<AudienceSync['kind'], 'replace' | 'change'>;

export interface MembersBatch {
  readonly users: readonly Change[];
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
  kind: UploadKind,
): AsyncGenerator<MembersBatch> {
  const readLine =
    format === 'csv' ? createCsvReader(kind) : kind === 'change' ? readChangesLine : readMemberLine;
  let lineNumber = 0;
  const read = (lines: readonly string[]): MembersBatch => {
    const users: Change[] = [];
    for (const line of lines) {
      lineNumber += 1;
      const found = readLine(line, lineNumber);
      for (const change of found?.users ?? []) {
        checkUserId(change.userId, found?.line ?? lineNumber);
        users.push(change);
      }
    }
    return { users, lines: lineNumber };
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
  readonly users: readonly Change[];
  /** The first line of the row; a CSV row may span several lines. */
  readonly line: number;
}

type LineReader = (line: string | typeof endOfFile, lineNumber: number) => Found | undefined;

const readMemberLine: LineReader = (line, lineNumber) => {
  if (line === endOfFile || isBlank(line)) return undefined;
  const value = valueOf(line, lineNumber, '{"userId": "..."} or "..."');
  if (!isObject(value) && typeof value !== 'string') {
    throw invalidLine(lineNumber, 'must be {"userId": "..."}, or a JSON string');
  }
  const userId: unknown = isObject(value) ? value['userId'] : value;
  if (userId === undefined) throw invalidLine(lineNumber, 'has no userId');
  return { users: [{ userId: idOf(userId, lineNumber), isMember: true }], line: lineNumber };
};

const changesForm = '{"added": ["..."], "removed": ["..."]}';

/** A user in both lists is removed. */
const readChangesLine: LineReader = (line, lineNumber) => {
  if (line === endOfFile || isBlank(line)) return undefined;
  const value = valueOf(line, lineNumber, changesForm);
  const lists = isObject(value) ? value : {};
  if (lists['added'] === undefined && lists['removed'] === undefined) {
    throw invalidLine(lineNumber, `must be ${changesForm}`);
  }
  const users = changeColumns.flatMap(([name, isMember]) => {
    const { [name]: list = [] } = lists;
    if (!Array.isArray(list)) throw invalidLine(lineNumber, `has ${name}, which must be a list of userIds`);
    return list.map((userId: unknown) => ({ userId: idOf(userId, lineNumber), isMember }));
  });
  return { users, line: lineNumber };
};

function valueOf(line: string, lineNumber: number, form: string): unknown {
  try {
    return parseJson(line);
  } catch {
    throw invalidLine(lineNumber, `is not JSON; write ${form} on each line`);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/** Whole numbers are accepted as in a tracking call. */
function idOf(userId: unknown, line: number): string {
  const text = typeof userId === 'string' ? userId : wholeDigits(userId);
  if (text === undefined) throw invalidLine(line, 'has a userId that is no string');
  return text;
}

const changeColumns = [
  ['added', true],
  ['removed', false],
] as const;

interface Column {
  readonly index: number;
  readonly isMember: boolean;
}

/**
 * The columns with user ids. In a whole membership without a header the single one.
 *
 * @throws TailraceError `invalid-membership`
 */
function columnsOf(kind: UploadKind, row: readonly string[], line: number) {
  const names = row.map((name) => name.trim().toLowerCase());
  const changes = changeColumns.flatMap(([name, isMember]): Column[] =>
    names.includes(name) ? [{ index: names.indexOf(name), isMember }] : [],
  );
  const user = names.findIndex((name) => /^user_?id$/.test(name));
  if (kind === 'change') {
    if (changes.length > 0) return { columns: changes, isHeader: true };
    throw invalidLine(line, 'must be a header with a column added, removed or both');
  }
  if (user < 0 && changes.length > 0) {
    throw invalidLine(line, 'has the columns of changes, and not of a whole membership');
  }
  if (user < 0 && names.length > 1) {
    throw invalidLine(line, 'must be a header with a column userId, where there is more than one column');
  }
  return { columns: [{ index: Math.max(user, 0), isMember: true }], isHeader: user >= 0 };
}

function createCsvReader(kind: UploadKind): LineReader {
  let columns: readonly Column[] | undefined;
  let width = 0;
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
    if (!columns) {
      const found = columnsOf(kind, fields, rowLine);
      ({ columns } = found);
      width = fields.length;
      if (found.isHeader) return undefined;
    }
    if (fields.length !== width) {
      throw invalidLine(rowLine, `has ${count(fields.length, 'column')}, and the first row ${width}`);
    }
    const users = columns.map(({ index, isMember }) => ({
      userId: unguarded(fields[index] ?? ''),
      isMember,
    }));
    // The columns of changes may have different lengths.
    return { users: kind === 'change' ? users.filter(({ userId }) => userId !== '') : users, line: rowLine };
  };
}

function checkUserId(userId: string, line: number): void {
  if (userId === '') throw invalidLine(line, 'has an empty userId');
  const problem = idProblem(userId, maxIdLength);
  if (problem !== undefined) throw invalidLine(line, `has a userId, which ${problem}`);
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
