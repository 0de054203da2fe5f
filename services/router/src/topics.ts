/** The topics that the router reads, and how far it reads ahead in each. */
import { TailraceError } from '@tailrace/errors';
import type { Consumption, Kafka, PartitionLimits } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topics';

/**
 * `events`, and where its records wait for their schemas, which must have a partition for each of its partitions.
 *
 * @throws TailraceError `topic-missing`
 */
export async function topicsToConsume(
  kafka: Pick<Kafka, 'listTopics' | 'partitioner'>,
  { events, eventsWaiting }: Pick<TopicNames, 'events' | 'eventsWaiting'>,
): Promise<string[]> {
  const topics = [events, eventsWaiting];
  const existing = await kafka.listTopics();
  const missing = topics.filter((topic) => !existing.includes(topic));
  if (missing.length > 0) {
    throw new TailraceError(
      'topic-missing',
      `These topics do not exist: ${missing.join(', ')}. Create them with \`npx tailrace topics apply\`, ` +
        'with the same TAILRACE_TOPIC_PREFIX as here.',
    );
  }
  const [most = 0, waiting = 0] = await Promise.all(
    topics.map(async (topic) => (await kafka.partitioner(topic)).partitions),
  );
  if (waiting < most) {
    throw new TailraceError(
      'topic-missing',
      `${events} has ${most} partitions and ${eventsWaiting} has ${waiting}. ` +
        `Give ${eventsWaiting} as many, with kafka-topics.sh --alter --partitions ${most}.`,
    );
  }
  return topics;
}

/** What is unfinished of a partition of `events`: it waits for Kafka, or a moment for the configuration or a schema. */
const routing: PartitionLimits = { records: 5_000, bytes: 8 * 2 ** 20 };
/** Of what waits for a schema only the place is kept, some 330 bytes; more than that stays unread in Kafka. */
const waiting: PartitionLimits = { records: 20_000, bytes: Infinity };

export function partitionLimits({ eventsWaiting }: Pick<TopicNames, 'eventsWaiting'>) {
  return (topic: string): PartitionLimits => (topic === eventsWaiting ? waiting : routing);
}

/** It has seldom anything new. */
export function idleTopics({ eventsWaiting }: Pick<TopicNames, 'eventsWaiting'>) {
  return { topics: [eventsWaiting], everyMs: 250 };
}

const lookAgainMs = 20;

/** Resolves when nothing of `events` is unfinished and nothing is on its way from where records wait, or when it is late. */
export async function untilRouted(
  consumption: Pick<Consumption, 'partitions'>,
  events: string,
  inFlight: () => number,
  withinMs: number,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  const isRouted = (): boolean =>
    inFlight() === 0 &&
    consumption.partitions.every(({ topic, uncommitted }) => topic !== events || uncommitted === 0);
  while (!isRouted() && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
}
