/**
 * Every topic of Tailrace: its name, how many partitions it has, and how long it is kept.
 *
 * `deliveries`, its tiers and the replay lane share one partition count, so that a key lies in the same
 * partition number in all of them and one member of the delivery group can own that number everywhere.
 *
 * A record may grow on its way, by headers, so each topic takes larger ones than those it is fed from.
 */
import type { TopicSpec } from '@tailrace/kafka';
import { formatDuration, parseDuration } from './duration.ts';

/** Full names, prefix included. */
export interface TopicNames {
  readonly events: string;
  readonly eventsRejected: string;
  readonly deliveries: string;
  readonly deliveriesDead: string;
  readonly deliveriesReplay: string;
  readonly attempts: string;
  readonly usage: string;
  readonly config: string;
  readonly audiences: string;
  readonly audiencesSyncs: string;
  readonly deletions: string;
  /** The topic of the retry tier with this delay, such as `tailrace.deliveries.retry.10s`. */
  retryTier(delayMs: number): string;
  /** The delay of a retry tier's topic; undefined where `topic` is not one. */
  retryTierDelayMs(topic: string): number | undefined;
}

const dayMs = 86_400_000;
const mib = 1024 * 1024;

export function topicNames(prefix: string): TopicNames {
  const retryPrefix = `${prefix}deliveries.retry.`;
  return {
    events: `${prefix}events`,
    eventsRejected: `${prefix}events.rejected`,
    deliveries: `${prefix}deliveries`,
    deliveriesDead: `${prefix}deliveries.dead`,
    deliveriesReplay: `${prefix}deliveries.replay`,
    attempts: `${prefix}attempts`,
    usage: `${prefix}usage`,
    config: `${prefix}config`,
    audiences: `${prefix}audiences`,
    audiencesSyncs: `${prefix}audiences.syncs`,
    deletions: `${prefix}deletions`,
    retryTier: (delayMs) => `${retryPrefix}${formatDuration(delayMs)}`,
    retryTierDelayMs: (topic) =>
      topic.startsWith(retryPrefix) ? parseDuration(topic.slice(retryPrefix.length)) : undefined,
  };
}

/** The distinct delays of a retry schedule, shortest first: one tier each. */
export function tierDelaysMs(retryScheduleMs: readonly number[]): number[] {
  return [...new Set(retryScheduleMs)].sort((a, b) => a - b);
}

/** What `tailrace topics apply` creates. */
export function topicSpecs(
  names: TopicNames,
  options: { partitions: number; retryScheduleMs: readonly number[] },
): TopicSpec[] {
  const { partitions, retryScheduleMs } = options;
  const keptFor = (name: string, days: number, maxMessageBytes: number): TopicSpec => ({
    name,
    partitions,
    config: {
      'cleanup.policy': 'delete',
      'retention.ms': String(days * dayMs),
      'max.message.bytes': String(maxMessageBytes),
    },
  });
  const compacted = (name: string, partitions: number): TopicSpec => ({
    name,
    partitions,
    config: { 'cleanup.policy': 'compact' },
  });
  return [
    keptFor(names.events, 7, mib),
    keptFor(names.eventsRejected, 30, 2 * mib),
    keptFor(names.deliveries, 7, 1.5 * mib),
    ...tierDelaysMs(retryScheduleMs).map((delayMs) => keptFor(names.retryTier(delayMs), 7, 2 * mib)),
    keptFor(names.deliveriesDead, 30, 2 * mib),
    // Tells which dead letters have been replayed, so a replay must outlive its dead letter: the 30 days, the 7
    // that a segment may go on being written to, and a margin.
    keptFor(names.deliveriesReplay, 45, 2 * mib),
    keptFor(names.attempts, 7, mib),
    keptFor(names.usage, 90, mib),
    // One partition, because its readers rely on the order of changes across entries.
    compacted(names.config, 1),
    compacted(names.audiences, partitions),
    // Few and small, and every control instance reads them whole.
    compacted(names.audiencesSyncs, 1),
    compacted(names.deletions, 1),
  ];
}
