/**
 * Lists by filter, newest first, in slices of bounded work: two filters may match a million rows each and none together, and
 * SQLite holds the event loop while it looks for them.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { bounded } from '@tailrace/records';
import type { SqlRow } from './row.ts';

export interface ListedTable<Name extends string, Row> {
  readonly table: string;
  /** The table with those that are joined to it, where `select` needs them. */
  readonly from?: string;
  /** Of the rows of the list. */
  readonly select: string;
  /** The column of the time, and those that order rows of the same millisecond. */
  readonly order: readonly [time: string, ...ties: string[]];
  /** The column of each field of a filter. */
  readonly columns: Readonly<Record<Name, string>>;
  /** The index of each column, which begins with the column and the time. */
  readonly indexes: Readonly<Record<string, string>>;
  /** The index of the time. */
  readonly timeIndex: string;
  readonly rowOf: (row: SqlRow) => Row;
}

/** Absent fields match every row. Of several values a row has one. Times are milliseconds since the epoch; `until` is exclusive. */
export type ListFilter<Name extends string> = Readonly<
  Partial<Record<Name, string | readonly string[] | undefined>>
> & { readonly since?: number | undefined; readonly until?: number | undefined };

/** A column, and the values of which it must have one. */
type Wanted = readonly [column: string, values: readonly SQLInputValue[]];

/** The values of `order` of a row, after which the list continues. */
export type ListPosition = readonly (string | number)[];

export interface Slice<Row> {
  readonly rows: readonly Row[];
  /** Where the slice ended, unless it ended with the list. */
  readonly reached: ListPosition | undefined;
}

interface Bounds {
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly after: ListPosition | undefined;
  readonly limit: number;
}

/** The rows of one value of an index. */
interface Part {
  readonly found: readonly { readonly row: SQLInputValue; readonly position: ListPosition }[];
  /** As `reached` of a slice. */
  readonly reached: ListPosition | undefined;
}

/** Rows of one slice that are compared with further filters. */
const sliceRows = 5_000;
/** Rows of one of several parts. */
const leastRows = 20;
/** Limit when the rows of a filter are counted to choose an index. */
const countedRows = 2_000;

