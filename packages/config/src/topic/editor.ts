/**
 * Changes to the configuration. One process at a time can write: opening the topic's exclusive publisher fences all
 * other writers. A change is load, decide, check, write, read back; it starts again if another writer fenced it.
 * So of two concurrent changes, the second is always decided on the result of the first.
 *
 * Each change has an id in a header of its records. After a failed write it is unknown whether the records are in the
 * topic. Opening the publisher again settles this, and the id shows the result.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { ConsumedRecord, ExclusivePublisher, Kafka, KafkaLog } from '@tailrace/kafka';
import { encodeEntry, entryKey, type Entry, type EntryKind } from './record.ts';
import type { SecretKeys } from '../secrets/encryption.ts';
import { hasSecrets } from '../secrets/secrets.ts';
import { createState, type ConfigLookup } from './state.ts';
import { followState, lockedError, type ConfigView } from './view.ts';

/** The configuration at the time of a decision. */
export interface ConfigSnapshot extends ConfigLookup {
  /** Whether the entry's last record could not be read, so that the entry must be written again. */
  isUnreadable(kind: EntryKind, id: string): boolean;
  /** Whether the entry has secrets that are not encrypted with the current key. */
  isStale(kind: EntryKind, id: string): boolean;
}

export interface Decision<Result> {
  /** Written in one transaction. May be empty. */
  readonly writes: readonly Entry[];
  readonly result: Result;
}

export interface Changed<Result> {
  readonly result: Result;
  /** The version of an entry that was written. */
  readonly version: (kind: EntryKind, id: string) => number | undefined;
}

export interface ConfigEditor extends ConfigView, ConfigSnapshot {
  /**
   * Calls `decide` with the current configuration and writes its decision. Resolves once the writes are in the topic and
   * in force here. `decide` may be called several times; an error that it throws ends the change.
   *
   * @throws TailraceError `kafka-unavailable`, whose message says whether the change may have been written;
   *   `secret-key-missing`, `secret-locked`, `record-too-large`
   */
  change<Result>(decide: (current: ConfigSnapshot) => Decision<Result>): Promise<Changed<Result>>;
}

export interface EditorOptions {
  readonly secretKeys: SecretKeys;
  /** Without a key, `refuse` secrets or `write` them in plain text. */
  readonly withoutKey: 'refuse' | 'write';
  /**
   * If Kafka has no transactions, which fence other writers, `refuse` changes or `write` them without: of two concurrent
   * changes one may then be lost. Default `refuse`.
   */
  readonly withoutTransactions?: 'refuse' | 'write';
  /** Whether to allow writing entries whose secrets the keys do not decrypt. Otherwise the keys must decrypt all. */
  readonly mayReplaceLocked?: boolean;
}

const changeHeader = 'change-id';
const giveUpAfterMs = 15_000;
/** The transaction coordinator of a new cluster may start late; after this time there is none. */
const transactionsWithinMs = 5_000;
/** Random pauses keep two writers from fencing each other forever. */
const mostPauseMs = 400;

/** A change that was written, or may have been. */
interface WrittenChange {
  readonly id: string;
  /** The offsets of its records that have been read back, by key. */
  readonly versions: Map<string, number>;
  readonly result: unknown;
}

/**
 * Resolves once the topic is read to its end.
 *
 * @throws TailraceError `kafka-unavailable`, `kafka-refused-credentials`, `secret-locked`
 */
