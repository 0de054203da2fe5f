/**
 * Order for destinations with `ordering: user`: the deliveries of one key are sent one after another, and while one waits
 * in a retry topic, the later ones of its key wait behind it. chains.ts has the rule; this file applies it to partitions
 * that are assigned and revoked.
 *
 * The place of a delivery is its offset in `deliveries`, which it keeps in a header through all retry topics. The owner of a
 * partition owns all deliveries that may wait of its keys, so order needs no coordination. A new owner does not know which
 * deliveries wait. So before the first decision about an ordered delivery of a partition, the partition's retry topics are
 * read from the committed offset to their end, beside the consumer group. A delivery from a retry topic is decided about
 * only when `deliveries` was read beyond its place, because an earlier one may be read there again. Until then ordered
 * deliveries of that partition are held back, and all others continue. Without ordered destinations nothing is read.
 *
 * Two owners at the same time, one of which does not know yet that its partition was revoked, keep the order too: each
 * sends in order, so the first copy of a delivery still arrives after the first copies of all earlier ones.
 */
import type { Destination } from '@tailrace/config';
import type { Work } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { TopicNames } from '@tailrace/topology';
import { isOrdered, needsOrder, withSequence, type Event, type Job, type Received } from '../../delivery.ts';
import type { Policies } from '../../receivers/policies.ts';
import type { Receivers } from '../../receivers/receivers.ts';
import { alsoHeldBy, behindUntil, windowBegan, windowEndedReason } from '../../transition.ts';
import type { Link } from './chains.ts';
import { missingMs, OrderedPartitions, sequenceOf, type OrderedPartition } from './partitions.ts';
import { hashKey, type BacklogSource } from './read-backlog.ts';

/** Times are milliseconds since the epoch. */
export interface OrderDependencies<J extends Received> {
  readonly names: Pick<TopicNames, 'deliveries'>;
  readonly lane: {
    submit(job: J, destination: Destination | undefined): void;
    isPaused(destination: Destination | undefined): boolean;
  };
  /** Returns when the delivery is expected again. */
  readonly settle: { apply(job: J, event: Event): number };
  readonly receivers: Pick<Receivers, 'known' | 'receiverOf' | 'isOfDeletedUser'>;
  readonly waiting: BacklogSource & {
    /** The next offset to receive from this partition of `deliveries`, and its end; undefined where it is not owned. */
    readonly position: (partition: number) => { readonly next: number; readonly end: number } | undefined;
  };
  readonly policies: Pick<Policies, 'ofDelivery'>;
  readonly log: Pick<Log, 'debug' | 'warn'>;
  readonly now: () => number;
}

const heldBackPauseMs = 100;
/** A delivery that is later than this is waited for as long again as it is late, at most for the longest time. */
const promptMs = 5_000;
const longestOverdueMs = 600_000;

export class Order<J extends Received & Pick<Job, 'background'>> {
  readonly #deps: OrderDependencies<J>;
  readonly #partitions: OrderedPartitions<J>;
  /** Work whose dead letter, before its turn, is being written. */
  readonly #givenUp = new WeakSet<Work>();
  #stopped = false;

  constructor(dependencies: OrderDependencies<J>) {
    this.#deps = dependencies;
    this.#partitions = new OrderedPartitions(dependencies);
  }

  /** Sends a job that is new or due to its lane: now, later, or when it returns from a retry topic. */
  arrive(job: J): void {
    if (isOrdered(job)) {
      this.#place(job);
      return;
    }
    const { names, lane, receivers } = this.#deps;
    const destination = receivers.known(job.delivery);
    if (needsOrder(job, destination, names)) this.#place(withSequence(job));
    else lane.submit(job, destination);
  }

  #place(job: J): void {
    const partition = this.#partitionOf(job);
    if (partition.known && this.#isNext(partition, job)) this.#admit(partition, job);
    else this.#holdBack(partition, job);
  }

  ended(job: Received): void {
    const link = this.#linkOf(job);
    const { work } = job;
    if (!link || work.revoked || this.#stopped) return;
    const chains = this.#partitions.of(work.partition)?.chains;
    if (this.#givenUp.has(work)) {
      chains?.gone(link);
      return;
    }
    const next = chains?.ended(link, this.#deps.now());
    if (next) this.#send(next.job, true);
  }

  left(job: Received, until: number): void {
    const link = this.#linkOf(job);
    const { work } = job;
    if (!link || work.revoked || this.#stopped) return;
    const behind = this.#partitions.of(work.partition)?.chains.left(link, until) ?? [];
    for (const { job } of behind) this.#waitBehind(job, until);
  }

  removed(job: Received): void {
    const link = this.#linkOf(job);
    if (link && !job.work.revoked) this.#partitions.of(job.work.partition)?.chains.gone(link);
  }

  /** From now on nothing is sent or written. */
  stop(): void {
    this.#stopped = true;
    this.#partitions.stop();
  }

  /** Whether all earlier deliveries were received. While jobs are held back, a timer finds that out for all of them. */
  #isNext(partition: OrderedPartition<J>, job: J): boolean {
    if (job.delivery.dueAt === undefined || sequenceOf(job) < partition.receivedTo) return true;
    if (partition.heldBack.size > 0) return false;
    return sequenceOf(job) < this.#decidableTo(partition);
  }

  /** Returns the sequence below which all jobs may be decided about. */
  #decidableTo(partition: OrderedPartition<J>): number {
    const { next = 0, end = 0 } = this.#deps.waiting.position(partition.number) ?? {};
    partition.receivedTo = next;
    // A topic that was deleted and created again may never reach these sequences.
    const isAtEnd = next >= end && this.#deps.now() > partition.heldBackSince + missingMs;
    return isAtEnd && partition.heldBack.size > 0 ? Infinity : next;
  }

  #holdBack(partition: OrderedPartition<J>, job: J): void {
    partition.heldBack.push(job);
    if (partition.heldBack.size > 1) return;
    partition.heldBackSince = this.#deps.now();
    if (partition.known) this.#releaseLater(partition);
  }

