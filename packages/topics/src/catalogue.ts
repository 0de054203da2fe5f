/**
 * Every topic of Tailrace: its name, how many partitions and copies it has, and how long it is kept.
 *
 * `deliveries`, its tiers, the replay lane and the dead letters have equally many partitions, so that a key lies in
 * the same partition number in all of them and one member of the delivery group can own that number everywhere. So do
 * `events` and `events.waiting`, for the router.
 *
 * A record may grow on its way, by headers, so each topic takes larger ones than those it is fed from.
 */
import type { TopicSpec } from '@tailrace/kafka';
import { formatDuration, parseDuration } from './duration.ts';
import type { PartitionGroup } from './partition-counts.ts';
import type { Replication } from './replication.ts';

/** Full names, prefix included. */
export interface TopicNames {
  readonly events: string;
  readonly eventsRejected: string;
  readonly eventsWaiting: string;
  readonly deliveries: string;
  readonly deliveriesDead: string;
  readonly deliveriesReplay: string;
  readonly attempts: string;
  readonly usage: string;
  readonly config: string;
  readonly audiences: string;
  readonly audiencesSyncs: string;
  readonly deletions: string;
  readonly recalls: string;
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
    eventsWaiting: `${prefix}events.waiting`,
    deliveries: `${prefix}deliveries`,
    deliveriesDead: `${prefix}deliveries.dead`,
    deliveriesReplay: `${prefix}deliveries.replay`,
    attempts: `${prefix}attempts`,
    usage: `${prefix}usage`,
    config: `${prefix}config`,
    audiences: `${prefix}audiences`,
    audiencesSyncs: `${prefix}audiences.syncs`,
    deletions: `${prefix}deletions`,
    recalls: `${prefix}recalls`,
    retryTier: (delayMs) => `${retryPrefix}${formatDuration(delayMs)}`,
    retryTierDelayMs: (topic) =>
      topic.startsWith(retryPrefix) ? parseDuration(topic.slice(retryPrefix.length)) : undefined,
  };
}

/** The distinct delays of a retry schedule, shortest first: one tier each. */
export function tierDelaysMs(retryScheduleMs: readonly number[]): number[] {
  return [...new Set(retryScheduleMs)].sort((a, b) => a - b);
}

export interface TopicOptions {
  readonly partitions: number;
  readonly retryScheduleMs: readonly number[];
  /** The brokers' own defaults where absent. */
  readonly replication?: Replication;
}

/** What `tailrace topics apply` creates. */
export function topicSpecs(names: TopicNames, options: TopicOptions): TopicSpec[] {
  const { partitions, retryScheduleMs, replication } = options;
  const spec = (name: string, config: TopicSpec['config'], more: Partial<TopicSpec> = {}): TopicSpec => ({
    name,
    partitions,
    ...(replication && { replicationFactor: replication.factor }),
    config: {
      ...config,
      ...(replication && { 'min.insync.replicas': String(replication.minInSync) }),
    },
    ...more,
  });
  const keptFor = (name: string, days: number, maxMessageBytes: number): TopicSpec =>
    spec(name, {
      'cleanup.policy': 'delete',
      'retention.ms': String(days * dayMs),
      'max.message.bytes': String(maxMessageBytes),
    });
  const likeDeliveries = (name: string, days: number): TopicSpec => ({
    ...keptFor(name, days, 2 * mib),
    samePartitionsAs: names.deliveries,
    group: 'deliveries' satisfies PartitionGroup,
  });
  const compacted = (name: string, partitions: number): TopicSpec =>
    spec(name, { 'cleanup.policy': 'compact' }, { partitions, keepsPartitions: true });
  return [
    keptFor(names.events, 7, mib),
    keptFor(names.eventsRejected, 30, 2 * mib),
    {
      ...keptFor(names.eventsWaiting, 7, 1.5 * mib),
      samePartitionsAs: names.events,
      group: 'events' satisfies PartitionGroup,
    },
    keptFor(names.deliveries, 7, 1.5 * mib),
    ...tierDelaysMs(retryScheduleMs).map((delayMs) => likeDeliveries(names.retryTier(delayMs), 7)),
    likeDeliveries(names.deliveriesDead, 30),
    // Tells which dead letters have been replayed, so a replay must outlive its dead letter: the 30 days, the 7
    // that a segment may go on being written to, and a margin.
    likeDeliveries(names.deliveriesReplay, 45),
    keptFor(names.attempts, 7, mib),
    keptFor(names.usage, 90, mib),
    // One partition, because its readers rely on the order of changes across entries.
    compacted(names.config, 1),
    // The later of two records of a key is known by its partition, so a key must not change that.
    compacted(names.audiences, partitions),
    // Few and small, and every control instance reads them whole.
    compacted(names.audiencesSyncs, 1),
    compacted(names.deletions, 1),
    // What it says of records in the tiers must outlive them: their 7 days, the 7 that a segment may go on being
    // written to, and a margin.
    spec(
      names.recalls,
      { 'cleanup.policy': 'compact,delete', 'retention.ms': String(15 * dayMs) },
      { partitions: 1, keepsPartitions: true },
    ),
  ];
}
