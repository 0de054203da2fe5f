/** In which partitions the records of a user's event are expected. */
import { readConfiguration } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import { deliveryId } from '@tailrace/events';
import type { Kafka } from '@tailrace/kafka';
import { deliveryKey, type TopicNames } from '@tailrace/topics';
import type { SecretKeys } from '../../settings.ts';

/** Sources and destinations by id, as they are configured now. */
export interface KnownEntries {
  readonly sources: readonly string[];
  readonly destinations: readonly string[];
}

/** Above this number all partitions are read anyway. */
const mostKeys = 2_000;

/** Undefined if the configuration cannot be read; then the keys of deliveries are not known. */
export async function knownEntries(
  kafka: Kafka,
  names: TopicNames,
  secretKeys: SecretKeys,
): Promise<KnownEntries | undefined> {
  try {
    const { sources, destinations } = await readConfiguration(kafka, names.config, secretKeys);
    return { sources: sources.map(({ id }) => id), destinations: destinations.map(({ id }) => id) };
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
  {
    eventId,
    user,
    entries,
  }: { readonly eventId: string; readonly user: string; readonly entries: KnownEntries | undefined },
): Promise<ReadonlySet<number> | undefined> {
  const keys = keysIn(names, topic, eventId, user, entries);
  if (keys === undefined || keys.length > mostKeys) return undefined;
  const { partitionOf } = await kafka.partitioner(topic);
  return new Set(keys.map(partitionOf));
}

function keysIn(
  names: TopicNames,
  topic: string,
  eventId: string,
  user: string,
  entries: KnownEntries | undefined,
): string[] | undefined {
  if (topic === names.events || topic === names.eventsWaiting || topic === names.decisions) return [user];
  // Rejected records have the key that was received, if any.
  if (topic === names.eventsRejected || entries === undefined) return undefined;
  const { sources, destinations } = entries;
  if (topic !== names.attempts) return destinations.map((id) => deliveryKey(id, user));
  if (sources.length * destinations.length > mostKeys) return undefined;
  return sources.flatMap((sourceId) =>
    destinations.map((destinationId) => deliveryId(sourceId, eventId, destinationId)),
  );
}
