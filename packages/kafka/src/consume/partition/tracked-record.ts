/** Records whose work is tracked: each counts as unfinished until `done()`. */
import { lastOfEach, type ConsumedRecord, type RecordHeader } from '../../record.ts';
import type { FetchedRecord } from '../../wire/record-batch.ts';
import type { Partition } from './partition.ts';
import type { Mark } from './watermark.ts';

/** The work for one record, without the record's bytes. */
export interface Work {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  /** The partition was assigned to another member, which repeats the work. Drop it. */
  readonly revoked: boolean;
  /**
   * Call once, when the record need not be read again.
   *
   * @param trace what should be written before the record is committed. Where that takes too long, it is committed without.
   */
  done(trace?: Promise<unknown>): void;
}

export interface TrackedRecord extends ConsumedRecord, Work {
  /** For work that waits. A record keeps everything that was fetched with it in memory, and its work does not. */
  readonly work: Work;
}

/** A record of a topic whose records are not due immediately. */
export interface DueRecord extends TrackedRecord {
  /** Sets when the record is due, in milliseconds since the epoch. Until then it does not count as late. */
  waitsUntil(dueAt: number): void;
}

export class PartitionWork implements Work {
  readonly #partition: Partition;
  readonly #mark: Mark;
  readonly #bytes: number;
  readonly #onDone: (partition: Partition) => void;
  #isDone = false;

  constructor(
    partition: Partition,
    { offset, timestamp }: Pick<Work, 'offset' | 'timestamp'>,
    bytes: number,
    onDone: (partition: Partition) => void,
  ) {
    this.#partition = partition;
    this.#mark = partition.track(offset, bytes, timestamp);
    this.#bytes = bytes;
    this.#onDone = onDone;
  }

  get topic(): string {
    return this.#partition.topic;
  }

  get partition(): number {
    return this.#partition.partition;
  }

  get offset(): number {
    return this.#mark.offset;
  }

  get timestamp(): number {
    return this.#mark.timestamp;
  }

  get revoked(): boolean {
    return this.#partition.revoked;
  }

  waitsUntil(dueAt: number): void {
    this.#mark.dueAt = dueAt;
  }

  done(trace?: Promise<unknown>): void {
    if (this.#isDone || this.revoked) return;
    this.#isDone = true;
    this.#partition.finish(this.#mark, this.#bytes, trace);
    this.#onDone(this.#partition);
  }
}

export class ReceivedRecord implements DueRecord {
  readonly work: PartitionWork;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headerList: readonly RecordHeader[];
  #headers: Readonly<Record<string, Buffer>> | undefined;

  constructor(work: PartitionWork, { key, value, headers }: FetchedRecord) {
    this.work = work;
    this.key = key;
    this.value = value;
    this.headerList = headers;
  }

  /** Created on first use. */
  get headers(): Readonly<Record<string, Buffer>> {
    return (this.#headers ??= lastOfEach(this.headerList));
  }

  get topic(): string {
    return this.work.topic;
  }

  get partition(): number {
    return this.work.partition;
  }

  get offset(): number {
    return this.work.offset;
  }

  get timestamp(): number {
    return this.work.timestamp;
  }

  get revoked(): boolean {
    return this.work.revoked;
  }

  waitsUntil(dueAt: number): void {
    this.work.waitsUntil(dueAt);
  }

  done(trace?: Promise<unknown>): void {
    this.work.done(trace);
  }
}
