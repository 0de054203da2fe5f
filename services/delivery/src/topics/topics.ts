/** The topics that the delivery group reads, and how far it reads ahead in each. */
import type { Consumption, Kafka, PartitionLimits } from '@tailrace/kafka';
import { pauseTierMs, requireTopics, tierDelaysMs, type TopicNames } from '@tailrace/topics';
import type { RetryPolicy } from '../decide.ts';
import type { Deliverer } from '../deliver.ts';
import type { Lanes } from '../isolation/lanes.ts';
import type { Ledger } from '../recall/ledger.ts';

/**
 * Returns `deliveries`, the replay topic, and all existing retry topics: those of the schedule, that of paused destinations,
 * and those of an earlier schedule, which may still hold records.
 *
 * @throws TailraceError `topic-missing` where a topic that is read or written does not exist
 */
export async function topicsToConsume(
  kafka: Kafka,
  names: TopicNames,
  { scheduleMs }: RetryPolicy,
): Promise<string[]> {
  const existing = await kafka.listTopics();
  const needed = [
    names.deliveries,
    names.deliveriesReplay,
    ...tierDelaysMs(scheduleMs).map((delayMs) => names.retryTier(delayMs)),
  ];
  const others = [names.deliveriesDead, names.attempts, names.recalls, names.suppressions, names.config];
  requireTopics(existing, [...needed, ...others], ['TAILRACE_RETRY_SCHEDULE']);
  const otherTiers = existing.filter((topic) => names.retryTierDelayMs(topic) !== undefined);
  return [...new Set([...needed, ...otherTiers])];
}

/**
 * Returns the delay of the retry topic in which deliveries of paused destinations wait: a topic of their own, or, until
 * `tailrace topics apply` has created it, the longest one of the schedule, which costs a record an hour for each delivery.
 */
export function pauseDelayMs(
  topics: readonly string[],
  names: TopicNames,
  { scheduleMs }: RetryPolicy,
): number {
  return topics.includes(names.retryTier(pauseTierMs)) ? pauseTierMs : Math.max(...scheduleMs);
}

export interface DeliveryGroup {
  readonly groupId: string;
  /** See {@link topicsToConsume}. */
  readonly topics: readonly string[];
  readonly names: TopicNames;
  readonly policy: RetryPolicy;
  readonly commitsLateAfterMs: number;
  readonly lanes: Pick<Lanes, 'pause' | 'resume'>;
  readonly deliverer: Pick<Deliverer, 'receive' | 'rebalancing' | 'joined'>;
  readonly ledger: Pick<Ledger, 'refresh'>;
}

/** Joins the group, and passes its records and rebalances to the deliverer. */
export function consumeDeliveries(
  kafka: Kafka,
  { groupId, topics, names, policy, commitsLateAfterMs, lanes, deliverer, ledger }: DeliveryGroup,
): Promise<Consumption> {
  return kafka.consume({
    groupId,
    topics,
    commitsLateAfterMs,
    coPartitioned: true,
    limits: partitionLimits(names),
    delayMs: (topic) => names.retryTierDelayMs(topic),
    idleTopics: idleTopics(names, topics, policy),
    // The deliveries that earlier owners have recalled must be known before the retry topics are read.
    prepare: () => ledger.refresh(),
    onRebalance: (rebalancing) => {
      if (rebalancing) deliverer.rebalancing();
      else deliverer.joined();
    },
    onHold: (held) => {
      if (held) lanes.pause();
      else lanes.resume();
    },
    onRecord: (record) => {
      deliverer.receive(record);
    },
  });
}

/**
 * Returns how much unfinished work of one partition is held in memory. Most records of a retry topic are not due yet, so
 * it needs only as many as are due while the next fetch is in flight.
 */
function partitionLimits(names: TopicNames): (topic: string) => PartitionLimits {
  // Lanes pause reading long before this limit, which bounds the records that wait for an acknowledgement from Kafka.
  const live: PartitionLimits = { records: 4_000, bytes: 4 * 2 ** 20 };
  const tier: PartitionLimits = { records: 500, bytes: 2 ** 20 };
  return (topic) => (names.retryTierDelayMs(topic) === undefined ? live : tier);
}

/**
 * Returns all topics but `deliveries`, and how often they are fetched while they are idle. No record of a retry topic is
 * due before most of its delay is over, so a few times a second, and a few times in the shortest delay, are enough.
 */
function idleTopics(
  names: TopicNames,
  topics: readonly string[],
  { scheduleMs }: RetryPolicy,
): { topics: string[]; everyMs: number } {
  return {
    topics: topics.filter((topic) => topic !== names.deliveries),
    everyMs: Math.min(250, ...scheduleMs.map((delayMs) => delayMs / 5)),
  };
}

const shareMs = 1_000;

/**
 * Returns the part of a topic's partitions that this replica owns, from 0 to 1. It is computed once a second, and not for
 * each delivery.
 *
 * @param partitions the number of partitions of the topic
 */
export function ownedShare(
  owned: () => Consumption['partitions'],
  topic: string,
  partitions: () => number,
): () => number {
  let share = 0;
  let asOf = -Infinity;
  return () => {
    const now = performance.now();
    if (share === 0 || now - asOf > shareMs) {
      share = owned().filter((partition) => partition.topic === topic).length / partitions();
      asOf = now;
    }
    return share;
  };
}
