/**
 * What takes a record's place: a copy of its delivery with other headers, in a tier or among the dead letters. Only
 * when Kafka has acknowledged the copy is the record finished, so a delivery is at every moment in at least one place.
 */
import { isTailraceError } from '@tailrace/errors';
import type { OutgoingRecord, Publisher, TrackedRecord, Work } from '@tailrace/kafka';
import { encodeDelivery, type Delivery, type TopicNames } from '@tailrace/topics';
import type { DeadReason, Outcome } from './outcome.ts';
import { putOffUntil, tierUntil } from './put-off.ts';
import { DueTimes } from './tiers.ts';

/** A delivery, and what is to be called when it is done with here. */
export interface Job {
  readonly work: Work;
  readonly delivery: Delivery;
}

export interface SuccessorsDependencies {
  readonly names: TopicNames;
  readonly publisher: Pick<Publisher, 'publish'>;
  /** The tiers' delays, shortest first. */
  readonly tiersMs: readonly number[];
  readonly now: () => number;
}

/** None of its methods waits for Kafka, so that no lane does: a lane is about its receiver. */
export class Successors {
  readonly #deps: SuccessorsDependencies;
  readonly #dueTimes = new DueTimes();
  readonly #writing = new Set<Promise<void>>();

  constructor(dependencies: SuccessorsDependencies) {
    this.#deps = dependencies;
  }

  /** Lets it wait for its next attempt; whatever put it off is over. Returns when that is due. */
  retry({ work, delivery }: Job, outcome: Outcome & { readonly kind: 'retry' }): number {
    const { tierMs, earliestDueAt, latestDueAt, reason } = outcome;
    const topic = this.#deps.names.retryTier(tierMs);
    const dueAt = this.#dueTimes.assign(topic, work.partition, earliestDueAt, latestDueAt);
    this.#replace(work, topic, { ...delivery, dueAt, reason, putOff: 0, placeAt: undefined });
    return dueAt;
  }

  /** Lets it wait, as it is, for a place in its lane. Returns when it has one, should it be as fast as it seems. */
  putOff({ work, delivery }: Job, waitMs: number): number {
    const now = this.#deps.now();
    const promisedAt = delivery.placeAt ?? 0;
    const placeAt = promisedAt > now ? promisedAt : now + waitMs;
    const until = putOffUntil(placeAt, delivery.putOff, now, this.#deps.tiersMs);
    const { topic, dueAt } = this.#waitUntil(until, now, work.partition);
    const putOff = delivery.putOff + 1;
    this.#replace(work, topic, { ...delivery, putOff, placeAt, dueAt, reason: 'lane-full' });
    return placeAt;
  }

  /** Lets it wait, as it is, behind an earlier one of its user that is due `until`. */
  putBehind({ work, delivery }: Job, until: number): void {
    const { topic, dueAt } = this.#waitUntil(until + 1, this.#deps.now(), work.partition);
    this.#replace(work, topic, { ...delivery, dueAt, reason: 'behind' });
  }

  bury({ work, delivery }: Job, reason: DeadReason, onWritten: () => void): void {
    const waited = { dueAt: undefined, putOff: 0, placeAt: undefined, sequence: undefined };
    this.#replace(work, this.#deps.names.deliveriesDead, { ...delivery, ...waited, reason }, onWritten);
  }

  /** What somebody else wrote to the topic is kept as it is, with the reason beside it. */
  buryAsItIs(record: TrackedRecord, reason: DeadReason, problem: string): void {
    const { partition, key, value, headers } = record;
    this.#write(record.work, {
      ...{ topic: this.#deps.names.deliveriesDead, partition, key, value },
      headers: { ...headers, reason, 'last-answer': problem },
    });
  }

  /** Resolves when everything written so far is acknowledged, or given up because the process ends. */
  async written(): Promise<void> {
    await Promise.all(this.#writing);
  }

  /** A tier, and a due time in it, for a wait that is no step of the schedule. */
  #waitUntil(until: number, now: number, partition: number): { topic: string; dueAt: number } {
    const topicOf = (tierMs: number): string => this.#deps.names.retryTier(tierMs);
    const lastDueAt = (tierMs: number): number => this.#dueTimes.last(topicOf(tierMs), partition);
    const { tierMs, earliestDueAt } = tierUntil(until, now, this.#deps.tiersMs, lastDueAt);
    const topic = topicOf(tierMs);
    return { topic, dueAt: this.#dueTimes.next(topic, partition, earliestDueAt, now + tierMs) };
  }

  /** The new owner of what is lost reads it again; a copy of ours would be one too many. */
  #replace(work: Work, topic: string, successor: Delivery, onWritten?: () => void): void {
    if (!work.lost) this.#write(work, encodeDelivery(topic, successor, work.partition), onWritten);
  }

  /** Publishes, then calls the work finished. */
  #write(work: Work, record: OutgoingRecord, onWritten?: () => void): void {
    const written = this.#deps.publisher.publish(record).then(
      () => {
        work.done();
        onWritten?.();
      },
      (failure: unknown) => {
        // What could not be written before the end is unfinished, and whoever reads the partition next repeats it.
        if (!isTailraceError(failure, 'shutting-down')) throw failure;
      },
    );
    this.#writing.add(written);
    void written.then(() => this.#writing.delete(written));
  }
}
