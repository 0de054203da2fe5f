/** Reads the whole configuration once, with its secrets. */
import type { Kafka } from '@tailrace/kafka';
import type { Notification } from '../rules/notification/schema.ts';
import type { Configuration } from '../rules/schema.ts';
import type { SecretKeys } from '../secrets/encryption.ts';
import { createState } from '../topic/state.ts';
import { checkTopicExists, followState, lockedError } from '../topic/view.ts';

export interface StoredConfiguration extends Configuration {
  readonly notifications: readonly Notification[];
  /** The keys of the records that cannot be read, with the reason. */
  readonly unreadable: ReadonlyMap<string, string>;
}

/**
 * @throws TailraceError `topic-missing`, `kafka-unavailable`, `kafka-refused-credentials`; `secret-locked` if the keys do not
 *   decrypt every secret
 */
export async function readConfiguration(
  kafka: Pick<Kafka, 'follow' | 'listTopics'>,
  topic: string,
  secretKeys: SecretKeys,
): Promise<StoredConfiguration> {
  await checkTopicExists(kafka, topic);
  const state = createState(secretKeys);
  const view = await followState(kafka, topic, { state, log: { warn: () => undefined } });
  await view.close();
  if (state.locked.size > 0) throw lockedError(state);
  const { lookup, unreadable } = state;
  return {
    sources: lookup.sources(),
    destinations: lookup.destinations(),
    notifications: lookup.notifications(),
    unreadable,
  };
}
