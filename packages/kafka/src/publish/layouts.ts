/**
 * How many partitions a topic has and which broker leads each, as Kafka said last. Partitions are added to topics that
 * are in use, and leaders move, so what is known is renewed now and then, and whenever something failed.
 */
import type { Admin } from 'kafkajs';

export interface TopicLayout {
  /** By partition, the id of the broker that leads it; -1 while none does. */
  readonly leaders: readonly number[];
}

export interface TopicLayouts {
  /** What is known; undefined where the topic was never seen. Never waits. */
  known(topic: string): TopicLayout | undefined;
  /**
   * Asks Kafka. Calls for one topic that come meanwhile share the answer.
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
  const asking = new Map<string, Promise<TopicLayout>>();

  const ask = async (topic: string): Promise<TopicLayout> => {
    const { topics } = await administer((admin) => admin.fetchTopicMetadata({ topics: [topic] }));
    const leaders: number[] = [];
    for (const { partitionId, leader } of topics[0]?.partitions ?? []) leaders[partitionId] = leader;
    const layout = { leaders: Array.from(leaders, (leader: number | undefined) => leader ?? -1) };
    found.set(topic, { layout, at: performance.now() });
    return layout;
  };

  const renew = (topic: string): Promise<TopicLayout> => {
    const running = asking.get(topic) ?? ask(topic).finally(() => asking.delete(topic));
    asking.set(topic, running);
    return running;
  };

  return {
    known(topic) {
      const entry = found.get(topic);
      // What was known serves until the answer is there, and also where there is none.
      if (entry && performance.now() - entry.at > renewAfterMs) {
        found.set(topic, { ...entry, at: performance.now() });
        renew(topic).catch(() => undefined);
      }
      return entry?.layout;
    },
    renew,
  };
}