/** Returns the list of a table, newest first. A slice may have fewer rows than `limit`, and the list may continue after it. */
export function listQueries<Name extends string, Row>(
  db: DatabaseSync,
  listed: ListedTable<Name, Row>,
): (filter: ListFilter<Name>, limit: number, after?: ListPosition) => Slice<Row> {
  const { table, from = table, select, order, columns, indexes, timeIndex, rowOf } = listed;
  const [time] = order;
  const prepared = preparedOnce(db);
  const find = db.prepare(`SELECT ${select} FROM ${from} WHERE ${table}.row = ?`);
  const position = order.join(', ');
  const sorted = order.map((column) => `${column} DESC`).join(', ');

  /**
   * SQLite knows nothing of the values: the same filter may match a million rows and another ten. So the rows of each filter
   * are counted up to a limit, and the list is read by the index with the fewest rows.
   */
  const rarest = (wanted: readonly Wanted[]): Wanted | undefined => {
    const indexed = wanted.filter(([column]) => column in indexes);
    if (indexed.length < 2) return indexed[0];
    let best: Wanted | undefined;
    let fewest = Infinity;
    for (const one of indexed) {
      const rows = countUpTo(one);
      if (rows < fewest) [best, fewest] = [one, rows];
    }
    return best;
  };

  const countUpTo = ([column, values]: Wanted): number => {
    const counting = prepared(
      `SELECT count(*) AS rows FROM (SELECT 1 FROM ${table} INDEXED BY ${indexes[column] ?? ''} ` +
        `WHERE ${column} = ? LIMIT ?)`,
    );
    let rows = 0;
    for (const value of values) {
      rows += Number(counting.get(value, countedRows - rows)?.['rows']);
      if (rows >= countedRows) break;
    }
    return rows;
  };

  /** Reads up to `maxRows` rows by an index, and keeps those that match the other filters. */
  const readPart = (
    { since, until, after, limit }: Bounds,
    by: readonly [column: string, value: SQLInputValue] | undefined,
    others: readonly Wanted[],
    maxRows: number,
  ): Part => {
    const conditions: string[] = [];
    const values: SQLInputValue[] = [];
    const add = (condition: string, ...more: readonly SQLInputValue[]): void => {
      conditions.push(condition);
      values.push(...more);
    };
    if (by) add(`${by[0]} = ?`, by[1]);
    if (since !== undefined) add(`${time} >= ?`, since);
    if (until !== undefined) add(`${time} < ?`, until);
    // The first condition bounds the search in the index.
    if (after) {
      add(`${time} <= ?`, after[0] ?? 0);
      add(`(${position}) < (${order.map(() => '?').join(', ')})`, ...after);
    }
    const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
    const index = (by && indexes[by[0]]) ?? timeIndex;
    const matches = others.map(([column, among]) =>
      among.length === 1 ? `${column} = ?` : `${column} IN (SELECT value FROM json_each(?))`,
    );
    const candidates = prepared(
      `SELECT row, ${position}, (${matches.join(' AND ') || '1'}) AS matches FROM ${table} INDEXED BY ${index} ${where} ` +
        `ORDER BY ${sorted} LIMIT ?`,
    ).iterate(
      ...others.map(([, among]) => (among.length === 1 ? (among[0] ?? null) : JSON.stringify(among))),
      ...values,
      maxRows,
    );
    const found: Part['found'][number][] = [];
    let read = 0;
    let last: ListPosition | undefined;
    for (const candidate of candidates) {
      read += 1;
      last = order.map((column) => candidate[column.replaceAll('"', '')] as string | number);
      if (candidate['matches'] === 1) found.push({ row: candidate['row'] ?? null, position: last });
      if (found.length === limit) break;
    }
    return { found, reached: read === maxRows || found.length === limit ? last : undefined };
  };

  return (filter, limit, after) => {
    const wanted = Object.entries<string>(columns).flatMap(([name, column]): Wanted[] => {
      const value: string | readonly string[] | undefined = filter[name as Name];
      return value === undefined ? [] : [[column, [value].flat().map(bounded)]];
    });
    const bounds = { since: filter.since, until: filter.until, after, limit };
    const indexed = rarest(wanted);
    const others = wanted.filter((one) => one !== indexed);
    const values = indexed?.[1] ?? [undefined];
    const parts = Math.max(1, values.length);
    // Of several parts most rows are not among the newest, so little is read of each at a time.
    const maxRows =
      others.length > 0
        ? Math.ceil(sliceRows / parts)
        : Math.min(limit, Math.max(leastRows, Math.ceil((2 * limit) / parts)));
    const { found, reached } = mergeParts(
      values.map((value) =>
        readPart(bounds, indexed && value !== undefined ? [indexed[0], value] : undefined, others, maxRows),
      ),
      limit,
    );
    const rows = found.flatMap(({ row }): Row[] => {
      const whole = find.get(row);
      return whole ? [rowOf(whole)] : [];
    });
    return { rows, reached };
  };
}

/** The newest rows of all parts, as far as every part was read. */
function mergeParts(parts: readonly Part[], limit: number): Part {
  const [first] = parts;
  if (first && parts.length === 1) return first;
  const [end] = parts.flatMap(({ reached }) => (reached ? [reached] : [])).sort(newestFirst);
  const found = parts
    .flatMap((part) => part.found)
    .filter(({ position }) => !end || newestFirst(position, end) <= 0)
    .sort((a, b) => newestFirst(a.position, b.position))
    .slice(0, limit);
  return { found, reached: found.length === limit ? found.at(-1)?.position : end };
}

/** The order of the lists, as SQLite sorts them: texts by their bytes. */
function newestFirst(one: ListPosition, other: ListPosition): number {
  for (const [index, value] of one.entries()) {
    const difference = compare(other[index] ?? '', value);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compare(one: string | number, other: string | number): number {
  if (typeof one === 'string' && typeof other === 'string') {
    return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other));
  }
  return Number(one) - Number(other);
}

function preparedOnce(db: DatabaseSync): (sql: string) => StatementSync {
  const statements = new Map<string, StatementSync>();
  return (sql) => {
    let statement = statements.get(sql);
    if (!statement) statements.set(sql, (statement = db.prepare(sql)));
    return statement;
  };
}
