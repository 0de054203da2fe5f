/**
 * Order for destinations that ask for it (`ordering: user`): the deliveries of one key are sent one after another,
 * and while one waits in a tier, the later ones of its key wait behind it. chains.ts has the rule; this is what
 * surrounds it: partitions that come and go, and what their tiers hold.
 *
 * A delivery's place is its offset in `deliveries`, which it keeps in a header through all tiers. The member that
 * owns a partition owns all that may wait of its keys, so order needs no coordination. But a new owner does not
 * know what waits. So before the first ordered delivery of a partition is decided about, its tiers are read from
 * what is committed to their end, beside the group; and one from a tier is not decided about before `deliveries`
 * was read beyond its place, because an earlier one may be there again. Until then ordered deliveries of that
 * partition are held, and all others go on. Where no destination asks for order, nothing of all this happens.
 *
 * Two owners at once, one of which has not heard yet, do no harm: each sends in order, so the first copy of a
 * delivery to arrive still comes after the first copy of those before it.
 */
import { isTailraceError } from '@tailrace/errors';
import type { ConsumedRecord, Work } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import { decodeDelivery, type Delivery } from '@tailrace/topics';
import { Backlog } from './backlog.ts';
import { Chains, type Link } from './chains.ts';
import { Heap } from './heap.ts';
import { behindUntil, windowBegan, type Receiver } from './window.ts';

/** A delivery with a sequence, or one that has none and is nobody's concern here. */
export interface Ordered {
  readonly work: Pick<Work, 'partition' | 'revoked' | 'done'>;
  readonly delivery: Pick<Delivery, 'key' | 'sequence' | 'body' | 'dueAt' | 'attempt' | 'firstAttemptAt'>;
}

export interface OrderDependencies<J extends Ordered> {
  readonly send: (job: J) => void;
  /**
   * To be written to a tier, to be back not long after `until`, in milliseconds since the epoch; its window began at
   * `windowBegan`, or begins with its next attempt.
   */
  readonly putBehind: (job: J, until: number, windowBegan: number | undefined) => void;
  /** Its window is over before its turn came: to become a dead letter. */
  readonly giveUp: (job: J) => void;
  readonly receiver: (job: J) => Receiver;
  readonly windowMs: number;
  /** What is unfinished in these partitions, tier by tier. */
  readonly unfinished: (partitions: readonly number[]) => readonly AsyncIterable<readonly ConsumedRecord[]>[];
  /** How far this partition of `deliveries` was taken, and where it ends, as offsets; undefined where not owned. */
  readonly position: (partition: number) => { readonly next: number; readonly end: number } | undefined;
  /** When one that waits in a tier should be back, by its record. */
  readonly until: (delivery: Delivery, record: ConsumedRecord) => number;
  readonly log: Pick<Log, 'debug' | 'warn'>;
  readonly now: () => number;
}

interface JobLink<J> extends Link {
  readonly job: J;
}

interface OwnedPartition<J> {
  readonly number: number;
  /** Any work of it: tells whether it is still owned. */
  readonly work: Pick<Work, 'revoked'>;
  chains: Chains<JobLink<J>>;
  /** Whether it is known what waits in the tiers. */
  known: boolean;
  /** Below this, all of `deliveries` was taken. */
  takenTo: number;
  /** Jobs that cannot be decided about yet, the earliest first: in this order none has to go behind another one here. */
  readonly held: Heap<J>;
  heldSince: number;
  /** When it may be looked up again whether what waits is there. */
  checkAt: number;
}

/** Partitions that are assigned together are read together. */
const gatherMs = 100;
const retryPauseMs = 1_000;
const heldPauseMs = 100;
/** Where one should have come back from its tier so long ago, it is looked up whether it is there at all. */
const missingMs = 60_000;
/** One that is later than this is waited for as long again; it may be this much longer than it takes, at most. */
const promptMs = 5_000;
const longestOverdueMs = 600_000;
const checkIntervalMs = 600_000;
/** After this, what is in the backlog has been written. */
const settleMs = 5_000;

export class Order<J extends Ordered> {
  readonly #deps: OrderDependencies<J>;
  readonly #partitions = new Map<number, OwnedPartition<J>>();
  /** What is dead before its turn, and is waited for until that is written. */
  readonly #givenUp = new WeakSet<Ordered['work']>();
  #unread: OwnedPartition<J>[] = [];
  #stopped = false;

  constructor(dependencies: OrderDependencies<J>) {
    this.#deps = dependencies;
  }

