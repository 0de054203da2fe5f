/** Reads some minutes of some partitions of a topic, and reports exactly what was read and what was not. */
import { isTailraceError } from '@tailrace/errors';
import type { Kafka } from '@tailrace/kafka';
import type { Match, Matcher } from './match.ts';

export interface Period {
  /** Milliseconds since the epoch; `until` is excluded. */
  readonly from: number;
  readonly until: number;
}

export interface SearchedPartition {
  readonly partition: number;
  /** Offsets; `to` is excluded. */
  readonly from: number;
  readonly to: number;
  /**
   * `read`: all records of the period. `expired`: records of the period may have expired before. `unread`: the search ended
   * before.
   */
  readonly state: 'read' | 'expired' | 'unread';
}

export interface SearchedTopic {
  readonly topic: string;
  readonly partitions: readonly SearchedPartition[];
  /** Of all partitions that the topic has. */
  readonly partitionCount: number;
  /** `retention.ms`; null if unknown or unlimited. */
  readonly retentionMs: number | null;
  /** Why it could not be read, or not completely. */
  readonly problem: string | null;
}

export interface ReadOptions {
  readonly period: Period;
  /** Undefined for all. */
  readonly partitions: ReadonlySet<number> | undefined;
  readonly matcher: Matcher;
  readonly onMatch: (match: Match) => void;
  readonly onProgress: (read: number, total: number) => void;
  readonly signal: AbortSignal;
  readonly now: number;
}

export async function readTopic(kafka: Kafka, topic: string, options: ReadOptions): Promise<SearchedTopic> {
  const nothing = { topic, partitions: [], partitionCount: 0, retentionMs: null };
  if (options.signal.aborted) return { ...nothing, problem: 'the search was ended before' };
  try {
    if ((await kafka.describeTopics([topic])).size === 0) {
      return { ...nothing, problem: 'the topic does not exist' };
    }
    return await read(kafka, topic, options);
  } catch (error) {
    if (!isTailraceError(error)) throw error;
    return { ...nothing, problem: error.message };
  }
}

async function read(kafka: Kafka, topic: string, options: ReadOptions): Promise<SearchedTopic> {
  const { period, partitions, matcher, onMatch, onProgress, signal, now } = options;
  const [kept, begins, ends, retention] = await Promise.all([
    kafka.offsets(topic),
    kafka.offsetsAt(topic, period.from),
    kafka.offsetsAt(topic, period.until),
    retentionOf(kafka, topic),
  ]);
  const spans = [...kept]
    .filter(([partition]) => partitions?.has(partition) ?? true)
    .map(([partition, { low, high }]) => {
      const from = Math.max(low, Math.min(begins.get(partition) ?? low, high));
      const to = Math.max(from, Math.min(ends.get(partition) ?? high, high));
      // Where the first kept record is already in the period, earlier ones of the period may be gone.
      const expired = low > 0 && from === low && mayHaveExpired(retention, period.from, now);
      return { partition, from, to, expired };
    });

  const next = new Map<number, number>();
  let problem: string | null = null;
  const wanted = spans.filter(({ from, to }) => from < to);
  if (wanted.length > 0) {
    const scan = await kafka.scan({
      topic,
      starts: new Map(wanted.map(({ partition, from }) => [partition, from])),
      ends: new Map(wanted.map(({ partition, to }) => [partition, to])),
    });
    const close = (): void => void scan.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      for await (const records of scan) {
        for (const record of records) {
          next.set(record.partition, record.offset + 1);
          const match = matcher(record);
          if (match) onMatch(match);
        }
        onProgress(scan.progress.read, scan.progress.total);
        if (signal.aborted) break;
      }
    } catch (error) {
      if (!isTailraceError(error)) throw error;
      problem = error.message;
    } finally {
      signal.removeEventListener('abort', close);
    }
    // `read` is counted in offsets, some of which have no record.
    if (scan.progress.read < scan.progress.total) problem ??= 'the search was ended before its end';
  }
  return {
    topic,
    partitions: spans.map(({ partition, from, to, expired }) => ({
      partition,
      from,
      to,
      state: problem !== null && (next.get(partition) ?? from) < to ? 'unread' : expired ? 'expired' : 'read',
    })),
    partitionCount: kept.size,
    retentionMs: retention.ms > 0 ? retention.ms : null,
    problem,
  };
}

interface Retention {
  /** -1 without a limit; NaN if unknown. */
  readonly ms: number;
  readonly bytes: number;
}

async function retentionOf(kafka: Kafka, topic: string): Promise<Retention> {
  const setting = async (name: string): Promise<number> => {
    try {
      return Number((await kafka.topicSetting([topic], name)).get(topic) ?? NaN);
    } catch (error) {
      // A user may be allowed to read a topic and not its settings.
      if (isTailraceError(error)) return NaN;
      throw error;
    }
  };
  return { ms: await setting('retention.ms'), bytes: await setting('retention.bytes') };
}

/** By time, or by size, which does not depend on time. */
function mayHaveExpired({ ms, bytes }: Retention, from: number, now: number): boolean {
  if (bytes > 0 || Number.isNaN(ms)) return true;
  return ms >= 0 && from < now - ms;
}