export async function openConfigEditor(
  kafka: Pick<Kafka, 'follow' | 'exclusivePublisher' | 'publisher'>,
  topic: string,
  log: Pick<KafkaLog, 'warn'>,
  { secretKeys, withoutKey, withoutTransactions = 'refuse', mayReplaceLocked = false }: EditorOptions,
): Promise<ConfigEditor> {
  const state = createState(secretKeys);
  const snapshot: ConfigSnapshot = {
    ...state.lookup,
    isUnreadable: (kind, id) => state.isUnreadable(kind, id),
    isStale: (kind, id) => state.isStale(kind, id),
  };
  let unconfirmed: WrittenChange | undefined;
  const onRecord = ({ headers, key, offset }: ConsumedRecord): void => {
    if (unconfirmed && headers[changeHeader]?.toString() === unconfirmed.id) {
      unconfirmed.versions.set(key?.toString() ?? '', offset);
    }
  };
  const isUnconfirmed = (): boolean => unconfirmed !== undefined;
  const view = await followState(kafka, topic, log, state, onRecord);
  if (state.locked.size > 0 && !(mayReplaceLocked && secretKeys.current)) {
    await view.close();
    throw lockedError(state);
  }

  let publisher: ExclusivePublisher | undefined;
  const closePublisher = async (): Promise<void> => {
    await publisher?.close();
    publisher = undefined;
  };

  const assertWritable = (writes: readonly Entry[]): void => {
    if (!mayReplaceLocked) {
      const locked = writes.flatMap(({ kind, id }) => {
        const why = state.locked.get(entryKey(kind, id));
        return why === undefined ? [] : [[entryKey(kind, id), why] as const];
      });
      if (locked.length > 0) throw lockedError({ locked: new Map(locked) });
    }
    if (withoutKey === 'refuse' && !secretKeys.current && writes.some(containsSecrets)) {
      throw new TailraceError('secret-key-missing');
    }
  };

  const publish = async (writes: readonly Entry[], id: string): Promise<void> => {
    const records = writes.map((entry) => ({
      ...encodeEntry(topic, entry, secretKeys.current),
      partition: 0,
      headers: { [changeHeader]: id },
    }));
    try {
      await publisher?.publish(records);
    } catch (error) {
      await closePublisher();
      throw error;
    }
  };

  const changeOnce = async <Result>(
    decide: (current: ConfigSnapshot) => Decision<Result>,
  ): Promise<Changed<Result>> => {
    publisher ??= await kafka.exclusivePublisher(topic);
    await view.refresh();
    const previous = unconfirmed;
    if (previous && previous.versions.size > 0) return changed<Result>(previous);
    unconfirmed = undefined;

    const { writes, result } = decide(snapshot);
    const written: WrittenChange = { id: randomUUID(), versions: new Map(), result };
    if (writes.length === 0) return changed<Result>(written);
    assertWritable(writes);

    unconfirmed = written;
    await publish(writes, written.id);
    await view.refresh();
    if (written.versions.size > 0) return changed<Result>(written);
    throw new TailraceError('kafka-unavailable', 'The written records could not be read back in time.');
  };

  const change: ConfigEditor['change'] = async (decide) => {
    const beganAt = performance.now();
    const elapsedMs = (): number => performance.now() - beganAt;
    unconfirmed = undefined;
    for (;;) {
      try {
        return await changeOnce(decide);
      } catch (error) {
        if (isTailraceError(error, 'transactions-unavailable')) {
          if (elapsedMs() > transactionsWithinMs) {
            if (withoutTransactions === 'refuse') throw error;
            log.warn({ topic }, `${error.message} Until then, one of two concurrent changes may be lost.`);
            publisher = plainPublisher(kafka);
          }
        } else if (isTailraceError(error, 'superseded') || isTailraceError(error, 'kafka-unavailable')) {
          await closePublisher();
          if (elapsedMs() > giveUpAfterMs) throw gaveUp(error, isUnconfirmed());
        } else {
          throw error;
        }
      }
      await wait(Math.random() * mostPauseMs);
    }
  };

  let last: Promise<unknown> = Promise.resolve();
  return {
    ...view,
    ...snapshot,
    get healthy() {
      return view.healthy;
    },
    change(decide) {
      const mine = last.then(() => change(decide));
      last = mine.catch(() => undefined);
      return mine;
    },
    async close() {
      await last;
      await closePublisher();
      await view.close();
    },
  };
}

function changed<Result>({ result, versions }: WrittenChange): Changed<Result> {
  return { result: result as Result, version: (kind, id) => versions.get(entryKey(kind, id)) };
}

function plainPublisher(kafka: Pick<Kafka, 'publisher'>): ExclusivePublisher {
  const publisher = kafka.publisher({ giveUpAfterMs });
  return {
    publish: async (records) => {
      await Promise.all(records.map((record) => publisher.publish(record)));
    },
    close: () => publisher.close(),
  };
}

function containsSecrets({ kind, entry }: Entry): boolean {
  return kind === 'destination' && entry !== null && hasSecrets(entry);
}

function gaveUp(cause: TailraceError, isUnconfirmed: boolean): TailraceError {
  const consequence = isUnconfirmed
    ? 'it is unknown whether the change was written; read the entry before you send the change again'
    : 'nothing was changed';
  const message = `Kafka did not accept the change in time, and ${consequence}.`;
  return new TailraceError('kafka-unavailable', message, { cause });
}
