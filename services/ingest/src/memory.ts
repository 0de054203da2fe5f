/**
 * What all requests together may hold in memory, from the first byte to the answer.
 *
 * Each request has a share of one budget. The share counts what outlives a turn of the event loop: the request itself,
 * its body as it arrives and after decompression, its records while they wait for Kafka, and the answer until it is
 * sent. The objects that a body is parsed into never outlive the turn in which it is parsed, so that only one body at a
 * time is held parsed; README.md, "Memory", has the numbers.
 *
 * The budget is divided by dynamic thresholds: one owner (a source, or all requests together whose source is not known
 * yet) may hold three times as much as is free. So one alone gets three quarters of the budget, two get three sevenths
 * each, and there is always something left for another.
 */
import { TailraceError, type ErrorCode } from '@tailrace/errors';

export interface MemoryBudget {
  /** What the shares come to. */
  readonly heldBytes: number;
  /**
   * The share of a request whose source is not known yet. It holds nothing until it is asked for, and from then on
   * `ownBytes` beside what it is asked for.
   */
  open(ownBytes: number): MemoryShare;
}

export interface MemoryShare {
  /**
   * Holds `bytes` from now on, in place of what it held. Less than before is always granted.
   *
   * @throws TailraceError `overloaded`, or `exceeded` where it would not be granted to a request that is alone either
   */
  ask(bytes: number, exceeded: ErrorCode): void;
  /** Holds `bytes` from now on, which are in memory already or were asked for before: nothing is refused. */
  keep(bytes: number): void;
  /**
   * From now on the source with this id is the owner.
   *
   * @throws TailraceError `overloaded` where the source would then hold too much; the owner stays the same
   */
  belongTo(sourceId: string): void;
  /** Returns all of it, for good. */
  close(): void;
}

/** How many times as much as is free one owner may hold. */
const timesFree = 3;

interface Owner {
  bytes: number;
}

export function createMemoryBudget(maxBytes: number): MemoryBudget {
  const unidentified: Owner = { bytes: 0 };
  const sources = new Map<string, Owner>();
  const largestShare = (maxBytes * timesFree) / (timesFree + 1);
  let heldByAll = 0;

  const add = (owner: Owner, bytes: number): void => {
    owner.bytes += bytes;
    heldByAll += bytes;
  };
  const ownerOf = (sourceId: string): Owner => {
    let owner = sources.get(sourceId);
    if (!owner) sources.set(sourceId, (owner = { bytes: 0 }));
    return owner;
  };
  /** Whether `owner` would hold too much with `more`, and with what another owner holds already. */
  const isTooMuch = (owner: Owner, more: number, taken = 0): boolean =>
    owner.bytes + taken + more > timesFree * (maxBytes - heldByAll - more);

  class Share implements MemoryShare {
    readonly #ownBytes: number;
    #owner = unidentified;
    #held = 0;
    #closed = false;

    constructor(ownBytes: number) {
      this.#ownBytes = ownBytes;
    }

    ask(bytes: number, exceeded: ErrorCode): void {
      const whole = this.#ownBytes + bytes;
      const more = whole - this.#held;
      // Where the connection is gone, what still runs for it holds nothing that lasts.
      if (this.#closed) return;
      if (more > 0 && isTooMuch(this.#owner, more)) {
        throw whole > largestShare ? neverGranted(exceeded) : new TailraceError('overloaded');
      }
      this.keep(bytes);
    }

    keep(bytes: number): void {
      if (!this.#closed) this.#set(this.#ownBytes + bytes);
    }

    belongTo(sourceId: string): void {
      const owner = ownerOf(sourceId);
      if (owner === this.#owner) return;
      if (isTooMuch(owner, 0, this.#held)) throw new TailraceError('overloaded');
      add(this.#owner, -this.#held);
      add(owner, this.#held);
      this.#owner = owner;
    }

    close(): void {
      this.#set(0);
      this.#closed = true;
    }

    #set(held: number): void {
      add(this.#owner, held - this.#held);
      this.#held = held;
    }
  }

  return {
    get heldBytes() {
      return heldByAll;
    },
    open: (ownBytes) => new Share(ownBytes),
  };
}

function neverGranted(code: ErrorCode): TailraceError {
  const message =
    'The request needs more memory than one may have here. Send less in one request, or raise TAILRACE_INGEST_BUFFER.';
  return new TailraceError(code, message);
}
