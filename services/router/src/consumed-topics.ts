/** The topics that the router reads, and how far it reads ahead in each of them. */
import { TailraceError } from '@tailrace/errors';
import type { Consumption, Kafka, PartitionLimits } from '@tailrace/kafka';
import { requireTopics, type TopicNames } from '@tailrace/topology';

/**
 * `events` and `events.waiting`, which must have at least as many partitions.
 *
 * @throws TailraceError `topic-missing` if one of them, or one that the router writes, does not exist
 */
export async function topicsToConsume(
  kafka: Pick<Kafka, 'listTopics' | 'partitioner'>,
  {
    events,
    eventsWaiting,
    eventsRejected,
    deliveries,
    decisions,
    suppressions,
    config,
  }: Pick<
    TopicNames,
    'events' | 'eventsWaiting' | 'eventsRejected' | 'deliveries' | 'decisions' | 'suppressions' | 'config'
  >,
): Promise<string[]> {
  const topics = [events, eventsWaiting];
  const existing = await kafka.listTopics();
  requireTopics(existing, [...topics, deliveries, decisions, eventsRejected, suppressions, config]);
  const [eventsPartitions = 0, waitingPartitions = 0] = await Promise.all(
    topics.map(async (topic) => (await kafka.partitioner(topic)).partitions),
  );
  if (waitingPartitions < eventsPartitions) {
    throw new TailraceError(
      'topic-missing',
      `${events} has ${eventsPartitions} partitions and ${eventsWaiting} has ${waitingPartitions}. ` +
        `Give ${eventsWaiting} as many, with kafka-topics.sh --alter --partitions ${eventsPartitions}.`,
    );
  }
  return topics;
}

/**
 * Unfinished records of `events` wait for the turn of their source, for Kafka, or up to a second for the configuration or a schema.
 * Those of all partitions that wait for a turn have a limit too (receive/source-turns.ts).
 * The gaps are between records of a source with many destinations, which waits longer than the others.
 */
const eventsLimits: PartitionLimits = { records: 10_000, bytes: 8 * 2 ** 20, gaps: 900 };
/** An unfinished record of `events.waiting` takes about 330 bytes, without its content. More of them stay unread in Kafka. */
const waitingLimits: PartitionLimits = { records: 20_000, bytes: Infinity };

export function partitionLimits({ eventsWaiting }: Pick<TopicNames, 'eventsWaiting'>) {
  return (topic: string): PartitionLimits => (topic === eventsWaiting ? waitingLimits : eventsLimits);
}

/** `events.waiting` seldom has new records, so it is polled less often. */
export function idleTopics({ eventsWaiting }: Pick<TopicNames, 'eventsWaiting'>) {
  return { topics: [eventsWaiting], everyMs: 250 };
}

const pollMs = 20;

/** Resolves when no record of `events` is unfinished and none of `events.waiting` is in flight, or after `timeoutMs`. */
export async function untilRouted(
  consumption: Pick<Consumption, 'partitions'>,
  events: string,
  inFlight: () => number,
  timeoutMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  const isRouted = (): boolean =>
    inFlight() === 0 &&
    consumption.partitions.every(({ topic, uncommitted }) => topic !== events || uncommitted === 0);
  while (!isRouted() && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
