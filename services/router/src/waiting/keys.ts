/**
 * The keys of one partition that have a record in `events.waiting`, so that their later records queue behind it. Memory is
 * bounded: keys beyond the limit share slots, and a key that shares a slot with a waiting one waits too.
 */
import { hash } from 'node:crypto';
import type { ConsumedRecord } from '@tailrace/kafka';

/** About 50 bytes each. */
const defaultMaxKeys = 100_000;
/** Slots for the keys beyond the limit. */
const overflowSlots = 2 ** 16;

/** 52 bits of a hash: among 100,000 keys, the probability that two share theirs is one in a million. */
export type KeyHash = number;

/** Undefined where the record has no key. */
export function keyOf({ key }: Pick<ConsumedRecord, 'key'>): KeyHash | undefined {
  return key === null ? undefined : Number.parseInt(hash('sha1', key, 'hex').slice(0, 13), 16);
}

export class WaitingKeys {
  /** The offset in `events` of the last waiting record of each key. */
  readonly #lastOffset = new Map<KeyHash, number>();
  readonly #maxKeys: number;
  /** 1 in the slot of each waiting key beyond the limit. */
  #overflow: Uint8Array | undefined;

  constructor(maxKeys = defaultMaxKeys) {
    this.#maxKeys = maxKeys;
  }

  get isEmpty(): boolean {
    return this.#lastOffset.size === 0 && this.#overflow === undefined;
  }

  has(key: KeyHash): boolean {
    return this.#lastOffset.has(key) || this.#overflow?.[key % overflowSlots] === 1;
  }

  /** Adds the record at this offset of `events`. A record may be added more than once. */
  add(key: KeyHash, offset: number): void {
    if (this.#lastOffset.has(key) || this.#lastOffset.size < this.#maxKeys) {
      this.#lastOffset.set(key, Math.max(offset, this.#lastOffset.get(key) ?? 0));
      return;
    }
    this.#overflow ??= new Uint8Array(overflowSlots);
    this.#overflow[key % overflowSlots] = 1;
  }

  /** Removes the key, unless a record behind this offset of `events` waits. */
  remove(key: KeyHash, offset: number): void {
    if ((this.#lastOffset.get(key) ?? Infinity) <= offset) this.#lastOffset.delete(key);
  }

  clear(): void {
    this.#lastOffset.clear();
    this.#overflow = undefined;
  }
}
