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
import { Sequences } from './sequences.ts';

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

interface Chain<L extends Link> {
  head: L;
  startedAt: number;
  /** How long each took; what waits for its turn is put off by it where it does not fit in. */
  tookMs: number;
  readonly queue: Sequences<L>;
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
    // What comes from a tier is one of the copies that are known to wait.
    const isKnown = returned && this.#backlog.has(key, sequence);
    const isStale = this.#backlog.has(key, sequence, isKnown ? 2 : 1);
    const chain = this.#chains.get(key);
    if (isStale || chain?.head.sequence === sequence || chain?.queue.has(sequence)) {
      if (isKnown) this.#backlog.remove(key, sequence);
      return 'stale';
    }
    // The first is back, maybe before its time, because it was recalled.
    if (isKnown && this.#backlog.first(key) === sequence) this.#backlog.expect(key, now);
    const until = this.#backlog.until(key);
    if (this.#backlog.first(key) < sequence) {
      if (!isKnown) this.#backlog.add(key, sequence, until);
      return 'behind';
    }
    if (isKnown) this.#backlog.remove(key, sequence);
    if (!chain) {
      const queue = new Sequences<L>();
      this.#chains.set(key, { head: link, startedAt: now, tookMs: firstTookMs, queue, queuedBytes: 0 });
      return 'send';
    }
    if (!this.#hasRoom(chain, link)) {
      const turnAt = Math.max(until, now + chain.queue.size * chain.tookMs);
      this.#backlog.add(key, sequence, turnAt + chain.tookMs);
      return 'behind';
    }
    chain.queue.add(link);
    this.#count(chain, link, 1);
    return 'queued';
  }

  /** It was `behind`, and is dead before its turn. */
  gone({ key, sequence }: Link): void {
    this.#backlog.remove(key, sequence);
  }

  /** It was delivered, or is dead: the one whose turn it is now, if there is one. */
  ended({ key, sequence }: Link, now: number): L | undefined {
    const chain = this.#chains.get(key);
    if (chain?.head.sequence !== sequence) return undefined;
    const next = chain.queue.takeFirst();
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
    const behind = chain.queue.toArray();
    // The last first, so that each is before all that wait.
    for (const link of behind.toReversed()) {
      this.#count(chain, link, -1);
      this.#backlog.add(key, link.sequence, until);
    }
    this.#backlog.add(key, sequence, until);
    return behind;
  }

  #hasRoom({ queue, queuedBytes }: Chain<L>, { bytes, returned }: L): boolean {
    const { records, bytes: freeBytes } = this.#roomOf(returned);
    return queue.size < records * chainShare && queuedBytes + bytes < freeBytes * chainShare;
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
