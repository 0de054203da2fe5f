/** The log of one partition: records at consecutive offsets, of which the oldest may have expired. */
import { toRecord } from '../fetched-record.ts';
import { readBack, type ConsumedRecord, type OutgoingRecord } from '../record.ts';
import type { FetchedRecord } from '../wire/record-batch.ts';

const batchContext = { producerId: '-1', inTransaction: false };

export class PartitionLog {
  readonly topic: string;
  readonly partition: number;
  #entries: FetchedRecord[] = [];
  #low = 0;

  constructor(topic: string, partition: number) {
    this.topic = topic;
    this.partition = partition;
  }

  /** The first offset that has not expired. */
  get low(): number {
    return this.#low;
  }

  /** The offset after the last. */
  get high(): number {
    return this.#low + this.#entries.length;
  }

  /** The visible records, as a consumer receives them. */
  get records(): ConsumedRecord[] {
    return this.#entries
      .filter(({ isControlRecord }) => !isControlRecord)
      .map((entry) => toRecord(this.topic, this.partition, entry));
  }

  append(
    { key, value, headers }: Pick<OutgoingRecord, 'key' | 'value' | 'headers'>,
    timestamp = Date.now(),
  ): void {
    this.#add({ key: bytesOf(key), value: bytesOf(value), headers: readBack(headers).headerList, timestamp });
  }

  /** Adds offsets that hold no visible record: transaction markers and aborted records. */
  appendInvisible(count: number): void {
    for (let nth = 0; nth < count; nth += 1) this.#add({ isControlRecord: true });
  }

  /** Adds a batch of one record that cannot be decoded. */
  appendUnreadable(): void {
    const offset = this.high;
    const detail = 'The checksum of the batch is wrong.';
    this.#add({ unreadable: { firstOffset: offset, lastOffset: offset, reason: 'undecodable', detail } });
  }

  /** Removes the records below `offset`, as retention does. */
  expire(offset: number): void {
    const low = Math.min(Math.max(offset, this.#low), this.high);
    this.#entries = this.#entries.slice(low - this.#low);
    this.#low = low;
  }

  /** The entries from `offset` on, at least one where there is one, until they have `maxBytes`. */
  read(offset: number, maxBytes: number): FetchedRecord[] {
    const start = offset - this.#low;
    let end = start;
    for (let bytes = 0; end < this.#entries.length && bytes < maxBytes; end += 1) {
      bytes += storedBytes(this.#entries.slice(end, end + 1));
    }
    return this.#entries.slice(start, end);
  }

  /** The first offset of `time` or later; `high` where all records are older. */
  offsetAt(time: number): number {
    return this.#entries.find(({ timestamp }) => timestamp >= time)?.offset ?? this.high;
  }

  #add(entry: Partial<FetchedRecord>): void {
    const timestamp = Date.now();
    const defaults = { key: null, value: null, headers: [], isControlRecord: false, batchContext, timestamp };
    this.#entries.push({ ...defaults, ...entry, offset: this.high });
  }
}

function bytesOf(content: string | Buffer | null): Buffer | null {
  return content === null ? null : Buffer.from(content);
}

/** What a broker would store of these records, without its own fields. */
export function storedBytes(records: readonly Pick<FetchedRecord, 'key' | 'value'>[]): number {
  return records.reduce((sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0), 0);
}
