/**
 * Writes follow-up records: a copy of the delivery with other headers, as a retry, a deferral, a parked or paused delivery
 * or a dead letter. The original record is finished only when Kafka has acknowledged the copy, so every delivery is in at least one
 * topic at every moment.
 */
import { isTailraceError } from '@tailrace/errors';
import type { OutgoingRecord, Publisher, TrackedRecord, Work } from '@tailrace/kafka';
import type { DeadReason } from '@tailrace/metrics';
import type { Log } from '@tailrace/service';
import { encodeDelivery } from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';
import type { Effect, Retry, Wait } from '../delivery.ts';
import { DueTimes, tierUntil, type DueTimeBounds, type Ownership } from './due-times.ts';

export interface FollowUpsDependencies {
  readonly names: TopicNames;
  readonly publisher: Pick<Publisher, 'publish'>;
  /** The delays of the retry topics, shortest first. */
  readonly tiersMs: readonly number[];
  readonly ownership: Pick<Ownership, 'since'>;
  readonly now: () => number;
  readonly log: Pick<Log, 'error'>;
}

/** What leaves a record. */
export type FollowUp = Exclude<Effect, { readonly kind: 'delivered' }>;

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

  /** Writes what follows for a delivery. Returns when it is due, in milliseconds since the epoch; undefined for a dead letter. */
  write(work: Work, effect: FollowUp, onWritten?: () => void): number | undefined {
    const { topic, dueAt } =
      effect.kind === 'dead'
        ? { topic: this.#deps.names.deliveriesDead, dueAt: undefined }
        : this.#placeOf(work, effect);
    // The new owner of a revoked partition reads the record again, so a copy would be a duplicate.
    if (!work.revoked) {
      const followUp = { ...effect.delivery, dueAt };
      this.#write(work, encodeDelivery(topic, followUp, work.partition), onWritten);
    }
    return dueAt;
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

  /** Chooses a due time in a retry topic, and the topic for a wait that is not a step of the retry schedule. */
  #placeOf(work: Work, effect: Retry | Wait): { readonly topic: string; readonly dueAt: number } {
    const { names, tiersMs } = this.#deps;
    const { partition } = work;
    if (effect.kind === 'retry') {
      const { tierMs, earliestDueAt, latestDueAt } = effect;
      const topic = names.retryTier(tierMs);
      const bounds = this.#boundsOf(work, tierMs);
      const dueAt = this.#dueTimes.assign(topic, partition, [earliestDueAt, latestDueAt], bounds);
      return { topic, dueAt };
    }
    const { until, latest = Infinity } = effect;
    const now = this.#deps.now();
    const lastDueAt = (tierMs: number): number =>
      this.#dueTimes.last(names.retryTier(tierMs), partition, this.#boundsOf(work, tierMs));
    const { tierMs, earliestDueAt } =
      effect.tierMs === undefined
        ? tierUntil(until, now, tiersMs, lastDueAt)
        : { tierMs: effect.tierMs, earliestDueAt: until };
    const topic = names.retryTier(tierMs);
    const latestDueAt = Math.min(now + tierMs, latest);
    const bounds = this.#boundsOf(work, tierMs);
    return { topic, dueAt: this.#dueTimes.next(topic, partition, [earliestDueAt, latestDueAt], bounds) };
  }

  /** The last due time of the earlier owner is at most the topic's delay after the partition was revoked from it. */
  #boundsOf(work: Work, tierMs: number): DueTimeBounds {
    return { least: this.#deps.ownership.since(work) + tierMs, most: this.#deps.now() + tierMs };
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
