/** The suppressed and the deleted users, live, in bounded memory and without their ids. Every service that needs them follows the topic. */
import type { Kafka, KafkaLog } from '@tailrace/kafka';
import { KeyTimes } from './key-times.ts';
import {
  allSources,
  decodeSuppression,
  deletedUntil,
  maxSuppressions,
  type SuppressionRecord,
} from './record.ts';

export interface SuppressedUsers {
  /** Whether the calls of the user are refused. */
  isSuppressed(userId: string): boolean;
}

export interface DeletedUsers {
  /** How many deletions there are, so that nothing has to be computed for a delivery while there are none. */
  readonly deletions: number;
  /**
   * Up to when events of the user from this source are not sent, in milliseconds since the epoch. Undefined for a user who was
   * not deleted.
   */
  deletedUntil(sourceId: string, userId: string): number | undefined;
}

export interface Suppressions extends SuppressedUsers, DeletedUsers {
  /** Suppressed users and deletions. */
  readonly size: number;
  /**
   * Resolves once everything that the topic contained at the call is in force.
   *
   * @throws TailraceError `kafka-unavailable`
   */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface SuppressionsOptions {
  readonly kafka: Pick<Kafka, 'follow'>;
  readonly topic: string;
  readonly log: Pick<KafkaLog, 'warn'>;
  /** Which records to keep; both by default. */
  readonly only?: SuppressionRecord['kind'];
  /** Called with each valid record once it is in force. Must not throw. */
  readonly onRecord?: (record: SuppressionRecord) => void;
}

/** Control accepts `maxSuppressions`; another program that writes to the topic must not fill the memory. */
const mostKept = maxSuppressions * 1.1;

/**
 * Resolves once the topic is read to its end.
 *
 * @throws TailraceError `kafka-unavailable`
 */
export async function openSuppressions(options: SuppressionsOptions): Promise<Suppressions> {
  const { kafka, topic, log, only, onRecord } = options;
  const suppressed = new KeyTimes();
  const deleted = new KeyTimes();
  let isFull = false;

  const put = (times: KeyTimes, key: string, time: number | undefined): void => {
    if (time === undefined) times.delete(key);
    else if (suppressed.size + deleted.size < mostKept || times.get(key) !== undefined) times.set(key, time);
    else if (!isFull) {
      isFull = true;
      log.warn({ topic, users: mostKept }, 'too many suppressed users, further ones ignored');
    }
  };

  const follower = await kafka.follow({
    topic,
    onRecord(consumed) {
      const record = decodeSuppression(consumed);
      if (!record) {
        log.warn({ topic, offset: consumed.offset }, 'unreadable record of suppressed users');
        return;
      }
      if (only !== undefined && record.kind !== only) return;
      if (record.kind === 'suppressed') {
        put(suppressed, record.userId, record.entry && Date.parse(record.entry.since));
      } else {
        put(deleted, `${record.scope}/${record.userId}`, record.entry && deletedUntil(record.entry));
      }
      onRecord?.(record);
    },
  });

  return {
    get size() {
      return suppressed.size + deleted.size;
    },
    get deletions() {
      return deleted.size;
    },
    isSuppressed: (userId) => suppressed.size > 0 && suppressed.get(userId) !== undefined,
    deletedUntil(sourceId, userId) {
      if (deleted.size === 0) return undefined;
      const everywhere = deleted.get(`${allSources}/${userId}`);
      const here = deleted.get(`${sourceId}/${userId}`);
      if (everywhere === undefined || here === undefined) return everywhere ?? here;
      return Math.max(everywhere, here);
    },
    refresh: () => follower.refresh(),
    close: () => follower.close(),
  };
}
