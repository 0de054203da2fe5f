/**
 * What takes a record's place: a copy of its delivery with other headers, in a tier or among the dead letters. Only
 * when Kafka has acknowledged the copy is the record finished, so a delivery is at every moment in at least one place.
 */
import { isTailraceError } from '@tailrace/errors';
import type { OutgoingRecord, Publisher, TrackedRecord, Work } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import { encodeDelivery, type Delivery, type TopicNames } from '@tailrace/topics';
import type { DeadReason, Outcome } from './outcome.ts';
import { putOffUntil, tierUntil } from './put-off.ts';
import type { Ownership } from './ownership.ts';
import { DueTimes, type DueTimeBounds } from './tiers.ts';

/** A delivery, and what is to be called when it is done with here. */
export interface Job {
  readonly work: Work;
  readonly delivery: Delivery;
  /** Whether it was brought forward, and gives way to the others. */
  readonly background?: boolean;
}

export interface SuccessorsDependencies {
  readonly names: TopicNames;
  readonly publisher: Pick<Publisher, 'publish'>;
  /** The tiers' delays, shortest first. */
  readonly tiersMs: readonly number[];
  readonly ownership: Pick<Ownership, 'since'>;
  readonly now: () => number;
  readonly log: Pick<Log, 'error'>;
}

/**
 * None of its methods waits for Kafka, so that no lane does: a lane is about its receiver. Each calls `onWritten` when
 * Kafka has acknowledged the record, which may be never.
 */
export class Successors {
  readonly #deps: SuccessorsDependencies;
  readonly #dueTimes = new DueTimes();
  readonly #writing = new Set<Promise<void>>();

  constructor(dependencies: SuccessorsDependencies) {
    this.#deps = dependencies;
  }

  /** Lets it wait for its next attempt; whatever put it off is over. Returns when that is due. */
  retry(
    { work, delivery }: Job,
    outcome: Outcome & { readonly kind: 'retry' },
    onWritten?: () => void,
  ): number {
    const { tierMs, earliestDueAt, latestDueAt, reason } = outcome;
    const topic = this.#deps.names.retryTier(tierMs);
    const bounds = this.#boundsOf(work, tierMs);
    const dueAt = this.#dueTimes.assign(topic, work.partition, earliestDueAt, latestDueAt, bounds);
    this.#replace(work, topic, { ...delivery, dueAt, reason, deferrals: 0, placeAt: undefined }, onWritten);
    return dueAt;
  }

