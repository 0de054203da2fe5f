/** The configuration as it is now, in memory, for every service: the compacted topic, followed live. */
import { TailraceError } from '@tailrace/errors';
import type { ConsumedRecord, Kafka, KafkaLog } from '@tailrace/kafka';
import { coalesce } from './coalesce.ts';
import type { SecretKeys } from './seal.ts';
import { createState, type ConfigChange, type ConfigLookup, type ConfigState } from './state.ts';

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

export interface ConfigOptions {
  /**
   * What opens sealed secrets. Absent for who has no use for them: what is sealed then has a stand-in in its place, and
   * what is sealed with any key can be read.
   */
  readonly secretKeys?: SecretKeys | undefined;
}

/**
 * Resolves once the topic is read to its end. Waits for a topic that is missing.
 *
 * @throws TailraceError `kafka-unavailable`, `kafka-refused-credentials`; `secret-locked` where `secretKeys` do not
 *   open every secret
 */
export async function openConfig(
  kafka: Pick<Kafka, 'follow'>,
  topic: string,
  log: Pick<KafkaLog, 'warn'>,
  { secretKeys }: ConfigOptions = {},
): Promise<ConfigView> {
  const state = createState(secretKeys);
  const view = await followState(kafka, topic, log, state);
  if (state.locked.size === 0) return view;
  await view.close();
  throw lockedError(state);
}

/** `state`, kept up to date. `onRecord` is told of each record once it is in force. */
export async function followState(
  kafka: Pick<Kafka, 'follow'>,
  topic: string,
  log: Pick<KafkaLog, 'warn'>,
  state: ConfigState,
  onRecord: (record: ConsumedRecord) => void = () => undefined,
): Promise<ConfigView> {
  const listeners = new Set<(change: ConfigChange) => void>();

  const follower = await kafka.follow({
    topic,
    onRecord(record) {
      const accepted = state.accept(record);
      onRecord(record);
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

/**
 * To go on without what is locked would be to take a destination for deleted, and its deliveries for dead letters; so
 * whoever needs secrets waits for the right key.
 */
export function lockedError({ locked }: Pick<ConfigState, 'locked'>): TailraceError {
  const entries = [...locked].map(([key, why]) => `${key}: ${why}.`);
  const hint =
    'Give the key as TAILRACE_SECRET_KEY or TAILRACE_SECRET_KEY_PREVIOUS, or apply the entry anew.';
  return new TailraceError('secret-locked', [...entries, hint].join('\n'));
}