  /** Takes a job, fresh or due, that has a sequence: sends it now, later, or has it wait in a tier. */
  arrive(job: J): void {
    const partition = this.#partitionOf(job);
    if (partition.known && this.#isNext(partition, job)) this.#admit(partition, job);
    else this.#hold(partition, job);
  }

  /** It is delivered, or dead and that is acknowledged. */
  ended(job: Ordered): void {
    const link = this.#linkOf(job);
    const { work } = job;
    if (!link || work.revoked || this.#stopped) return;
    const chains = this.#partitions.get(work.partition)?.chains;
    if (this.#givenUp.has(work)) {
      chains?.gone(link);
      return;
    }
    const next = chains?.ended(link, this.#deps.now());
    if (next) this.#deps.send(next.job);
  }

  /**
   * Its successor is being written to a tier, from where it should be back at `until`. To be called right after
   * that was begun, so that those behind it are written after it.
   */
  left(job: Ordered, until: number): void {
    const link = this.#linkOf(job);
    const { work } = job;
    if (!link || work.revoked || this.#stopped) return;
    const behind = this.#partitions.get(work.partition)?.chains.left(link, until) ?? [];
    for (const { job } of behind) this.#putBehind(job, until);
  }

  /** It left its tier without its turn: those behind it no longer wait for it. */
  leaves(job: Ordered): void {
    const link = this.#linkOf(job);
    if (link && !job.work.revoked) this.#partitions.get(job.work.partition)?.chains.gone(link);
  }

  /** Nothing is sent or put behind from now on. */
  stop(): void {
    this.#stopped = true;
    this.#partitions.clear();
  }

  /** Whether all that was before it in `deliveries` was taken. While some are held, that is looked up for all of them. */
  #isNext(partition: OwnedPartition<J>, job: J): boolean {
    if (job.delivery.dueAt === undefined || sequenceOf(job) < partition.takenTo) return true;
    if (partition.held.size > 0) return false;
    return sequenceOf(job) < this.#lookUp(partition);
  }

  /** Below which sequence all may be decided about. */
  #lookUp(partition: OwnedPartition<J>): number {
    const { next = 0, end = 0 } = this.#deps.position(partition.number) ?? {};
    partition.takenTo = next;
    // Where `deliveries` was made anew, it may never get so far.
    const isOver = next >= end && this.#deps.now() > partition.heldSince + missingMs;
    return isOver && partition.held.size > 0 ? Infinity : next;
  }

  #hold(partition: OwnedPartition<J>, job: J): void {
    partition.held.push(job);
    if (partition.held.size > 1) return;
    partition.heldSince = this.#deps.now();
    if (partition.known) this.#releaseLater(partition);
  }

  #releaseLater(partition: OwnedPartition<J>): void {
    setTimeout(() => {
      this.#release(partition);
    }, heldPauseMs);
  }

  #release(partition: OwnedPartition<J>): void {
    const { held } = partition;
    if (held.size === 0 || this.#stopped || partition.work.revoked) return;
    const next = this.#lookUp(partition);
    for (let job = held.first; job && sequenceOf(job) < next; job = held.first) {
      held.takeFirst();
      this.#admit(partition, job);
    }
    if (held.size > 0) this.#releaseLater(partition);
  }

  #admit(partition: OwnedPartition<J>, job: J): void {
    const link = this.#linkOf(job);
    if (!link || job.work.revoked || this.#stopped) return;
    const now = this.#deps.now();
    switch (partition.chains.arrive({ ...link, job }, now)) {
      case 'send':
        this.#deps.send(job);
        return;
      case 'stale':
        job.work.done();
        return;
      case 'behind':
        this.#putBehind(job, this.#untilTurn(partition, link, job));
        return;
      case 'queued':
        return;
    }
  }

  /** When the first that waits of its key should be back. */
  #untilTurn(partition: OwnedPartition<J>, link: Link, job: J): number {
    const until = partition.chains.until(link);
    const now = this.#deps.now();
    const overdueMs = now - until;
    // At a receiver that is down, the first may have moved up while it waits for long.
    if (overdueMs <= promptMs || this.#deps.receiver(job).isDown) return until;
    if (overdueMs > missingMs && now >= partition.checkAt) {
      partition.checkAt = now + checkIntervalMs;
      void this.#forgetMissing(partition);
    }
    return now + Math.min(overdueMs, longestOverdueMs);
  }

