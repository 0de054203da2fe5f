/**
 * Follows topics live from offsets that the caller has stored, at the caller's pace. For a caller that writes what it reads
 * to another store, together with its offsets.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { topicOffsets } from '../admin/offsets.ts';
import { toRecord } from '../fetched-record.ts';
import { KnownEnds } from '../lag/known-ends.ts';
import { highestOf, lagOf, type Progress } from '../lag/partition-lag.ts';
import type { ConsumedRecord } from '../record.ts';
import { startSession, stopProcess, unlessClosing } from '../session.ts';
import type { FetchedBatch } from '../wire/fetched-batch.ts';
import { leaveTimeoutMs, type ReaderDependencies } from './reader.ts';

export interface TailPosition {
  readonly topic: string;
  readonly partition: number;
  /** The offset to continue with. */
  readonly next: number;
}

export interface TailOptions {
  readonly topics: readonly string[];
  /** The offset to begin with, or undefined for the beginning of the partition. Expired offsets are skipped. */
  readonly startOf: (topic: string, partition: number) => number | undefined;
  /**
   * Called with the records of one fetch, each offset once. The next call is made when this one has resolved, which should not take
   * seconds. Must not reject.
   */
  readonly onRecords: (parts: readonly TailPart[]) => Promise<void>;
}

/** Records of one partition, in order, and the position after them. */
export interface TailPart {
  readonly records: readonly ConsumedRecord[];
  readonly position: TailPosition;
}

export interface Tail {
  /** Whether brokers have answered within the last 10 s. */
  readonly healthy: boolean;
  /** The records that are not delivered yet, as of the last fetch or refresh. */
  readonly behind: number;
  /** The age of the oldest record that is not delivered yet; 0 without one, undefined while it is not known. */
  readonly lagMs: number | undefined;
  /**
   * Resolves once all records are delivered that the topics had when this was called, or when the tail is closed.
   *
   * @throws TailraceError `kafka-unavailable` if the end offsets cannot be looked up
   */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

class Position implements Progress {
  readonly topic: string;
  readonly partition: number;
  next: number;
  /** As of the last fetch or refresh. */
  end: number;
  ends = new KnownEnds();
  /** While records are being delivered, the timestamp of the first. */
  nextTimestamp: number | undefined;
  lastTimestamp: number | undefined;

  constructor(topic: string, partition: number, next: number) {
    this.topic = topic;
    this.partition = partition;
    this.next = next;
    this.end = next;
  }

  get nextUnread(): number {
    return this.next;
  }

  unfinishedRecords(): never[] {
    return [];
  }

  /** The topic was created again. */
  beginAgain(): void {
    this.next = 0;
    this.ends = new KnownEnds();
  }

