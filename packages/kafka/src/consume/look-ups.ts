/**
 * Looks up what fetches do not show: the end of partitions that are not fetched (because reading is paused, or the group
 * rebalances), the time of their first unread record, and for how long each topic keeps records.
 *
 * Only partitions that no fetch has read for some seconds are looked up, so that a busy consumer makes no requests for it.
 * A look-up that fails leaves the partition as it is known, and is repeated.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { topicOffsets } from '../admin/offsets.ts';
import { topicSettings } from '../admin/topics.ts';
import type { KafkaLog } from '../log.ts';
import type { Admin } from '../patches/reading/admin-requests.ts';
import type { Partition } from './partition/partition.ts';

export interface LookUpOptions {
  readonly topics: readonly string[];
  /** All partitions that this member owns. */
  readonly partitions: Iterable<Partition>;
  readonly lookUpAdmin: () => Promise<Admin>;
  /** Called for a partition whose next record has expired. */
  readonly relocate: (partition: Partition) => void;
  readonly classify: (error: unknown) => unknown;
  readonly log: KafkaLog;
}

/** How long a topic keeps records, and how many bytes a partition has. Undefined if it is not known, or not limited. */
export interface Retention {
  readonly ms?: number | undefined;
  readonly bytes?: number | undefined;
}

export interface LookUps {
  /** Empty while it is not known. */
  retention(topic: string): Retention;
  end(): void;
}

const everyMs = 3_000;
const retentionEveryMs = 10 * 60_000;

export function startLookUps(options: LookUpOptions): LookUps {
  const { topics, partitions, lookUpAdmin, relocate, classify, log } = options;
  const ending = new AbortController();
  const { signal } = ending;
  const isEnding = (): boolean => signal.aborted;
  const retentions = new Map<string, Retention>();
  let retentionsAsOf = -Infinity;
  let hasReportedFailure = false;

  const lookUpRetentions = async (): Promise<void> => {
    if (performance.now() - retentionsAsOf < retentionEveryMs) return;
    const wanted = new Map(topics.map((topic) => [topic, ['retention.ms', 'retention.bytes']]));
    const found = await topicSettings(await lookUpAdmin(), wanted);
    retentionsAsOf = performance.now();
    retentions.clear();
    for (const [topic, { 'retention.ms': ms, 'retention.bytes': bytes }] of found) {
      retentions.set(topic, { ms: limitOf(ms), bytes: limitOf(bytes) });
    }
  };

  const lookUpEnds = async (): Promise<void> => {
    const now = Date.now();
    const unread = [...partitions].filter(
      // Where the clock was set back, the end was seen in the future.
      ({ ends, nextUnread }) => nextUnread !== undefined && (ends.asOf < now - everyMs || ends.asOf > now),
    );
    for (const [topic, ofTopic] of Map.groupBy(unread, (partition) => partition.topic)) {
      // A topic whose leaders do not answer does not hide the lag of the others.
      if (!isEnding()) await attempt(() => lookUpEndsOf(topic, ofTopic));
    }
  };

  const lookUpEndsOf = async (topic: string, ofTopic: readonly Partition[]): Promise<void> => {
    const admin = await lookUpAdmin();
    const offsets = new Map((await topicOffsets(admin, topic)).map((entry) => [entry.partition, entry]));
    for (const partition of ofTopic) {
      const found = offsets.get(partition.partition);
      if (!found || isEnding()) continue;
      partition.sawEnd(Number(found.high), Date.now());
      if (partition.located && Number(found.low) > partition.next) relocate(partition);
      await lookUpFirst(admin, partition);
    }
  };

  const lookUpFirst = async (admin: Admin, partition: Partition): Promise<void> => {
    const { topic, partition: number, nextUnread: offset, end, nextTimestamp, unfinished } = partition;
    if (offset === undefined || offset >= end || nextTimestamp !== undefined || unfinished > 0) return;
    const first = await admin.readFirst({ topic, partition: number, offset });
    if (first !== undefined) partition.lookedUp(offset, first);
  };

  const attempt = async (lookUp: () => Promise<void>): Promise<void> => {
    try {
      await lookUp();
    } catch (error) {
      const fields = { err: classify(error), topics };
      if (hasReportedFailure) log.debug(fields, 'looking up ends or retention failed, retrying');
      else log.warn(fields, 'looking up ends or retention failed, retrying');
      hasReportedFailure = true;
    }
  };

  const run = async (): Promise<void> => {
    while (!isEnding()) {
      await attempt(lookUpEnds);
      if (!isEnding()) await attempt(lookUpRetentions);
      await wait(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  void run();

  return {
    retention: (topic) => retentions.get(topic) ?? {},
    end() {
      ending.abort();
    },
  };
}

/** Kafka has -1 for no limit. */
function limitOf(text: string | undefined): number | undefined {
  const limit = Number(text);
  return limit > 0 ? limit : undefined;
}