  #putBehind(job: J, until: number): void {
    const now = this.#deps.now();
    const receiver = this.#deps.receiver(job);
    const began = windowBegan(job.delivery, receiver, now);
    const endsAt = began === undefined ? Infinity : began + this.#deps.windowMs;
    if (now > endsAt) {
      this.#givenUp.add(job.work);
      this.#deps.giveUp(job);
    } else this.#deps.putBehind(job, behindUntil(until, receiver, endsAt, now), began);
  }

  #linkOf({ delivery: { key, sequence, body, dueAt } }: Ordered): Link | undefined {
    if (sequence === undefined) return undefined;
    return { key: hashOf(key), sequence, bytes: body.length, returned: dueAt !== undefined };
  }

  #partitionOf({ work }: J): OwnedPartition<J> {
    const known = this.#partitions.get(work.partition);
    if (known && !known.work.revoked) return known;
    for (const [number, partition] of this.#partitions) {
      if (partition.work.revoked) this.#partitions.delete(number);
    }
    const fresh: OwnedPartition<J> = {
      number: work.partition,
      work,
      chains: new Chains(),
      known: false,
      takenTo: 0,
      held: new Heap((a, b) => sequenceOf(a) < sequenceOf(b)),
      heldSince: 0,
      checkAt: 0,
    };
    this.#partitions.set(work.partition, fresh);
    if (this.#unread.length === 0) setTimeout(() => void this.#readTiers(), gatherMs);
    this.#unread.push(fresh);
    return fresh;
  }

  async #readTiers(): Promise<void> {
    const partitions = this.#unread;
    this.#unread = [];
    for (;;) {
      const owned = partitions.filter(({ work }) => !work.revoked);
      if (owned.length === 0 || this.#stopped) return;
      try {
        const backlogs = await this.#backlogsOf(owned.map(({ number }) => number));
        for (const partition of owned) {
          partition.chains = new Chains(backlogs.get(partition.number));
          partition.known = true;
          this.#deps.log.debug({ partition: partition.number }, 'what waits in order is known');
          this.#release(partition);
        }
        return;
      } catch (error) {
        if (!isTailraceError(error, 'kafka-unavailable')) throw error;
        this.#deps.log.warn({ err: error }, 'could not read what waits in the tiers; trying again');
        await pause(retryPauseMs);
      }
    }
  }

  /**
   * Lets keys go on that wait for a record which does not exist any more: it expired, or its topic was made anew.
   * Rare, and not guessed: what has been waiting for long is looked for in the tiers.
   */
  async #forgetMissing({ number, work, chains: { backlog } }: OwnedPartition<J>): Promise<void> {
    const overdue = backlog.overdue(this.#deps.now() - missingMs);
    await pause(settleMs);
    if (work.revoked || this.#stopped) return;
    try {
      const existing = (await this.#backlogsOf([number])).get(number);
      const missing = overdue.filter(([key, sequence]) => existing?.has(key, sequence) === false);
      if (missing.length === 0) return;
      for (const [key, sequence] of missing) backlog.remove(key, sequence);
      const fields = { partition: number, missing: missing.length };
      this.#deps.log.warn(fields, 'deliveries have gone from their tiers; those behind them go on');
    } catch (error) {
      if (!isTailraceError(error, 'kafka-unavailable')) throw error;
    }
  }

  async #backlogsOf(partitions: readonly number[]): Promise<Map<number, Backlog>> {
    const backlogs = new Map(partitions.map((number) => [number, new Backlog()]));
    const add = (record: ConsumedRecord): void => {
      if (record.headers['sequence'] === undefined) return;
      const delivery = decodeDelivery(record);
      if (typeof delivery === 'string' || delivery.sequence === undefined) return;
      const until = this.#deps.until(delivery, record);
      backlogs.get(record.partition)?.append(hashOf(delivery.key), delivery.sequence, until);
    };
    const read = async (tier: AsyncIterable<readonly ConsumedRecord[]>): Promise<void> => {
      for await (const records of tier) records.forEach(add);
    };
    await Promise.all(this.#deps.unfinished(partitions).map(read));
    for (const backlog of backlogs.values()) backlog.sort();
    return backlogs;
  }
}

function sequenceOf({ delivery: { sequence = 0 } }: Ordered): number {
  return sequence;
}

/** Does not keep a process alive that has nothing else to do. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** 53 bits, so that no two of a million users share a chain. */
function hashOf(key: string): number {
  let high = 0x811c9dc5;
  let low = 0x9e3779b9;
  for (let place = 0; place < key.length; place += 1) {
    const code = key.charCodeAt(place);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x85ebca6b);
    low ^= low >>> 15;
  }
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}
