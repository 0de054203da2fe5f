/** Records as the rest of Tailrace uses them, independent of the client library. */
/** One header of a record. Kafka allows repeated names and null values. */
export type RecordHeader = readonly [name: string, value: Buffer | null];

export interface OutgoingRecord {
  readonly topic: string;
  /** Default: chosen by the key. */
  readonly partition?: number | undefined;
  readonly key: string | Buffer | null;
  readonly value: string | Buffer | null;
  /** An object; or a list, if names repeat or values are null. */
  readonly headers?: OutgoingHeaders | undefined;
}

export type OutgoingHeaders =
  | Readonly<Record<string, string | Buffer>>
  | readonly (readonly [string, string | Buffer | null])[];

export interface ConsumedRecord {
  readonly topic: string;
  readonly partition: number;
  /** A safe integer: 2^53 records are centuries at a million a second. */
  readonly offset: number;
  /** Milliseconds since the epoch, at which it was produced or appended (the topic's `message.timestamp.type`). */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** By name, the last value that is not null. Nothing is inherited. */
  readonly headers: Readonly<Record<string, Buffer>>;
  /** All headers in order, including repeated names and null values. For passing them on unchanged. */
  readonly headerList: readonly RecordHeader[];
}

/** An object without a prototype is a hash table for V8, and takes twice as long to fill and read as one that inherits from it. */
const nothing = Object.freeze(Object.create(null) as object);

/** By name, the last value that is not null. */
export function lastOfEach(headers: readonly RecordHeader[]): Readonly<Record<string, Buffer>> {
  const last = Object.create(nothing) as Record<string, Buffer>;
  for (const [name, value] of headers) if (value !== null) last[name] = value;
  return last;
}

export function headerEntries(
  headers: OutgoingHeaders = [],
): readonly (readonly [string, string | Buffer | null])[] {
  return isList(headers) ? headers : Object.entries(headers);
}

/** The length of all names and values, without the list that {@link headerEntries} makes of an object. */
export function headersLength(headers: OutgoingHeaders = []): number {
  let length = 0;
  if (isList(headers)) {
    for (const [name, value] of headers) length += name.length + (value?.length ?? 0);
  } else {
    for (const name in headers) length += name.length + (headers[name]?.length ?? 0);
  }
  return length;
}

function isList(headers: OutgoingHeaders): headers is readonly (readonly [string, string | Buffer | null])[] {
  return Array.isArray(headers);
}

/** The headers of an outgoing record, as a consumer will read them. */
export function readBack(headers?: OutgoingHeaders): Pick<ConsumedRecord, 'headers' | 'headerList'> {
  const headerList = headerEntries(headers).map(([name, value]): RecordHeader => [
    name,
    value === null ? null : Buffer.from(value),
  ]);
  return { headers: lastOfEach(headerList), headerList };
}
