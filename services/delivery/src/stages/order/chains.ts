/**
 * Decides which delivery may be sent where the deliveries of one key are sent one after another. This is the part of one
 * partition, without I/O: deliveries arrive, new or from a retry topic, and end or go to a retry topic, and each method
 * returns what follows.
 *
 * The rule: a delivery is sent only when no earlier one of its key waits in a retry topic and none is being sent. A later
 * one waits in memory behind one that is being sent, and in a retry topic behind one in a retry topic. "Earlier" means a
 * lower sequence, which is unique; the order of arrival does not count, because retry topics return deliveries in any order.
 *
 * Copies: after a crash a record may be read again whose follow-up record was written already. A copy of a delivery that is
 * being sent, or waits, is stale: the other copy is unfinished and covers both. A copy that is not recognised is sent like
 * the original. So an error here can repeat a delivery, and never loses one.
 */
import { Backlog } from './backlog.ts';
import { Sequences } from './sequences.ts';

/** The part of a delivery that decides its order. */
export interface Link {
  /** The hash of the record's key. */
  readonly key: number;
  readonly sequence: number;
  readonly bytes: number;
  /** Whether it comes from a retry topic, where it may be known to wait. */
  readonly returned: boolean;
  /** Whether it was recalled from there, possibly before the time until which it had to wait. */
  readonly recalled?: boolean | undefined;
}

export type Verdict =
  | 'send'
  /** It waits in memory, and `ended` returns it when it is its turn. */
  | 'queued'
  /** It has to wait in a retry topic, behind deliveries of its key that wait there; see `Backlog.until`. */
  | 'behind'
  /** Another copy of it is unfinished, so this one is done. */
  | 'stale';

interface Chain<L extends Link> {
  head: L;
  startedAt: number;
  /** Average duration of a delivery, for the expected turn of a delivery that does not fit into memory. */
  averageMs: number;
  readonly queue: Sequences<L>;
  queuedBytes: number;
}

/** Free memory. */
interface Capacity {
  records: number;
  bytes: number;
}

/**
 * The memory for deliveries that wait behind others of their key. It is small for those from a retry topic, because
 * reading of a retry topic stops while much of it is unfinished, and retries of other users follow. A chain may use half
 * of what is free.
 */
const capacity = {
  fresh: { records: 1_000, bytes: 2 ** 21 },
  returned: { records: 200, bytes: 2 ** 18 },
};
const chainShare = 0.5;
/** The assumed duration before one was measured. */
const firstAverageMs = 10;
const averageWeight = 0.3;

/** Times are milliseconds since the epoch. */
export class Chains<L extends Link> {
  /** The deliveries that wait in retry topics. */
  readonly backlog: Backlog;
  /** By key, for keys of which a delivery is being sent. */
  readonly #chains = new Map<number, Chain<L>>();
  readonly #free = { fresh: { ...capacity.fresh }, returned: { ...capacity.returned } };

  /** @param backlog is updated here from now on */
  constructor(backlog: Backlog = new Backlog()) {
    this.backlog = backlog;
  }

  arrive(link: L, now: number): Verdict {
    const { key, sequence } = link;
    const isKnown = this.#isKnown(link);
    if (this.#isStale(link)) {
      if (isKnown) this.backlog.remove(key, sequence);
      return 'stale';
    }
    const chain = this.#chains.get(key);
    if (link.recalled && isKnown && this.backlog.first(key) === sequence) this.backlog.expect(key, now);
    const until = this.backlog.until(key);
    if (this.backlog.first(key) < sequence) {
      if (!isKnown) this.backlog.add(key, sequence, until);
      return 'behind';
    }
    if (isKnown) this.backlog.remove(key, sequence);
    if (!chain) {
      const queue = new Sequences<L>();
      this.#chains.set(key, { head: link, startedAt: now, averageMs: firstAverageMs, queue, queuedBytes: 0 });
      return 'send';
    }
    if (!this.#fits(chain, link)) {
      const turnAt = Math.max(until, now + chain.queue.size * chain.averageMs);
      this.backlog.add(key, sequence, turnAt + chain.averageMs);
      return 'behind';
    }
    chain.queue.add(link);
    this.#count(chain, link, 1);
    return 'queued';
  }

  /**
   * The delivery goes to a retry topic, also where others of its key are sent or wait, because its destination is paused.
   * Returns false where another copy of it is unfinished, so this one is done.
   */
  hold(link: L): boolean {
    const { key, sequence } = link;
    const isKnown = this.#isKnown(link);
    const isStale = this.#isStale(link);
    if (isStale && isKnown) this.backlog.remove(key, sequence);
    if (!isStale && !isKnown) this.backlog.add(key, sequence, Infinity);
    return !isStale;
  }

  /** A delivery from a retry topic is one of the copies that are known to wait. */
  #isKnown({ key, sequence, returned }: L): boolean {
    return returned && this.backlog.has(key, sequence);
  }

  #isStale(link: L): boolean {
    const { key, sequence } = link;
    const chain = this.#chains.get(key);
    if (chain?.head.sequence === sequence || chain?.queue.has(sequence)) return true;
    return this.backlog.has(key, sequence, this.#isKnown(link) ? 2 : 1);
  }

  /** Removes a `behind` delivery that became a dead letter before its turn. */
  gone({ key, sequence }: Link): void {
    this.backlog.remove(key, sequence);
  }

  /** The delivery was delivered, or is a dead letter. Returns the next one of its key. */
  ended({ key, sequence }: Link, now: number): L | undefined {
    const chain = this.#chains.get(key);
    if (chain?.head.sequence !== sequence) return undefined;
    const next = chain.queue.takeFirst();
    if (!next) {
      this.#chains.delete(key);
      return undefined;
    }
    this.#count(chain, next, -1);
    chain.averageMs += (now - chain.startedAt - chain.averageMs) * averageWeight;
    chain.startedAt = now;
    chain.head = next;
    return next;
  }

  /**
   * The delivery goes to a retry topic, and is expected at `until`. Returns, in order, the queued ones of its key, which
   * must follow it there.
   */
  left({ key, sequence }: Link, until: number): readonly L[] {
    const chain = this.#chains.get(key);
    if (chain?.head.sequence !== sequence) return [];
    this.#chains.delete(key);
    const behind = chain.queue.toArray();
    // The last one first, so that each is added before all that wait already.
    for (const link of behind.toReversed()) {
      this.#count(chain, link, -1);
      this.backlog.add(key, link.sequence, until);
    }
    this.backlog.add(key, sequence, until);
    return behind;
  }

  #fits({ queue, queuedBytes }: Chain<L>, { bytes, returned }: L): boolean {
    const { records, bytes: freeBytes } = this.#freeOf(returned);
    return queue.size < records * chainShare && queuedBytes + bytes < freeBytes * chainShare;
  }

  #count(chain: Chain<L>, { bytes, returned }: L, sign: 1 | -1): void {
    const free = this.#freeOf(returned);
    free.records -= sign;
    free.bytes -= sign * bytes;
    chain.queuedBytes += sign * bytes;
  }

  #freeOf(returned: boolean): Capacity {
    return returned ? this.#free.returned : this.#free.fresh;
  }
}
