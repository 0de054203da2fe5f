/**
 * The keys of one partition that have a record in `events.waiting`, so that their later records queue behind it. Memory is
 * bounded: where a source has keys beyond the limit, all its keys wait.
 */
import { hash } from 'node:crypto';
import type { RecordOrder } from '../order.ts';

/** About 50 bytes each. */
const defaultMaxKeys = 100_000;

/** 16 bits of a hash of the source, and 36 bits of one of its key. A key waits for no reason where it shares both with a waiting one. */
export type KeyHash = number;
const keys = 2 ** 36;

export function keyHash({ source, key }: RecordOrder): KeyHash {
  return Number.parseInt(hash('sha1', source).slice(0, 4) + hash('sha1', key).slice(0, 9), 16);
}

function sourceHash(key: KeyHash): number {
  return Math.floor(key / keys);
}

export class WaitingKeys {
  /** The offset in `events` of the last waiting record of each key. */
  readonly #lastOffset = new Map<KeyHash, number>();
  readonly #maxKeys: number;
  /** The sources with a waiting key beyond the limit. */
  readonly #overflow = new Set<number>();

  constructor(maxKeys = defaultMaxKeys) {
    this.#maxKeys = maxKeys;
  }

  get isEmpty(): boolean {
    return this.#lastOffset.size === 0 && this.#overflow.size === 0;
  }

  has(key: KeyHash): boolean {
    return this.#lastOffset.has(key) || this.#overflow.has(sourceHash(key));
  }

  /** Adds the record at this offset of `events`. A record may be added more than once. */
  add(key: KeyHash, offset: number): void {
    if (this.#lastOffset.has(key) || this.#lastOffset.size < this.#maxKeys) {
      this.#lastOffset.set(key, Math.max(offset, this.#lastOffset.get(key) ?? 0));
      return;
    }
    this.#overflow.add(sourceHash(key));
  }

  /** Removes the key, unless a record behind this offset of `events` waits. */
  remove(key: KeyHash, offset: number): void {
    if ((this.#lastOffset.get(key) ?? Infinity) <= offset) this.#lastOffset.delete(key);
  }

  clear(): void {
    this.#lastOffset.clear();
    this.#overflow.clear();
  }
}
