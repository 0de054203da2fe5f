/**
 * The memory budget of all requests together, from their first byte to their response.
 *
 * Each request has a share of the budget. The share counts memory that outlives a turn of the event loop: the
 * request itself, its body as it arrives and after decompression, its records while they wait for Kafka, and the
 * response until it is sent. The objects that a body is parsed into never outlive the turn, so only one body at a
 * time exists in parsed form. README.md, "Memory", has the result.
 *
 * The budget is divided by dynamic thresholds: one owner (a source, or all requests whose source is not known yet)
 * may hold three times the free memory. So a single owner gets three quarters of the budget, two owners get three
 * sevenths each, and a rest is always free for another.
 */
import { TailraceError, type ErrorCode } from '@tailrace/errors';

export interface MemoryBudget {
  /** The sum of all shares. */
  readonly heldBytes: number;
  /**
   * Opens the share of a request whose source is not known yet. It holds nothing until the first reservation, then
   * `ownBytes` in addition to the reserved bytes.
   */
  open(ownBytes: number): MemoryShare;
}

export interface MemoryShare {
  /**
   * Replaces the reservation by `bytes`. A smaller reservation always succeeds.
   *
   * @throws TailraceError `overloaded`, or `exceeded` where the request could not get this much even alone
   */
  reserve(bytes: number, exceeded: ErrorCode): void;
  /**
   * Replaces the reservation by `bytes` without a check, for memory that is already in use or was reserved before.
   */
  set(bytes: number): void;
  /**
   * Makes the source the owner of the share.
   *
   * @throws TailraceError `overloaded` where the source would then hold too much; the owner stays the same
   */
  assignTo(sourceId: string): void;
  /** Releases the share permanently. */
  close(): void;
}

/** The memory of one owner, as a multiple of the free memory. */
const maxTimesFree = 3;

interface Owner {
  bytes: number;
}

export function createMemoryBudget(maxBytes: number): MemoryBudget {
  const unidentified: Owner = { bytes: 0 };
  const sources = new Map<string, Owner>();
  const largestShare = (maxBytes * maxTimesFree) / (maxTimesFree + 1);
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
  /** Whether `owner` would hold too much with `more` new bytes, and `taken` bytes from another owner. */
  const isTooMuch = (owner: Owner, more: number, taken = 0): boolean =>
    owner.bytes + taken + more > maxTimesFree * (maxBytes - heldByAll - more);

  class Share implements MemoryShare {
    readonly #ownBytes: number;
    #owner = unidentified;
    #held = 0;
    #closed = false;

    constructor(ownBytes: number) {
      this.#ownBytes = ownBytes;
    }

    reserve(bytes: number, exceeded: ErrorCode): void {
      const whole = this.#ownBytes + bytes;
      const more = whole - this.#held;
      // After the connection is closed, code that still runs for it holds no lasting memory.
      if (this.#closed) return;
      if (more > 0 && isTooMuch(this.#owner, more)) {
        throw whole > largestShare ? neverGranted(exceeded) : new TailraceError('overloaded');
      }
      this.set(bytes);
    }

    set(bytes: number): void {
      if (!this.#closed) this.#setHeld(this.#ownBytes + bytes);
    }

    assignTo(sourceId: string): void {
      const owner = ownerOf(sourceId);
      if (owner === this.#owner) return;
      if (isTooMuch(owner, 0, this.#held)) throw new TailraceError('overloaded');
      add(this.#owner, -this.#held);
      add(owner, this.#held);
      this.#owner = owner;
    }

    close(): void {
      this.#setHeld(0);
      this.#closed = true;
    }

    #setHeld(held: number): void {
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
    'The request needs more memory than one request may use. Send less in one request, or raise TAILRACE_INGEST_BUFFER.';
  return new TailraceError(code, message);
}
