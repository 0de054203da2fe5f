/** The suppressed and the deleted users, live, in bounded memory and without their ids. Every service that needs them follows the topic. */
import type { Kafka, KafkaLog } from '@tailrace/kafka';
import type { RecordPosition } from '@tailrace/records';
import { KeyNumbers } from './key-numbers.ts';
import {
  allSources,
  decodeSuppression,
  deletedBefore,
  deletedUntil,
  maxSuppressions,
  type DeletedUser,
  type SuppressionRecord,
} from './record.ts';

export interface SuppressedUsers {
  /** Whether the calls of the user are refused. */
  isSuppressed(userId: string): boolean;
}

/** The latest deletion of a user in all sources, or in one. */
export interface Deletion {
  /** By the clock of control, in milliseconds since the epoch. */
  readonly at: number;
  /** See `before` of the record. */
  readonly before: RecordPosition | undefined;
}

export interface DeletedUsers {
  /** How many deletions there are, so that nothing has to be computed for a delivery while there are none. */
  readonly deletions: number;
  /** The deletion in all sources, the one in this source, or both. */
  deletionsOf(sourceId: string, userId: string): readonly Deletion[];
  /** When the user was deleted last, in milliseconds since the epoch. Undefined for a user who was not deleted. */
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
  const suppressed = new KeyNumbers();
  /** When, and the partition and the offset of the place, where there is one. */
  const deleted = new KeyNumbers(3);
  let isFull = false;

  const put = (table: KeyNumbers, key: string, numbers: readonly number[] | undefined): void => {
    if (numbers === undefined) table.delete(key);
    else if (suppressed.size + deleted.size < mostKept || table.has(key)) table.set(key, ...numbers);
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
        put(suppressed, record.userId, record.entry && [Date.parse(record.entry.since)]);
      } else {
        put(deleted, `${record.scope}/${record.userId}`, record.entry && numbersOf(record.entry));
      }
      onRecord?.(record);
    },
  });

  const deletionsOf = (sourceId: string, userId: string): readonly Deletion[] => {
    if (deleted.size === 0) return [];
    return [allSources, sourceId].flatMap((scope) => {
      const numbers = deleted.get(`${scope}/${userId}`);
      return numbers ? [deletionOf(numbers)] : [];
    });
  };

  return {
    get size() {
      return suppressed.size + deleted.size;
    },
    get deletions() {
      return deleted.size;
    },
    isSuppressed: (userId) => suppressed.has(userId),
    deletionsOf,
    deletedUntil(sourceId, userId) {
      const found = deletionsOf(sourceId, userId);
      return found.length > 0 ? Math.max(...found.map(({ at }) => at)) : undefined;
    },
    refresh: () => follower.refresh(),
    close: () => follower.close(),
  };
}

function numbersOf(entry: DeletedUser): number[] {
  const { partition = NaN, offset = NaN } = deletedBefore(entry) ?? {};
  return [deletedUntil(entry), partition, offset];
}

function deletionOf([at = NaN, partition = NaN, offset = NaN]: readonly number[]): Deletion {
  return { at, before: Number.isNaN(partition) ? undefined : { partition, offset } };
}
