/** What one partition has waiting in `events.waiting`, as far as this router has read it. The records' bytes stay in Kafka. */
import type { Work } from '@tailrace/kafka';
import { WaitingKeys, type KeyHash } from './waiting-keys.ts';

/** A record that waits: it is read again when it may be its turn. */
export interface Held {
  readonly work: Work;
  /** Undefined where the record has no key, and so no order. */
  readonly key: KeyHash | undefined;
  /** It is being routed, which takes longer than a moment. */
  started: boolean;
}

export class WaitingPartition {
  readonly number: number;
  /** Of what waits, read or not. */
  readonly keys = new WaitingKeys();
  /** By offset in `events.waiting`, in that order. */
  readonly held = new Map<number, Held>();
  readonly #heldOf = new Map<KeyHash, number>();
  /** Schemas that what is held waits for. */
  readonly needed = new Set<number>();
  /** Whether something that is held may be routed now. */
  unsettled = false;
  /** Any work of the partition: tells whether it is still owned. */
  owner: Pick<Work, 'revoked'> | undefined;
  /** The offset in `events` of what was written last to `events.waiting`, until it is read there. */
  #unread: number | undefined;

  constructor(number: number) {
    this.number = number;
  }

  get revoked(): boolean {
    return this.owner?.revoked === true;
  }

  /** Whether a record of this key is held. */
  holds(key: KeyHash | undefined): boolean {
    return key !== undefined && this.#heldOf.has(key);
  }

  heldKeys(): Iterable<KeyHash> {
    return this.#heldOf.keys();
  }

  /** A record at this offset of `events` is written behind all that waits. */
  wrote(key: KeyHash | undefined, offset: number): void {
    if (key !== undefined) this.keys.add(key, offset);
    this.#unread = offset;
  }

  /** It is found among what waits; that may not have been written last. */
  found(key: KeyHash | undefined, offset: number): void {
    if (key !== undefined) this.keys.add(key, offset);
    this.#unread = Infinity;
  }

  /** It was read there. */
  read(offset: number): void {
    if (this.#unread === offset) this.#unread = undefined;
  }

  hold(work: Work, key: KeyHash | undefined): Held {
    const held = { work, key, started: false };
    this.held.set(work.offset, held);
    if (key !== undefined) this.#heldOf.set(key, (this.#heldOf.get(key) ?? 0) + 1);
    return held;
  }

  /** What was read at `offset` of `events` is on its way; where it was held, it is not any more. */
  leave(work: Pick<Work, 'offset'>, key: KeyHash | undefined, offset: number): void {
    if (this.held.delete(work.offset) && key !== undefined) {
      const others = (this.#heldOf.get(key) ?? 1) - 1;
      if (others === 0) this.#heldOf.delete(key);
      else this.#heldOf.set(key, others);
    }
    if (key !== undefined) this.keys.leave(key, offset);
    if (this.held.size === 0 && this.#unread === undefined) this.keys.leaveAll();
  }

  /** For what is held and lies in `events.waiting` no more. */
  forget({ work, key }: Held): void {
    this.leave(work, key, -1);
  }
}
