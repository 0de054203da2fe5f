/** The reports of a consumption about itself: its partitions, their lag in time, and totals. It asks Kafka nothing. */
import { lagOf, type Lag } from '../lag/partition-lag.ts';
import type { MemberConsumer } from '../patches/reading/membership.ts';
import type { Retention } from './look-ups.ts';
import type { Partition } from './partition/partition.ts';
import { Stopwatch } from './stopwatch.ts';

export interface PartitionState {
  readonly topic: string;
  readonly partition: number;
  /** The offset after the last record that was received or skipped. */
  readonly next: number;
  /** The end offset of the partition, as of the last fetch. */
  readonly end: number;
  /** Records that were received and are unfinished, or that finished behind an unfinished one. */
  readonly uncommitted: number;
  /** Records between the watermark and the end of the partition, as of the last fetch. */
  readonly lag: number;
}

export function stateOf({ topic, partition, next, end, uncommitted, lag }: Partition): PartitionState {
  return { topic, partition, next, end, uncommitted, lag };
}

/** A partition while this member owns it. */
export interface OwnedPartition {
  /** Once this is true, the other fields are out of date. */
  readonly revoked: boolean;
  /** The offset after the last record that was received or skipped. */
  readonly next: number;
  /** The offset below which everything is finished. */
  readonly committable: number;
}

/** The lag of an owned partition in time. */
export interface PartitionLag extends Partial<Lag> {
  readonly topic: string;
  readonly partition: number;
  /** Whether it is not read now, because it has too much unfinished work or its topic is paused. */
  readonly isPaused: boolean;
  /**
   * How much of the topic's retention the oldest unfinished record has used, by time or by bytes, whichever is more; at 1
   * Kafka deletes it. Undefined if neither is known and limited.
   */
  readonly retentionUsed: number | undefined;
}

export function lagsOf(
  partitions: Iterable<Partition>,
  topics: {
    readonly delayMs: (topic: string) => number | undefined;
    readonly retention: (topic: string) => Retention;
    readonly mayFetch: (topic: string) => boolean;
  },
): PartitionLag[] {
  const now = Date.now();
  return Array.from(partitions, (one) => {
    const { topic, partition, located, paused } = one;
    const retention = topics.retention(topic);
    const lag = lagOf(one, { delayMs: topics.delayMs(topic), retentionMs: retention.ms }, now);
    const retentionUsed = larger(shareOf(lag?.ageMs, retention.ms), shareOf(one.lagBytes, retention.bytes));
    const isPaused = located && (paused || !topics.mayFetch(topic));
    return { topic, partition, ...lag, isPaused, retentionUsed };
  });
}

function shareOf(used: number | undefined, limit: number | undefined): number | undefined {
  return used === undefined || limit === undefined ? undefined : used / limit;
}

function larger(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

/** Totals since the start. */
export interface ConsumptionTotals {
  /** How often this member joined its group again. */
  readonly rebalances: number;
  /** For how long it read nothing, because it was not in its group or did not know where to begin. */
  readonly withoutWorkMs: number;
  /** Commits that were refused, or not answered. The next one includes them. */
  readonly commitFailures: number;
  /** Finished work that was committed before its trace was written, because that took too long. */
  readonly untraced: number;
  /** By topic, the records that Kafka deleted before they were received. */
  readonly expired: ReadonlyMap<string, number>;
}

/** Counts how often a member joined its group, and measures for how long it was without work. */
export class Membership {
  #joins = 0;
  readonly #withoutWork = new Stopwatch();

  constructor(consumer: Pick<MemberConsumer, 'on' | 'events' | 'keepsAssignment'>) {
    const { REBALANCING, CRASH, REQUEST } = consumer.events;
    this.#withoutWork.start();
    for (const event of [REBALANCING, CRASH]) {
      consumer.on(event, () => {
        if (!consumer.keepsAssignment) this.#withoutWork.start();
      });
    }
    consumer.on(REQUEST, ({ payload: { apiName } }) => {
      if (apiName === 'JoinGroup') this.#withoutWork.start();
    });
  }

  joined(): void {
    this.#joins += 1;
  }

  /** The member has partitions, and knows where to begin. */
  located(): void {
    this.#withoutWork.stop();
  }

  get totals(): Pick<ConsumptionTotals, 'rebalances' | 'withoutWorkMs'> {
    return { rebalances: this.#joins - 1, withoutWorkMs: this.#withoutWork.elapsedMs };
  }
}
