/**
 * Follows topics live from offsets that the caller has kept, at the caller's pace: for whoever writes what it reads
 * somewhere else, together with how far it got. It commits nothing; the group that the client library needs for
 * reading is named after this process alone, and vanishes with it.
 */
import { randomUUID } from 'node:crypto';
import type { Admin, Consumer, EachBatchPayload } from 'kafkajs';
import type { KafkaLog } from './log.ts';
import { topicOffsets } from './offsets.ts';
import { fetchedRecords, toRecord, type ConsumedRecord } from './record.ts';
import { startSession } from './session.ts';
import type { ReportUnreadable } from './unreadable.ts';

export interface TailPosition {
  readonly topic: string;
  readonly partition: number;
  /** The offset to go on with. */
  readonly next: number;
}

export interface TailOptions {
  readonly topics: readonly string[];
  /** The offset to begin with, where it is still there; the beginning of the partition where it is undefined. */
  readonly startOf: (topic: string, partition: number) => number | undefined;
  /**
   * Called with records of one partition, in their order, each offset once, and how far that is. One call at a time:
   * the next comes when this one has resolved, which should not take seconds. Must not reject.
   */
  readonly onRecords: (records: readonly ConsumedRecord[], position: TailPosition) => Promise<void>;
}

export interface Tail {
  /** Whether brokers answered it lately. */
  readonly healthy: boolean;
  /** Records that were there at the last look and have not been handed over. */
  readonly behind: number;
  /**
   * Resolves once everything was handed over that the topics held when this was called, or when it is closed.
   *
   * @throws TailraceError `kafka-unavailable` where Kafka does not say how far the topics go
   */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface TailDependencies {
  readonly createConsumer: (groupId: string) => Consumer;
  readonly admin: Admin;
  readonly classify: (error: unknown) => unknown;
  readonly log: KafkaLog;
  readonly reportUnreadable: ReportUnreadable;
}

interface Place {
  readonly topic: string;
  readonly partition: number;
  next: number;
  /** As of the last look or fetch. */
  end: number;
}

interface Waiter {
  readonly ends: readonly (readonly [place: Place, end: number])[];
  readonly resolve: () => void;
}

const leaveTimeoutMs = 2_000;

export async function startTail(
  { createConsumer, admin, classify, log, reportUnreadable }: TailDependencies,
  { topics, startOf, onRecords }: TailOptions,
): Promise<Tail> {
  const places = new Map<string, Place>();
  let waiters: Waiter[] = [];
  let closed = false;

  /** Where the topics end now. What has expired unread is passed over: nothing will ever come from there. */
  const look = async (): Promise<void> => {
    try {
      for (const topic of topics) {
        for (const { partition, low, high } of await topicOffsets(admin, topic)) {
          const isFirstLook = !places.has(`${topic}/${partition}`);
          const place = placeOf(topic, partition);
          place.end = Number(high);
          // Nothing was ever read from beyond the end: the topic was made anew since the offset was kept.
          if (isFirstLook && place.next > place.end) place.next = 0;
          place.next = Math.max(place.next, Number(low));
        }
      }
    } catch (error) {
      throw classify(error);
    }
  };

  const placeOf = (topic: string, partition: number): Place => {
    const key = `${topic}/${partition}`;
    const known = places.get(key);
    if (known) return known;
    const next = startOf(topic, partition) ?? 0;
    const place: Place = { topic, partition, next, end: next };
    places.set(key, place);
    return place;
  };

  const settleWaiters = (): void => {
    waiters = waiters.filter(({ ends, resolve }) => {
      const reached = closed || ends.every(([place, end]) => place.next >= end);
      if (reached) resolve();
      return !reached;
    });
  };

  const onBatch = async (payload: EachBatchPayload): Promise<void> => {
    const { batch } = payload;
    if (closed) return;
    const place = placeOf(batch.topic, batch.partition);
    place.end = Number(batch.highWatermark);
    // The topic was made anew.
    if (place.end < place.next) place.next = 0;
    const { topic, partition } = batch;
    const records: ConsumedRecord[] = [];
    for (const fetched of fetchedRecords(batch)) {
      if (fetched.offset < place.next) continue;
      if (fetched.unreadable) reportUnreadable({ topic, partition, ...fetched.unreadable });
      else records.push(toRecord(topic, partition, fetched));
    }
    const next = Math.max(place.next, Number(batch.lastOffset()) + 1);
    if (records.length > 0) await onRecords(records, { topic, partition, next });
    place.next = next;
    payload.resolveOffset(batch.lastOffset());
    settleWaiters();
  };

  await look();
  const consumer = createConsumer(`${topics[0] ?? ''}.tail.${randomUUID()}`);
  const session = startSession({
    consumer,
    topics,
    classify,
    log,
    fields: { topics },
    onBatch,
    onJoin(_memberId, assignment) {
      // Nothing is committed, so the library would begin anew.
      for (const [topic, partitions] of Object.entries(assignment)) {
        for (const partition of partitions)
          session.seek({ topic, partition }, placeOf(topic, partition).next);
      }
    },
  });
  // A batch of nothing but transaction markers or aborted records is told of, and never handed over.
  consumer.on(consumer.events.START_BATCH_PROCESS, ({ payload }) => {
    if (payload.batchSize > 0) return;
    const place = placeOf(payload.topic, payload.partition);
    place.next = Math.max(place.next, Number(payload.lastOffset) + 1);
    settleWaiters();
  });
  await session.joined;

  return {
    get healthy() {
      return session.healthy;
    },
    get behind() {
      let behind = 0;
      for (const { next, end } of places.values()) behind += Math.max(0, end - next);
      return behind;
    },
    async refresh() {
      await look();
      const ends = Array.from(places.values(), (place) => [place, place.end] as const);
      await new Promise<void>((resolve) => {
        waiters.push({ ends, resolve });
        settleWaiters();
      });
    },
    async close() {
      closed = true;
      settleWaiters();
      await session.end({ timeoutMs: leaveTimeoutMs });
    },
  };
}
