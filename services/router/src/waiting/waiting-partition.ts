/** The waiting records of one partition of `events.waiting`, as far as this router has read it. Their bytes stay in Kafka. */
import type { Work } from '@tailrace/kafka';
import { WaitingKeys, type KeyHash } from './keys.ts';

/** A waiting record that was received; a pass reads it again. */
export interface Entry {
  readonly work: Work;
  /** Undefined where the record has no key, and so no order. */
  readonly key: KeyHash | undefined;
  /** Processing began, and waits for a read of the configuration. */
  isProcessing: boolean;
}

export class WaitingPartition {
  readonly number: number;
  /** The keys of all waiting records, received or not. */
  readonly keys = new WaitingKeys();
  /** By offset in `events.waiting`, ascending. */
  readonly entries = new Map<number, Entry>();
  readonly #entriesOfKey = new Map<KeyHash, number>();
  /** Schemas that entries wait for. */
  readonly neededSchemas = new Set<number>();
  /** Whether an entry may be routable now. */
  needsPass = false;
  /** Any work of the partition; it knows whether the partition was revoked. */
  anyWork: Pick<Work, 'revoked'> | undefined;
  /** The offset in `events` of the record that was written last to `events.waiting`, until that record is received. */
  #notReceived: number | undefined;

  constructor(number: number) {
    this.number = number;
  }

  get revoked(): boolean {
    return this.anyWork?.revoked === true;
  }

  hasEntryOf(key: KeyHash | undefined): boolean {
    return key !== undefined && this.#entriesOfKey.has(key);
  }

  keysOfEntries(): Iterable<KeyHash> {
    return this.#entriesOfKey.keys();
  }

  /** The record at this offset of `events` is being written to the end of `events.waiting`. */
  addWritten(key: KeyHash | undefined, offset: number): void {
    if (key !== undefined) this.keys.add(key, offset);
    this.#notReceived = offset;
  }

  /** The record at this offset of `events` was found in `events.waiting`. It is unknown which record is the last one there. */
  addFound(key: KeyHash | undefined, offset: number): void {
    if (key !== undefined) this.keys.add(key, offset);
    this.#notReceived = Infinity;
  }

  /** The record at this offset of `events` was received from `events.waiting`. */
  received(offset: number): void {
    if (this.#notReceived === offset) this.#notReceived = undefined;
  }

  addEntry(work: Work, key: KeyHash | undefined): Entry {
    const entry = { work, key, isProcessing: false };
    this.entries.set(work.offset, entry);
    if (key !== undefined) this.#entriesOfKey.set(key, (this.#entriesOfKey.get(key) ?? 0) + 1);
    return entry;
  }

  /** The record no longer waits. `offset` is its offset in `events`; it need not have an entry. */
  remove(work: Pick<Work, 'offset'>, key: KeyHash | undefined, offset: number): void {
    if (this.entries.delete(work.offset) && key !== undefined) {
      const others = (this.#entriesOfKey.get(key) ?? 1) - 1;
      if (others === 0) this.#entriesOfKey.delete(key);
      else this.#entriesOfKey.set(key, others);
    }
    if (key !== undefined) this.keys.remove(key, offset);
    if (this.entries.size === 0 && this.#notReceived === undefined) this.keys.clear();
  }

  /** Removes an entry whose record expired in `events.waiting`. Its key stays, because its offset in `events` is unknown. */
  removeExpired({ work, key }: Entry): void {
    this.remove(work, key, -1);
  }
}
