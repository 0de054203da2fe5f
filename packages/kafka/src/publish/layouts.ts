/**
 * The partitions of each topic and their leaders, as of the last metadata. Partitions are added and leaders move while
 * topics are in use, so a layout is renewed every 15 s and after each failure.
 */
import type { Admin } from '../patches/reading/admin-requests.ts';

export interface TopicLayout {
  /** By partition, the id of the broker that leads it; -1 if none does. */
  readonly leaders: readonly number[];
}

export interface TopicLayouts {
  /** The layout as far as it is known, without waiting; undefined if the topic was never looked up. */
  known(topic: string): TopicLayout | undefined;
  /**
   * Asks Kafka. Concurrent calls for one topic share the answer.
   *
   * @throws TailraceError `topic-missing`, `kafka-unavailable`, `kafka-refused-credentials`
   */
  renew(topic: string): Promise<TopicLayout>;
}

const renewAfterMs = 15_000;

export function createTopicLayouts(
  administer: <T>(work: (admin: Admin) => Promise<T>) => Promise<T>,
): TopicLayouts {
  const found = new Map<string, { readonly layout: TopicLayout; readonly at: number }>();
  const fetching = new Map<string, Promise<TopicLayout>>();

  const fetchLayout = async (topic: string): Promise<TopicLayout> => {
    const { topics } = await administer((admin) => admin.fetchTopicMetadata({ topics: [topic] }));
    const leaders: number[] = [];
    for (const { partitionId, leader } of topics[0]?.partitions ?? []) leaders[partitionId] = leader;
    const layout = { leaders: Array.from(leaders, (leader: number | undefined) => leader ?? -1) };
    found.set(topic, { layout, at: performance.now() });
    return layout;
  };

  const renew = (topic: string): Promise<TopicLayout> => {
    const running = fetching.get(topic) ?? fetchLayout(topic).finally(() => fetching.delete(topic));
    fetching.set(topic, running);
    return running;
  };

  return {
    known(topic) {
      const entry = found.get(topic);
      // The old layout is used until the answer arrives, and if there is none.
      if (entry && performance.now() - entry.at > renewAfterMs) {
        found.set(topic, { ...entry, at: performance.now() });
        renew(topic).catch(() => undefined);
      }
      return entry?.layout;
    },
    renew,
  };
}
