/**
 * The configuration, live, and the only way to change it. A change is decided on everything the topic holds, written by the
 * one process that may write just then, and read back before it counts:
 *
 * Whoever opens the topic's exclusive publisher shuts out all others; what it then reads is the last word, and what it
 * decides on that is written only if nobody has shut it out meanwhile. Otherwise it begins anew. So of two changes at the
 * same moment, anywhere, the second is decided on what the first has written.
 *
 * Each change has an id, in a header of its records. After a failure nobody knows whether it was written; once the
 * publisher has been opened again that is decided, and the id says how.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { ConsumedRecord, ExclusivePublisher, Kafka, KafkaLog } from '@tailrace/kafka';
import { encodeEntry, entryKey, type Entry, type EntryKind } from './record.ts';
import type { SecretKeys } from './seal.ts';
import { hasSecrets } from './secrets.ts';
import { createState, type ConfigLookup } from './state.ts';
import { followState, lockedError, type ConfigView } from './view.ts';

/** What the topic holds at the moment of a decision. */
export interface ConfigSnapshot extends ConfigLookup {
  /** Whether the entry's last record could not be read, so that the topic needs it anew. */
  isUnreadable(kind: EntryKind, id: string): boolean;
  /** Whether it has secrets that are not sealed with the current key. */
  isStale(kind: EntryKind, id: string): boolean;
}

export interface Decision<Result> {
  /** Written together, or none of them; nothing is written where there are none. */
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
   * Calls `decide` with all there is, and writes what it decides; resolves once that is in the topic and in force here.
   * `decide` may be called several times, and what it throws ends the change.
   *
   * @throws TailraceError `kafka-unavailable`, where the message says whether it may have been written;
   *   `secret-key-missing`, `secret-locked`, `record-too-large`
   */
  change<Result>(decide: (current: ConfigSnapshot) => Decision<Result>): Promise<Changed<Result>>;
}

export interface EditorOptions {
  readonly secretKeys: SecretKeys;
  /**
   * What becomes of secrets where there is no key: `refuse` them, or `write` them as they are.
   */
  readonly withoutKey: 'refuse' | 'write';
  /**
   * What becomes of a change where Kafka has no transactions, which shut others out: `refuse` it, or `write` it all the same,
   * so that of two changes at the same moment one may be lost. Default `refuse`.
   */
  readonly withoutTransactions?: 'refuse' | 'write';
  /** Whether entries may be written anew whose secrets the keys do not open. Otherwise they must all open. */
  readonly mayReplaceLocked?: boolean;
}

const changeHeader = 'change-id';
const giveUpAfterMs = 15_000;
/** The coordinator of a new cluster takes a moment; then there is none. */
const transactionsWithinMs = 5_000;
/** Two that shut each other out at the same pace would go on doing so. */
const mostPauseMs = 400;

interface Attempt {
  readonly id: string;
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
  /** What was written, or may have been. */
  const doubt: { attempt?: Attempt | undefined } = {};
  const isInDoubt = (): boolean => doubt.attempt !== undefined;
  const onRecord = ({ headers, key, offset }: ConsumedRecord): void => {
    const { attempt } = doubt;
    if (attempt && headers[changeHeader]?.toString() === attempt.id) {
      attempt.versions.set(key?.toString() ?? '', offset);
    }
  };
  const view = await followState(kafka, topic, log, state, onRecord);
  if (state.locked.size > 0 && !(mayReplaceLocked && secretKeys.current)) {
    await view.close();
    throw lockedError(state);
  }

  let publisher: ExclusivePublisher | undefined;
  const letGo = async (): Promise<void> => {
    await publisher?.close();
    publisher = undefined;
  };

  const write = async (writes: readonly Entry[], id: string): Promise<void> => {
    const records = writes.map((entry) => ({
      ...encodeEntry(topic, entry, secretKeys.current),
      partition: 0,
      headers: { [changeHeader]: id },
    }));
    try {
      await publisher?.publish(records);
    } catch (error) {
      await letGo();
      throw error;
    }
  };

  const refuseLocked = (writes: readonly Entry[]): void => {
    if (mayReplaceLocked) return;
    const locked = writes.flatMap(({ kind, id }) => {
      const why = state.locked.get(entryKey(kind, id));
      return why === undefined ? [] : [[entryKey(kind, id), why] as const];
    });
    if (locked.length > 0) throw lockedError({ locked: new Map(locked) });
  };

  const attempt = async <Result>(
    decide: (current: ConfigSnapshot) => Decision<Result>,
  ): Promise<Changed<Result>> => {
    publisher ??= await kafka.exclusivePublisher(topic);
    await view.refresh();
    const before = doubt.attempt;
    if (before && before.versions.size > 0) return changed<Result>(before);
    const { writes, result } = decide(snapshot);
    const begun: Attempt = { id: randomUUID(), versions: new Map(), result };
    doubt.attempt = undefined;
    if (writes.length === 0) return changed<Result>(begun);
    refuseLocked(writes);
    if (withoutKey === 'refuse' && !secretKeys.current && writes.some(holdsSecrets)) {
      throw new TailraceError('secret-key-missing');
    }
    doubt.attempt = begun;
    await write(writes, begun.id);
    await view.refresh();
    if (begun.versions.size > 0) return changed<Result>(begun);
    throw new TailraceError('kafka-unavailable', 'What was written could not be read back in time.');
  };

  const change: ConfigEditor['change'] = async (decide) => {
    const deadline = performance.now() + giveUpAfterMs;
    doubt.attempt = undefined;
    for (;;) {
      try {
        return await attempt(decide);
      } catch (error) {
        if (isTailraceError(error, 'transactions-unavailable')) {
          if (performance.now() > deadline - giveUpAfterMs + transactionsWithinMs) {
            if (withoutTransactions === 'refuse') throw error;
            log.warn(
              { topic },
              `${error.message} Until then, of two changes at the same moment one may be lost.`,
            );
            publisher = plainPublisher(kafka);
          }
        } else {
          const isPassing =
            isTailraceError(error, 'superseded') || isTailraceError(error, 'kafka-unavailable');
          if (!isPassing) throw error;
          await letGo();
          if (performance.now() > deadline) throw gaveUp(error, isInDoubt());
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
      await letGo();
      await view.close();
    },
  };
}

function changed<Result>({ result, versions }: Attempt): Changed<Result> {
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

function holdsSecrets({ kind, entry }: Entry): boolean {
  return kind === 'destination' && entry !== null && hasSecrets(entry);
}

function gaveUp(cause: TailraceError, inDoubt: boolean): TailraceError {
  const doubt = inDoubt
    ? 'it is not known whether the change was written; look at it before you send it again'
    : 'nothing was changed';
  return new TailraceError('kafka-unavailable', `Kafka did not take the change in time, and ${doubt}.`, {
    cause,
  });
}
