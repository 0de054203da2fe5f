/** The current configuration in memory: every service follows the compacted topic. */
import { TailraceError } from '@tailrace/errors';
import type { ConsumedRecord, Kafka, KafkaLog } from '@tailrace/kafka';
import { singleFlight } from './single-flight.ts';
import { newerReleaseNeeded, unmetBy, type Reader } from '../rules/level.ts';
import type { SecretKeys } from '../secrets/encryption.ts';
import { createState, type ConfigChange, type ConfigLookup, type ConfigState } from './state.ts';

export interface ConfigView extends ConfigLookup {
  /** Whether updates arrive: false while Kafka is unavailable. The last known configuration stays in force. */
  readonly healthy: boolean;
  /** Milliseconds since the configuration was last known to be current. */
  readonly ageMs: number;
  /**
   * Resolves once everything that the topic contained at the call is in force. Concurrent calls share reads, so that
   * many events of one unknown source cost two reads at most.
   *
   * @throws TailraceError `kafka-unavailable`
   */
  refresh(): Promise<void>;
  /**
   * `config-needs-newer-release` while enabled destinations use features that this release does not have and the reader would do
   * harm without. For delivery, `openConfig` shows these destinations as paused. `other-owner` since another installation has
   * taken the topics.
   */
  unmet(by: Reader): TailraceError | undefined;
  /**
   * Calls `listener`, which must not throw, after each later change. Returns a function that removes the listener.
   */
  onChange(listener: (change: ConfigChange) => void): () => void;
  close(): Promise<void>;
}

export interface ConfigOptions {
  /**
   * The keys that decrypt secrets. Without them, placeholders replace encrypted secrets, and every entry can be read.
   */
  readonly secretKeys?: SecretKeys | undefined;
  /** TAILRACE_OWNER: the topics may not belong to another one. */
  readonly owner?: string | undefined;
}

/**
 * Resolves once the topic is read to its end. Waits for a missing topic.
 *
 * @throws TailraceError `kafka-unavailable`, `kafka-refused-credentials`, `other-owner`; `secret-locked` if `secretKeys` do not
 *   decrypt every secret
 */
export async function openConfig(
  kafka: Pick<Kafka, 'follow'>,
  topic: string,
  log: Pick<KafkaLog, 'warn'>,
  { secretKeys, owner }: ConfigOptions = {},
): Promise<ConfigView> {
  const state = createState(secretKeys, { holds: true, owner });
  const view = await followState(kafka, topic, { state, log });
  if (!state.ownedByOther && state.locked.size === 0) return view;
  await view.close();
  throw state.ownedByOther ?? lockedError(state);
}

/** @throws TailraceError `config-needs-newer-release`, `other-owner`, see {@link ConfigView.unmet} */
export function checkLevel(config: Pick<ConfigView, 'unmet'>, by: Reader): Promise<void> {
  const unmet = config.unmet(by);
  return unmet ? Promise.reject(unmet) : Promise.resolve();
}

/**
 * For commands: following a missing topic would wait for it.
 *
 * @throws TailraceError `topic-missing`
 */
export async function checkTopicExists(kafka: Pick<Kafka, 'listTopics'>, topic: string): Promise<void> {
  if ((await kafka.listTopics()).includes(topic)) return;
  throw new TailraceError(
    'topic-missing',
    `The topic ${topic} does not exist. Create the topics with \`npx tailrace topics apply\`.`,
  );
}

interface Following {
  readonly state: ConfigState;
  readonly log: Pick<KafkaLog, 'warn'>;
  /** Called with each record once it is in force. */
  readonly onRecord?: (record: ConsumedRecord) => void;
}

/** A view of `state`, kept up to date. */
export async function followState(
  kafka: Pick<Kafka, 'follow'>,
  topic: string,
  { state, log, onRecord }: Following,
): Promise<ConfigView> {
  const listeners = new Set<(change: ConfigChange) => void>();

  const follower = await kafka.follow({
    topic,
    onRecord(record) {
      const accepted = state.accept(record);
      onRecord?.(record);
      if (accepted.outcome === 'unreadable') {
        const { key, problem } = accepted;
        const { offset } = record;
        log.warn(
          { topic, key, offset, problem },
          'unreadable configuration record, keeping the previous entry',
        );
        return;
      }
      if (accepted.outcome === 'about-all') return;
      const { kind, id } = accepted;
      const requires = kind === 'destination' ? unmetBy(state.lookup.destination(id)) : [];
      if (requires.length > 0) log.warn({ destinationId: id, requires }, 'destination needs a newer release');
      for (const listener of listeners) listener({ kind, id });
    },
  });

  return {
    ...state.lookup,
    get healthy() {
      return follower.healthy;
    },
    get ageMs() {
      return follower.ageMs;
    },
    unmet: (by) => state.ownedByOther ?? newerReleaseNeeded(state.unmet(by)),
    refresh: singleFlight(() => follower.refresh()),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => follower.close(),
  };
}

/**
 * A service that needs secrets does not start without the right key: it would treat destinations that it cannot read as
 * deleted, and write their deliveries to the dead letters.
 */
export function lockedError({ locked }: Pick<ConfigState, 'locked'>): TailraceError {
  const entries = [...locked].map(([key, why]) => `${key}: ${why}.`);
  const hint =
    'Set TAILRACE_SECRET_KEY or TAILRACE_SECRET_KEY_PREVIOUS to the key, or apply the entry again.';
  return new TailraceError('secret-locked', [...entries, hint].join('\n'));
}
