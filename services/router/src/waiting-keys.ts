/**
 * Which keys of one partition have a record in `events.waiting`, so that their later records queue behind it. Memory
 * is bounded: beyond so many keys, some others share their fate with those that wait, which costs them time and nothing else.
 */
import { hash } from 'node:crypto';

/** Some 50 bytes each. */
const mostKeys = 100_000;
/** For keys beyond that. */
const sharedPlaces = 2 ** 16;

/** 52 bits of a hash: among 100,000 keys, two share theirs once in a million times. */
export type KeyHash = number;

export function keyHash(key: Buffer): KeyHash {
  return Number.parseInt(hash('sha1', key, 'hex').slice(0, 13), 16);
}

export class WaitingKeys {
  /** The offset in `events` of the last record of each key that waits. */
  readonly #last = new Map<KeyHash, number>();
  readonly #most: number;
  /** Has a one where a key waits that found no space above. */
  #shared: Uint8Array | undefined;

  constructor(most = mostKeys) {
    this.#most = most;
  }

  get isEmpty(): boolean {
    return this.#last.size === 0 && this.#shared === undefined;
  }

  has(key: KeyHash): boolean {
    return this.#last.has(key) || this.#shared?.[key % sharedPlaces] === 1;
  }

  /** The record at this offset of `events` waits; the same may be added again. */
  add(key: KeyHash, offset: number): void {
    if (this.#last.has(key) || this.#last.size < this.#most) {
      this.#last.set(key, Math.max(offset, this.#last.get(key) ?? 0));
      return;
    }
    this.#shared ??= new Uint8Array(sharedPlaces);
    this.#shared[key % sharedPlaces] = 1;
  }

  /** The record at this offset of `events` waits no more, nor do those of its key before it. */
  leave(key: KeyHash, offset: number): void {
    if ((this.#last.get(key) ?? Infinity) <= offset) this.#last.delete(key);
  }

  /** Nothing waits in the partition any more. */
  leaveAll(): void {
    this.#last.clear();
    this.#shared = undefined;
  }
}
