/**
 * Who may be sent, where deliveries of one key are sent one after another. This is one partition's part of it,
 * pure: deliveries arrive, fresh or from a tier, and end or go to a tier, and each time it is said what follows.
 *
 * The rule: a delivery is sent only when no earlier one of its key waits in a tier, and none is being sent. A
 * later one of a key waits in memory behind one that is being sent, and in a tier behind one that is in a tier.
 * "Earlier" is by sequence, which is unique, and not by arrival: tiers bring deliveries back in any order.
 *
 * Copies: after a crash a record may be there again whose successor was written already. A copy of what is being
 * sent, or waits, is stale: the other one is unfinished still, and stands for both. Where a copy is not known as
 * one, it is sent as if it were the original. So a mistake here can repeat a delivery, and never loses one.
 */
import { Backlog } from './backlog.ts';

/** A delivery, as far as its order goes. */
export interface Link {
  /** The hash of the record's key. */
  readonly key: number;
  readonly sequence: number;
  readonly bytes: number;
  /** Whether it comes from a tier, where it may have been known to wait. */
  readonly returned: boolean;
}

export type Verdict =
  | 'send'
  /** It waits in memory, and will be handed back when it is its turn. */
  | 'queued'
  /** It is to wait in a tier, behind those of its key that wait there; see `until`. */
  | 'behind'
  /** Another copy of it is on its way: this one is done. */
  | 'stale';

interface Chain<L> {
  head: L;
  startedAt: number;
  /** How long each took; what waits for its turn is put off by it where it does not fit in. */
  tookMs: number;
  /** Sorted by sequence. */
  readonly queue: L[];
  queuedBytes: number;
}

/** What is free. */
interface Room {
  records: number;
  bytes: number;
}

/**
 * What may wait in memory, behind others of its key. Of a tier it is little, because a tier is read no further
 * while much of it is unfinished, and other users' retries lie behind. A chain may use half of what is free.
 */
const roomFor = {
  fresh: { records: 1_000, bytes: 2 ** 21 },
  returned: { records: 200, bytes: 2 ** 18 },
};
const chainShare = 0.5;
/** Until one was measured. */
const firstTookMs = 10;
const tookWeight = 0.3;

export class Chains<L extends Link> {
  readonly #backlog: Backlog;
  /** Of keys of which one is being sent. */
  readonly #chains = new Map<number, Chain<L>>();
  readonly #room = { fresh: { ...roomFor.fresh }, returned: { ...roomFor.returned } };

  /** @param backlog what waits in the tiers; it is kept up to date here from now on */
  constructor(backlog: Backlog = new Backlog()) {
    this.#backlog = backlog;
  }

  get backlog(): Backlog {
    return this.#backlog;
  }

  /** When one that is `behind` should be back: milliseconds since the epoch. */
  until({ key }: Link): number {
    return this.#backlog.until(key);
  }

  arrive(link: L, now: number): Verdict {
    const { key, sequence, returned } = link;
    const until = this.#backlog.until(key);
    if (returned) this.#backlog.remove(key, sequence);
    if (this.#backlog.has(key, sequence)) return 'stale';
    const chain = this.#chains.get(key);
    if (chain && (chain.head.sequence === sequence || isQueued(chain, sequence))) return 'stale';

    if (this.#backlog.first(key) < sequence) {
      this.#backlog.add(key, sequence, until);
      return 'behind';
    }
    if (!chain) {
      this.#chains.set(key, { head: link, startedAt: now, tookMs: firstTookMs, queue: [], queuedBytes: 0 });
      return 'send';
    }
    if (!this.#hasRoom(chain, link)) {
      const turnAt = Math.max(until, now + chain.queue.length * chain.tookMs);
      this.#backlog.add(key, sequence, turnAt + chain.tookMs);
      return 'behind';
    }
    this.#enqueue(chain, link);
    return 'queued';
  }

  /** It was delivered, or is dead: the one whose turn it is now, if there is one. */
  ended({ key, sequence }: Link, now: number): L | undefined {
    const chain = this.#chains.get(key);
    if (chain?.head.sequence !== sequence) return undefined;
    const next = chain.queue.shift();
    if (!next) {
      this.#chains.delete(key);
      return undefined;
    }
    this.#count(chain, next, -1);
    chain.tookMs += (now - chain.startedAt - chain.tookMs) * tookWeight;
    chain.startedAt = now;
    chain.head = next;
    return next;
  }

  /** It goes to a tier, and should be back at `until`: those that must go behind it, in order. */
  left({ key, sequence }: Link, until: number): readonly L[] {
    const chain = this.#chains.get(key);
    if (chain?.head.sequence !== sequence) return [];
    this.#chains.delete(key);
    this.#backlog.add(key, sequence, until);
    for (const link of chain.queue) {
      this.#count(chain, link, -1);
      this.#backlog.add(key, link.sequence, until);
    }
    return chain.queue;
  }

  #hasRoom({ queue, queuedBytes }: Chain<L>, { bytes, returned }: L): boolean {
    const { records, bytes: freeBytes } = this.#roomOf(returned);
    return queue.length < records * chainShare && queuedBytes + bytes < freeBytes * chainShare;
  }

  #enqueue(chain: Chain<L>, link: L): void {
    const place = chain.queue.findLastIndex(({ sequence }) => sequence < link.sequence);
    chain.queue.splice(place + 1, 0, link);
    this.#count(chain, link, 1);
  }

  #count(chain: Chain<L>, { bytes, returned }: L, sign: 1 | -1): void {
    const room = this.#roomOf(returned);
    room.records -= sign;
    room.bytes -= sign * bytes;
    chain.queuedBytes += sign * bytes;
  }

  #roomOf(returned: boolean): Room {
    return returned ? this.#room.returned : this.#room.fresh;
  }
}

function isQueued<L extends Link>({ queue }: Chain<L>, sequence: number): boolean {
  return (queue.at(-1)?.sequence ?? -1) >= sequence && queue.some((link) => link.sequence === sequence);
}