  sawEnd(end: number): void {
    this.end = end;
    this.ends.see(end, Date.now(), this.next);
  }
}

/**
 * After a fetch that brought records, the next one waits until this time has passed, so that what arrives meanwhile is one step: a fetch and
 * a call cost as much as dozens of records. What waits at a broker already is fetched at once.
 */
const stepMs = 200;

const noTimes = { delayMs: undefined, retentionMs: undefined };

interface Waiter {
  readonly ends: readonly (readonly [position: Position, end: number])[];
  readonly resolve: () => void;
}

export async function startTail(
  { createConsumer, admin, classify, log, reportUnreadable, closing }: ReaderDependencies,
  { topics, startOf, onRecords }: TailOptions,
): Promise<Tail> {
  const positions = new Map<string, Position>();
  let waiters: Waiter[] = [];
  let closed = false;
  let delivering = Promise.resolve();
  /** Ends the pauses between fetches. */
  let pausing = new AbortController();

  /** Updates the end of each partition. Records that expired before they were read are skipped. */
  const updateEnds = async (): Promise<void> => {
    try {
      for (const topic of topics) {
        for (const { partition, low, high } of await topicOffsets(admin, topic)) {
          const isNew = !positions.has(`${topic}/${partition}`);
          const position = positionOf(topic, partition);
          position.sawEnd(Number(high));
          // An offset beyond the end: the topic was deleted and created again since the offset was stored.
          if (isNew && position.next > position.end) position.beginAgain();
          position.next = Math.max(position.next, Number(low));
        }
      }
    } catch (error) {
      throw classify(error);
    }
  };

  const positionOf = (topic: string, partition: number): Position => {
    const key = `${topic}/${partition}`;
    const known = positions.get(key);
    if (known) return known;
    const next = startOf(topic, partition) ?? 0;
    const position = new Position(topic, partition, next);
    positions.set(key, position);
    return position;
  };

  const settleWaiters = (): void => {
    waiters = waiters.filter(({ ends, resolve }) => {
      const reached = closed || ends.every(([position, end]) => position.next >= end);
      if (reached) resolve();
      return !reached;
    });
  };

  const endPauses = (): void => {
    pausing.abort();
    pausing = new AbortController();
  };

  const deliver = async (batches: readonly FetchedBatch[]): Promise<void> => {
    if (closed) return;
    const parts: TailPart[] = [];
    const read: (readonly [position: Position, next: number])[] = [];
    for (const batch of batches) {
      const { topic, partition } = batch;
      const position = positionOf(topic, partition);
      // The topic was deleted and created again.
      if (Number(batch.highWatermark) < position.next) position.beginAgain();
      position.sawEnd(Number(batch.highWatermark));
      const records: ConsumedRecord[] = [];
      for (const fetched of batch.messages) {
        if (fetched.offset < position.next) continue;
        if (fetched.unreadable) reportUnreadable({ topic, partition, ...fetched.unreadable });
        else records.push(toRecord(topic, partition, fetched));
      }
      const next = Math.max(position.next, batch.lastOffset() + 1);
      read.push([position, next]);
      if (records.length === 0) continue;
      position.nextTimestamp = records[0]?.timestamp;
      position.lastTimestamp = records.at(-1)?.timestamp;
      parts.push({ records, position: { topic, partition, next } });
    }
    if (parts.length > 0) await onRecords(parts);
    for (const [position, next] of read) {
      position.nextTimestamp = undefined;
      position.next = next;
    }
    settleWaiters();
  };

  const take = async (batches: readonly FetchedBatch[]): Promise<void> => {
    const since = performance.now();
    // Brokers answer beside each other.
    delivering = delivering.then(() => deliver(batches)).catch(stopProcess);
    await delivering;
    const hasMore = batches.some((batch) => Number(batch.highWatermark) > batch.lastOffset() + 1);
    if (hasMore || closed || waiters.length > 0) return;
    const leftMs = Math.max(0, stepMs - (performance.now() - since));
    await wait(leftMs, undefined, { signal: pausing.signal }).catch(() => undefined);
  };

  await updateEnds();
  const consumer = createConsumer(`${topics[0] ?? ''}.tail.${randomUUID()}`, {
    onAnswer({ topic, partition, end }) {
      positions.get(`${topic}/${partition}`)?.sawEnd(end);
    },
    take,
  });
  const session = startSession({
    consumer,
    topics,
    classify,
    log,
    fields: { topics },
    onBatch: () => undefined,
    onJoin({ assignment }) {
      // Nothing is committed, so the library would start at the beginning.
      for (const [topic, partitions] of Object.entries(assignment)) {
        for (const partition of partitions)
          session.seek({ topic, partition }, positionOf(topic, partition).next);
      }
    },
  });
  await unlessClosing(closing, () => session.end(), session.joined);

  return {
    get healthy() {
      return session.healthy;
    },
    get behind() {
      let behind = 0;
      for (const { next, end } of positions.values()) behind += Math.max(0, end - next);
      return behind;
    },
    get lagMs() {
      const now = Date.now();
      const lags = Array.from(positions.values(), (position) => lagOf(position, noTimes, now)?.ageMs);
      return highestOf(lags);
    },
    async refresh() {
      await updateEnds();
      const ends = Array.from(positions.values(), (position) => [position, position.end] as const);
      await new Promise<void>((resolve) => {
        waiters.push({ ends, resolve });
        settleWaiters();
        endPauses();
      });
    },
    async close() {
      closed = true;
      settleWaiters();
      endPauses();
      await session.end({ timeoutMs: leaveTimeoutMs });
    },
  };
}
