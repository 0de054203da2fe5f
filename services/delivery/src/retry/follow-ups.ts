/**
 * Writes follow-up records: a copy of the delivery with other headers, as a retry, a deferral, a parked or paused delivery
 * or a dead letter. The original record is finished only when Kafka has acknowledged the copy, so every delivery is in at least one
 * topic at every moment.
 */
import { isTailraceError } from '@tailrace/errors';
import type { OutgoingRecord, Publisher, TrackedRecord, Work } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import { encodeDelivery, type Delivery, type TopicNames } from '@tailrace/topics';
import type { Deferral } from '../isolation/task.ts';
import type { Received } from '../job.ts';
import { alsoHeldBy } from '../measure/held-by.ts';
import type { DeadReason, Outcome } from '../outcome.ts';
import { deferUntil, tierUntil } from './deferral.ts';
import { DueTimes, type DueTimeBounds } from './due-times.ts';
import type { Ownership } from './ownership.ts';

export interface FollowUpsDependencies {
  readonly names: TopicNames;
  readonly publisher: Pick<Publisher, 'publish'>;
  /** The delays of the retry topics, shortest first. */
  readonly tiersMs: readonly number[];
  /** The delay of the retry topic in which deliveries of paused destinations wait. */
  readonly pauseMs: number;
  readonly ownership: Pick<Ownership, 'since'>;
  readonly now: () => number;
  readonly log: Pick<Log, 'error'>;
}

/**
 * No method waits for Kafka, because a lane must wait for its receiver only. Each method calls `onWritten` when Kafka has
 * acknowledged the record, which may be never.
 */
export class FollowUps {
  readonly #deps: FollowUpsDependencies;
  readonly #dueTimes = new DueTimes();
  readonly #writing = new Set<Promise<void>>();

  constructor(dependencies: FollowUpsDependencies) {
    this.#deps = dependencies;
  }

