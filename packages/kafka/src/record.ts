/** Records as the rest of Tailrace sees them: nothing of the client library shows through. */
import type { FetchedRecord } from './wire/record-batch.ts';

/** One header as it is written in the record. Kafka allows a name to repeat and a value to be null. */
export type RecordHeader = readonly [name: string, value: Buffer | null];

export interface OutgoingRecord {
  readonly topic: string;
  /** Chosen from the key where absent. */
  readonly partition?: number | undefined;
  readonly key: string | Buffer | null;
  readonly value: string | Buffer | null;
  /** An object, or, where names repeat or values are null, a list in the order to be written. */
  readonly headers?: OutgoingHeaders | undefined;
}

export type OutgoingHeaders =
  Readonly<Record<string, string | Buffer>> | readonly (readonly [string, string | Buffer | null])[];

export interface ConsumedRecord {
  readonly topic: string;
  readonly partition: number;
  /** Well inside the safe integers: 2^53 records are centuries of a million a second. */
  readonly offset: number;
  /** Milliseconds since the epoch: when it was produced, or appended, as the topic is configured. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** For reading: of a repeated header the last value that is not null. The object has no prototype. */
  readonly headers: Readonly<Record<string, Buffer>>;
  /** For passing on: all headers in their order, repeated ones and null values included. */
  readonly headerList: readonly RecordHeader[];
}

/** As the client library hands it over, whose types differ from what wire/fetch-response.ts makes. */
export function fetchedRecords(batch: { readonly messages: readonly unknown[] }): readonly FetchedRecord[] {
  return batch.messages as readonly FetchedRecord[];
}

export function toRecord(topic: string, partition: number, fetched: FetchedRecord): ConsumedRecord {
  const { offset, timestamp, key, value, headers: headerList } = fetched;
  return { topic, partition, offset, timestamp, key, value, headers: lastOfEach(headerList), headerList };
}

/** The object to read headers from. */
export function lastOfEach(headers: readonly RecordHeader[]): Readonly<Record<string, Buffer>> {
  const last = Object.create(null) as Record<string, Buffer>;
  for (const [name, value] of headers) if (value !== null) last[name] = value;
  return last;
}

export function headerEntries(
  headers: OutgoingHeaders = [],
): readonly (readonly [string, string | Buffer | null])[] {
  return isList(headers) ? headers : Object.entries(headers);
}

function isList(headers: OutgoingHeaders): headers is readonly (readonly [string, string | Buffer | null])[] {
  return Array.isArray(headers);
}

/** What a consumer will read of headers that were written. */
export function readBack(headers?: OutgoingHeaders): Pick<ConsumedRecord, 'headers' | 'headerList'> {
  const headerList = headerEntries(headers).map(([name, value]): RecordHeader => [
    name,
    value === null ? null : Buffer.from(value),
  ]);
  return { headers: lastOfEach(headerList), headerList };
}
