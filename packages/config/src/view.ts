/** The configuration as it is now, in memory, for every service: the compacted topic, followed live. */
import type { Kafka, KafkaLog } from '@tailrace/kafka';
import { coalesce } from './coalesce.ts';
import { createState, type ConfigChange, type ConfigLookup } from './state.ts';

export interface ConfigView extends ConfigLookup {
  /** Whether changes reach it: false while Kafka is away. What it holds stays in force meanwhile. */
  readonly healthy: boolean;
  /**
   * Resolves once everything is in force that the topic held when this was called. Concurrent calls share
   * what can be shared, so that many events of one unknown source cost two reads at most.
   *
   * @throws TailraceError `kafka-unavailable`
   */
  refresh(): Promise<void>;
  /**
   * Calls `listener`, which must not throw, after each change that comes from now on. Returns a function that
   * ends it.
   */
  onChange(listener: (change: ConfigChange) => void): () => void;
  close(): Promise<void>;
}

/**
 * Resolves once the topic is read to its end. Waits for a topic that is missing.
 *
 * @throws TailraceError `kafka-unavailable`, `kafka-refused-credentials`
 */
export async function openConfig(
  kafka: Pick<Kafka, 'follow'>,
  topic: string,
  log: Pick<KafkaLog, 'warn'>,
): Promise<ConfigView> {
  const state = createState();
  const listeners = new Set<(change: ConfigChange) => void>();

  const follower = await kafka.follow({
    topic,
    onRecord(record) {
      const accepted = state.accept(record);
      if (accepted.outcome === 'unreadable') {
        const { key, problem } = accepted;
        const { offset } = record;
        log.warn(
          { topic, key, offset, problem },
          'a record of the configuration cannot be read; its entry stays as it was',
        );
        return;
      }
      const { kind, id } = accepted;
      for (const listener of listeners) listener({ kind, id });
    },
  });

  return {
    ...state.lookup,
    get healthy() {
      return follower.healthy;
    },
    refresh: coalesce(() => follower.refresh()),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => follower.close(),
  };
}