  /** Writes a retry, and resets earlier deferrals. Returns when it is due, in milliseconds since the epoch. */
  retry(
    { work, delivery }: Received,
    outcome: Outcome & { readonly kind: 'retry' },
    onWritten?: () => void,
  ): number {
    const { tierMs, earliestDueAt, latestDueAt, reason } = outcome;
    const topic = this.#deps.names.retryTier(tierMs);
    const bounds = this.#boundsOf(work, tierMs);
    const dueAt = this.#dueTimes.assign(topic, work.partition, earliestDueAt, latestDueAt, bounds);
    this.#writeCopy(
      work,
      topic,
      { ...delivery, dueAt, reason, deferrals: 0, placeAt: undefined, heldBy: undefined },
      onWritten,
    );
    return dueAt;
  }

  /**
   * Defers a delivery until its lane has promised it a turn. Returns when that is expected, in milliseconds since the
   * epoch. Only broken promises make the waits longer: a delivery that waits because of `Retry-After` (`isBackoff`), or
   * was parked before, was promised nothing.
   */
  defer(
    { work, delivery }: Received,
    { waitMs, isBackoff, heldBy }: Deferral,
    onWritten?: () => void,
  ): number {
    const now = this.#deps.now();
    const timesBefore = delivery.reason === 'lane-full' ? delivery.deferrals : 0;
    const promisedAt = delivery.placeAt ?? 0;
    const placeAt = promisedAt > now ? promisedAt : now + waitMs;
    const until = deferUntil(placeAt, timesBefore, now, this.#deps.tiersMs);
    const { topic, dueAt } = this.#waitUntil(until, now, work);
    const deferrals = isBackoff ? timesBefore : timesBefore + 1;
    const held = alsoHeldBy(delivery, heldBy);
    const deferred = { ...delivery, deferrals, placeAt, dueAt, reason: 'lane-full', heldBy: held };
    this.#writeCopy(work, topic, deferred, onWritten);
    return Math.max(placeAt, dueAt);
  }

  /** Parks a delivery whose circuit breakers are open. Returns when it is due, in milliseconds since the epoch. */
  park(
    { work, delivery }: Received,
    { until, latest }: { readonly until: number; readonly latest: number },
    onWritten?: () => void,
  ): number {
    const { topic, dueAt } = this.#waitUntil(until, this.#deps.now(), work, latest);
    const heldBy = alsoHeldBy(delivery, 'breaker');
    const parked = { ...delivery, placeAt: undefined, dueAt, reason: 'circuit-open', heldBy };
    this.#writeCopy(work, topic, parked, onWritten);
    return dueAt;
  }

  /**
   * Lets a delivery wait while its destination is paused. Its window and its schedule begin again with its next attempt, as
   * those of a replay do. Returns when it would be due without a recall, in milliseconds since the epoch.
   */
  pause({ work, delivery }: Received, onWritten?: () => void): number {
    const { names, pauseMs, now } = this.#deps;
    const topic = names.retryTier(pauseMs);
    const until = now() + pauseMs;
    const dueAt = this.#dueTimes.next(topic, work.partition, until, until, this.#boundsOf(work, pauseMs));
    const heldBy = alsoHeldBy(delivery, 'paused');
    const begun = { step: 0, deferrals: 0, placeAt: undefined, firstAttemptAt: undefined };
    this.#writeCopy(work, topic, { ...delivery, ...begun, dueAt, reason: 'paused', heldBy }, onWritten);
    return dueAt;
  }

  /** Lets a delivery wait behind an earlier one of its user that is expected at `until`. */
  waitBehind({ work, delivery }: Received, until: number, onWritten?: () => void): void {
    const { topic, dueAt } = this.#waitUntil(until + 1, this.#deps.now(), work);
    const heldBy = alsoHeldBy(delivery, 'order');
    this.#writeCopy(work, topic, { ...delivery, dueAt, reason: 'behind', heldBy }, onWritten);
  }

  writeDeadLetter({ work, delivery }: Received, reason: DeadReason, onWritten?: () => void): void {
    const cleared = {
      dueAt: undefined,
      deferrals: 0,
      placeAt: undefined,
      sequence: undefined,
      heldBy: undefined,
      replayedFrom: undefined,
      // Nothing is kept of what a deleted user did.
      ...(reason === 'user-deleted' && { body: Buffer.alloc(0) }),
    };
    this.#writeCopy(work, this.#deps.names.deliveriesDead, { ...delivery, ...cleared, reason }, onWritten);
  }

  /**
   * Writes a dead letter with the unchanged content of a record that is not a delivery. The reason follows the record's
   * own headers: it counts where one of them has the same name, and none is overwritten.
   */
  writeMalformed(record: TrackedRecord, reason: DeadReason, problem: string, onWritten?: () => void): void {
    const { partition, key, value, headerList } = record;
    const letter: OutgoingRecord = {
      topic: this.#deps.names.deliveriesDead,
      partition,
      key,
      value,
      headers: [...headerList, ['reason', reason], ['last-answer', problem]],
    };
    this.#write(record.work, letter, onWritten);
  }

  /** Resolves when all records written so far are acknowledged, or abandoned because the process ends. */
  async written(): Promise<void> {
    await Promise.all(this.#writing);
  }

  /** Chooses a retry topic, and a due time in it, for a wait that is not a step of the retry schedule. */
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

  /** The last due time of the earlier owner is at most the topic's delay after the partition was revoked from it. */
  #boundsOf(work: Work, tierMs: number): DueTimeBounds {
    return { least: this.#deps.ownership.since(work) + tierMs, most: this.#deps.now() + tierMs };
  }

  /** The new owner of a revoked partition reads the record again, so a copy would be a duplicate. */
  #writeCopy(work: Work, topic: string, followUp: Delivery, onWritten?: () => void): void {
    if (!work.revoked) this.#write(work, encodeDelivery(topic, followUp, work.partition), onWritten);
  }

  /** Publishes the record, then finishes the work. */
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
        // A record that was not written before the process ended stays unfinished. The next owner repeats it.
        if (!isTailraceError(failure, 'shutting-down')) throw failure;
      },
    );
    this.#writing.add(written);
    void written.then(() => this.#writing.delete(written));
  }

  /** Writes a dead letter without content, with the place of a record that Kafka rejects for its size. */
  #writeStub(work: Work, { topic: refusedBy }: OutgoingRecord, onWritten?: () => void): void {
    const { topic, partition, offset } = work;
    this.#deps.log.error(
      { topic, partition, offset, refusedBy },
      'record too large to be kept as a dead letter',
    );
    const headers = {
      reason: 'malformed-record',
      'last-answer': `${refusedBy} accepts no record of this size. The record stays in its original topic until it expires.`,
      'origin-topic': topic,
      'origin-partition': String(partition),
      'origin-offset': String(offset),
    };
    const stub = { topic: this.#deps.names.deliveriesDead, partition, key: null, value: null, headers };
    this.#write(work, stub, onWritten);
  }
}