  #releaseLater(partition: OrderedPartition<J>): void {
    setTimeout(() => this.#release(partition), heldBackPauseMs);
  }

  #release(partition: OrderedPartition<J>): void {
    const { heldBack } = partition;
    if (heldBack.size === 0 || this.#stopped || partition.work.revoked) return;
    const next = this.#decidableTo(partition);
    for (let job = heldBack.first; job && sequenceOf(job) < next; job = heldBack.first) {
      heldBack.takeFirst();
      this.#admit(partition, job, true);
    }
    if (heldBack.size > 0) this.#releaseLater(partition);
  }

  #admit(partition: OrderedPartition<J>, job: J, hasWaited = false): void {
    const link = this.#linkOf(job);
    if (!link || job.work.revoked || this.#stopped) return;
    const now = this.#deps.now();
    if (this.#isPaused(job)) {
      // Each waits by itself, not behind earlier ones: pausing must not consume retry windows.
      if (!partition.chains.hold({ ...link, job })) job.work.done();
      else partition.chains.backlog.expect(link.key, this.#deps.settle.apply(job, { kind: 'paused' }));
      return;
    }
    switch (partition.chains.arrive({ ...link, recalled: job.background, job }, now)) {
      case 'send':
        this.#send(job, hasWaited);
        return;
      case 'stale':
        job.work.done();
        return;
      case 'behind':
        this.#waitBehind(job, this.#untilTurn(partition, link, job));
        return;
      case 'queued':
        return;
    }
  }

  /** Returns until when the delivery waits behind the first waiting one of its key: all of them until the same time. */
  #untilTurn(partition: OrderedPartition<J>, { key }: Link, job: J): number {
    const { backlog } = partition.chains;
    const until = backlog.until(key);
    const now = this.#deps.now();
    if (until > now) return until;
    const receiver = this.#deps.receivers.receiverOf(job.delivery);
    // While the receiver is down, the first one may wait much longer than it was expected to.
    if (receiver.isDown) return until;
    const overdueMs = now - backlog.expectedAt(key);
    if (overdueMs > missingMs) this.#partitions.forgetMissing(partition, now);
    const [shortestMs = 0] = this.#deps.policies.ofDelivery(job.delivery).tiersMs;
    const waitMs = overdueMs > promptMs ? Math.min(overdueMs, longestOverdueMs) : shortestMs;
    const next = behindUntil(now + waitMs, receiver, Infinity, now);
    backlog.postpone(key, next);
    return next;
  }

  /** @param hasWaited whether an earlier delivery had to end first */
  #send(job: J, hasWaited: boolean): void {
    const { delivery } = job;
    const heldBy = hasWaited ? alsoHeldBy(delivery, 'order') : undefined;
    const held = hasWaited ? { ...job, delivery: { ...delivery, heldBy } } : job;
    this.#deps.lane.submit(held, this.#deps.receivers.known(delivery));
  }

  #waitBehind(job: J, until: number): void {
    const { settle, receivers, policies } = this.#deps;
    if (this.#isPaused(job)) {
      settle.apply(job, { kind: 'paused' });
      return;
    }
    const now = this.#deps.now();
    const receiver = receivers.receiverOf(job.delivery);
    const firstAttemptAt = windowBegan(job.delivery, receiver, now);
    const { windowMs } = policies.ofDelivery(job.delivery);
    const endsAt = firstAttemptAt === undefined ? Infinity : firstAttemptAt + windowMs;
    if (now > endsAt) {
      this.#givenUp.add(job.work);
      settle.apply(job, { kind: 'over', reason: windowEndedReason(job.delivery) });
    } else {
      settle.apply(job, { kind: 'behind', until: behindUntil(until, receiver, endsAt, now), firstAttemptAt });
    }
  }

  #isPaused(job: J): boolean {
    const { lane, receivers } = this.#deps;
    return lane.isPaused(receivers.known(job.delivery)) && !receivers.isOfDeletedUser(job);
  }

  #linkOf({ delivery: { key, sequence, body, dueAt } }: Received): Link | undefined {
    if (sequence === undefined) return undefined;
    return { key: hashKey(key), sequence, bytes: body.length, returned: dueAt !== undefined };
  }

  #partitionOf({ work }: J): OrderedPartition<J> {
    const known = this.#partitions.of(work.partition);
    if (known) return known;
    const { partition, read } = this.#partitions.assign(work);
    void read.then(() => this.#release(partition));
    return partition;
  }
}