  /**
   * Lets it wait, as it is, for a place in its lane. Returns when it has one, should it be as fast as it seems. What
   * waits because its receiver wants to rest, or waited while that was dead, has not been promised too much before.
   */
  putOff({ work, delivery }: Job, waitMs: number, isRest: boolean, onWritten?: () => void): number {
    const now = this.#deps.now();
    const timesBefore = delivery.reason === 'lane-full' ? delivery.deferrals : 0;
    const promisedAt = delivery.placeAt ?? 0;
    const placeAt = promisedAt > now ? promisedAt : now + waitMs;
    const until = putOffUntil(placeAt, timesBefore, now, this.#deps.tiersMs);
    const { topic, dueAt } = this.#waitUntil(until, now, work);
    const deferrals = isRest ? timesBefore : timesBefore + 1;
    this.#replace(work, topic, { ...delivery, deferrals, placeAt, dueAt, reason: 'lane-full' }, onWritten);
    return Math.max(placeAt, dueAt);
  }

  /** Lets it wait, as it is, while its receiver is dead. Returns when it is due. */
  park(
    { work, delivery }: Job,
    { until, latest }: { readonly until: number; readonly latest: number },
    onWritten?: () => void,
  ): number {
    const { topic, dueAt } = this.#waitUntil(until, this.#deps.now(), work, latest);
    const parked = { ...delivery, placeAt: undefined, dueAt, reason: 'circuit-open' };
    this.#replace(work, topic, parked, onWritten);
    return dueAt;
  }

  /** Lets it wait, as it is, behind an earlier one of its user that is due `until`. */
  putBehind({ work, delivery }: Job, until: number, onWritten?: () => void): void {
    const { topic, dueAt } = this.#waitUntil(until + 1, this.#deps.now(), work);
    this.#replace(work, topic, { ...delivery, dueAt, reason: 'behind' }, onWritten);
  }

  bury({ work, delivery }: Job, reason: DeadReason, onWritten?: () => void): void {
    const waited = {
      dueAt: undefined,
      deferrals: 0,
      placeAt: undefined,
      sequence: undefined,
      replayedFrom: undefined,
    };
    this.#replace(work, this.#deps.names.deliveriesDead, { ...delivery, ...waited, reason }, onWritten);
  }

  /**
   * What somebody else wrote to the topic is kept as it is. The reason comes behind its own headers, so that it counts
   * where one of them has the same name, and none is overwritten.
   */
  buryAsItIs(record: TrackedRecord, reason: DeadReason, problem: string, onWritten?: () => void): void {
    const { partition, key, value, headerList } = record;
    const letter: OutgoingRecord = {
      ...{ topic: this.#deps.names.deliveriesDead, partition, key, value },
      headers: [...headerList, ['reason', reason], ['last-answer', problem]],
    };
    this.#write(record.work, letter, onWritten);
  }

  /** Resolves when everything written so far is acknowledged, or given up because the process ends. */
  async written(): Promise<void> {
    await Promise.all(this.#writing);
  }

  /** A tier, and a due time in it, for a wait that is no step of the schedule. */
  #waitUntil(until: number, now: number, work: Work, latest = Infinity): { topic: string; dueAt: number } {
    const { partition } = work;
    const topicOf = (tierMs: number): string => this.#deps.names.retryTier(tierMs);
    const lastDueAt = (tierMs: number): number =>
      this.#dueTimes.last(topicOf(tierMs), partition, this.#boundsOf(work, tierMs));
    const { tierMs, earliestDueAt } = tierUntil(until, now, this.#deps.tiersMs, lastDueAt);
    const topic = topicOf(tierMs);
    const bounds = this.#boundsOf(work, tierMs);
    const latestDueAt = Math.min(now + tierMs, latest);
    return { topic, dueAt: this.#dueTimes.next(topic, partition, earliestDueAt, latestDueAt, bounds) };
  }

  /** What the owner before wrote last was due no later than the tier's delay after it lost the partition. */
  #boundsOf(work: Work, tierMs: number): DueTimeBounds {
    return { least: this.#deps.ownership.since(work) + tierMs, most: this.#deps.now() + tierMs };
  }

  /** The new owner of what is lost reads it again; a copy of ours would be one too many. */
  #replace(work: Work, topic: string, successor: Delivery, onWritten?: () => void): void {
    if (!work.revoked) this.#write(work, encodeDelivery(topic, successor, work.partition), onWritten);
  }

  /** Publishes, then calls the work finished. */
  #write(work: Work, record: OutgoingRecord, onWritten?: () => void): void {
    const written = this.#deps.publisher.publish(record).then(
      () => {
        work.done();
        onWritten?.();
      },
      (failure: unknown) => {
        if (isTailraceError(failure, 'record-too-large')) {
          this.#writeStub(work, record, onWritten);
          return;
        }
        // What could not be written before the end is unfinished, and the next owner of the partition repeats it.
        if (!isTailraceError(failure, 'shutting-down')) throw failure;
      },
    );
    this.#writing.add(written);
    void written.then(() => this.#writing.delete(written));
  }

  /** A dead letter without content, where Kafka takes no record of that size: it names the place of the one it is about. */
  #writeStub(work: Work, { topic: refusedBy }: OutgoingRecord, onWritten?: () => void): void {
    const { topic, partition, offset } = work;
    this.#deps.log.error(
      { topic, partition, offset, refusedBy },
      'record too large to be kept as a dead letter',
    );
    const headers = {
      reason: 'malformed-record',
      'last-answer': `${refusedBy} takes no record of its size. It is at its origin until it expires.`,
      'origin-topic': topic,
      'origin-partition': String(partition),
      'origin-offset': String(offset),
    };
    const stub = { topic: this.#deps.names.deliveriesDead, partition, key: null, value: null, headers };
    this.#write(work, stub, onWritten);
  }
}
