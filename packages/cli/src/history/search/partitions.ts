/** In which partitions the records of a user's event are expected. */
import { readConfiguration } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import type { Kafka } from '@tailrace/kafka';
import { deliveryKey } from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';
import type { SecretKeys } from '../../settings.ts';

/** What is known of an event before the topics are searched. */
export interface KnownEvent {
  readonly user: string;
  /** The ids of all destinations. Undefined if the configuration cannot be read. */
  readonly destinations: readonly string[] | undefined;
}

/** Above this number all partitions are read anyway. */
const mostKeys = 2_000;

/** Undefined if the configuration cannot be read; then the keys of deliveries are not known. */
export async function knownDestinations(
  kafka: Kafka,
  names: TopicNames,
  secretKeys: SecretKeys,
): Promise<readonly string[] | undefined> {
  try {
    const { destinations } = await readConfiguration(kafka, names.config, secretKeys);
    return destinations.map(({ id }) => id);
  } catch (error) {
    if (isTailraceError(error)) return undefined;
    throw error;
  }
}

/** Undefined for all partitions of the topic. */
export async function expectedPartitions(
  kafka: Kafka,
  names: TopicNames,
  topic: string,
  known: KnownEvent,
): Promise<ReadonlySet<number> | undefined> {
  const keys = keysIn(names, topic, known);
  if (keys === undefined || keys.length > mostKeys) return undefined;
  const { partitionOf } = await kafka.partitioner(topic);
  return new Set(keys.map(partitionOf));
}

function keysIn(
  names: TopicNames,
  topic: string,
  { user, destinations }: KnownEvent,
): readonly string[] | undefined {
  if (topic === names.events || topic === names.eventsWaiting || topic === names.decisions) return [user];
  // Rejected records have the key that was received, if any, and records of attempts have none.
  if (topic === names.eventsRejected || topic === names.attempts) return undefined;
  return destinations?.map((id) => deliveryKey(id, user));
}
