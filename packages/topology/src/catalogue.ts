/**
 * All topics of Tailrace: their names, numbers of partitions and copies, and retention.
 *
 * `deliveries`, the retry topics, the replay topic and the dead letters have the same number of partitions. A key is in the same
 * partition number in all of them, and one member of the delivery group owns that number everywhere. The same holds for
 * `events` and `events.waiting`, and the router.
 *
 * Records gain headers on their way, so each topic allows larger records than the topics that it is written from.
 */
import type { TopicSpec } from '@tailrace/kafka';
import { formatDuration, parseDuration } from '@tailrace/events';
import type { Replication } from './replication.ts';

/** Topics of a group have the same number of partitions; see partition-counts.ts. */
export const partitionGroups = ['deliveries', 'events'] as const;
export type PartitionGroup = (typeof partitionGroups)[number];

export type TopicNames = Readonly<ReturnType<typeof topicNames>>;

const dayMs = 86_400_000;
/**
 * The delay of the retry topic in which the deliveries of paused destinations wait. Its records are written again once a day
 * while the destination stays paused, so they never expire, and 7 copies of each are kept at most.
 */
export const pauseTierMs = dayMs;
const mib = 1024 * 1024;

/** Full names, prefix included. */
export function topicNames(prefix: string) {
  const retryPrefix = `${prefix}deliveries.retry.`;
  return {
    events: `${prefix}events`,
    eventsRejected: `${prefix}events.rejected`,
    eventsWaiting: `${prefix}events.waiting`,
    /** Events that the operator has brought back from elsewhere, for replays. Tailrace does not create it. */
    eventsRestore: `${prefix}events.restore`,
    deliveries: `${prefix}deliveries`,
    deliveriesDead: `${prefix}deliveries.dead`,
    deliveriesReplay: `${prefix}deliveries.replay`,
    attempts: `${prefix}attempts`,
    usage: `${prefix}usage`,
    decisions: `${prefix}decisions`,
    config: `${prefix}config`,
    audiences: `${prefix}audiences`,
    audiencesSyncs: `${prefix}audiences.syncs`,
    deletions: `${prefix}deletions`,
    recalls: `${prefix}recalls`,
    replays: `${prefix}replays`,
    suppressions: `${prefix}suppressions`,
    destinationsHealth: `${prefix}destinations.health`,
    audit: `${prefix}audit`,
    idempotency: `${prefix}idempotency`,
    sessions: `${prefix}sessions`,
    /** The retry topic with this delay, such as `tailrace.deliveries.retry.10s`. */
    retryTier: (delayMs: number) => `${retryPrefix}${formatDuration(delayMs)}`,
    /** The delay of a retry topic; undefined where `topic` is not one. */
    retryTierDelayMs: (topic: string): number | undefined =>
      topic.startsWith(retryPrefix) ? parseDuration(topic.slice(retryPrefix.length)) : undefined,
  };
}

/** The distinct delays of a retry schedule, in ascending order. Each has a retry topic. */
export function tierDelaysMs(retryScheduleMs: readonly number[]): number[] {
  return [...new Set(retryScheduleMs)].sort((a, b) => a - b);
}

export interface TopicOptions {
  readonly partitions: number;
  readonly retryScheduleMs: readonly number[];
  /** By default, the brokers' own defaults. */
  readonly replication?: Replication;
}

/** The topics that `tailrace topics apply` creates. */
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
    ...tierDelaysMs([...retryScheduleMs, pauseTierMs]).map((delayMs) =>
      likeDeliveries(names.retryTier(delayMs), 7),
    ),
    likeDeliveries(names.deliveriesDead, 30),
    // Shows which dead letters have been replayed, so it outlives them: 30 days, 7 days during which a segment may still be
    // written to, and a margin.
    likeDeliveries(names.deliveriesReplay, 45),
    keptFor(names.attempts, 7, mib),
    keptFor(names.usage, 90, mib),
    // As long as the deliveries, which are the other part of what the router decided.
    keptFor(names.decisions, 7, mib),
    // One partition, because readers rely on the order of changes across entries.
    compacted(names.config, 1),
    // The order of two records of a key is that of their partition, so a key must not change its partition.
    compacted(names.audiences, partitions),
    // Few and small records, which every instance of control reads completely.
    compacted(names.audiencesSyncs, 1),
    compacted(names.deletions, 1),
    compacted(names.replays, 1),
    compacted(names.suppressions, 1),
    compacted(names.destinationsHealth, 1),
    // Marks outlive the records of the retry topics that they refer to: 7 days, 7 days during which a segment may still be
    // written to, and a margin.
    spec(
      names.recalls,
      { 'cleanup.policy': 'compact,delete', 'retention.ms': String(15 * dayMs) },
      { partitions: 1, keepsPartitions: true },
    ),
    // One partition, because readers rely on the order of the changes.
    { ...keptFor(names.audit, 90, mib), partitions: 1, keepsPartitions: true },
    // Keys are kept for a day. One partition, whose first record has the key.
    { ...keptFor(names.idempotency, 2, mib), partitions: 1, keepsPartitions: true },
    // Sessions last for half a day. Few and small records, as above.
    { ...keptFor(names.sessions, 1, mib), partitions: 1, keepsPartitions: true },
  ];
}
