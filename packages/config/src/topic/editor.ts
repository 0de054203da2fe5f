/**
 * Changes to the configuration. One process at a time can write: opening the topic's exclusive publisher fences all
 * other writers. A change is load, decide, check, write, read back; it starts again if another writer fenced it.
 * So of two concurrent changes, the second is always decided on the result of the first.
 *
 * Each change has an id in a header of its records. After a failed write it is unknown whether the records are in the
 * topic. Opening the publisher again settles this, and the id shows the result. Where the change gives up before that, its
 * caller can settle it later by the id of its request, which is in another header.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { ConsumedRecord, ExclusivePublisher, ExclusiveRecord, Kafka, KafkaLog } from '@tailrace/kafka';
import {
  type Entry,
  type EntryKind,
  encodeEntry,
  encodeQueriesSealed,
  entryKey,
  ownerKey,
} from './record.ts';
import { createRequests, requestHeaders } from './requests.ts';
import type { SecretKeys } from '../secrets/encryption.ts';
import { notificationSecretsOf } from '../secrets/notification.ts';
import { addsSecrets, secretsOf, ed25519SecretsOf } from '../secrets/secrets.ts';
import { createState, type ConfigLookup, type ConfigState } from './state.ts';
import { followState, lockedError, type ConfigView } from './view.ts';

/** The configuration at the time of a decision. */
export interface ConfigSnapshot
  extends ConfigLookup, Pick<ConfigState, 'isUnreadable' | 'isStale' | 'queries' | 'unreadable'> {}

export interface Decision<Result> {
  /** Written in one transaction. May be empty. */
  readonly writes: readonly Entry[];
  readonly result: Result;
  /**
   * Whether to seal the queries of URLs from now on; by default as before, and in a configuration that is new. The release before
   * would send the sealed text.
   */
  readonly sealQueries?: boolean | undefined;
  /** Records of other topics that are written with the entries, in the same transaction. */
  readonly also?: readonly ExclusiveRecord[];
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
   *   `secret-key-missing`, `secret-locked`, `record-too-large`, `other-owner`
   */
  change<Result>(decide: (current: ConfigSnapshot) => Decision<Result>): Promise<Changed<Result>>;
  /**
   * Marks topics without an owner with that of the options.
   *
   * @throws TailraceError as {@link change}
   */
  claim(): Promise<void>;
  /**
   * Resolves with the entries (`source/web`) that a request has written; with none if it has written nothing, and will not.
   * Known are the latest 10,000 requests of which the topic still has a record.
   *
   * @throws TailraceError `kafka-unavailable`
   */
  settle(requestId: string): Promise<readonly string[]>;
}

export interface EditorOptions {
  readonly secretKeys: SecretKeys;
  /** Without a key, `refuse` new secrets or `write` them in plain text. */
  readonly withoutKey: 'refuse' | 'write';
  /**
   * If Kafka has no transactions, which fence other writers, `refuse` changes or `write` them without: of two concurrent
   * changes one may then be lost. Default `refuse`.
   */
  readonly withoutTransactions?: 'refuse' | 'write';
  /** Whether to allow writing entries whose secrets the keys do not decrypt. Otherwise the keys must decrypt all. */
  readonly mayReplaceLocked?: boolean;
  /**
   * Called with each entry that a change writes, and the configuration before. Returns records of other topics, which are
   * written in the same transaction, such as the entry of the audit log. An error that it throws ends the change.
   */
  readonly beforeWrite?: BeforeWrite | undefined;
  /** The request that the change belongs to, if it can be sent again. Called in the context of `change`. */
  readonly requestId?: (() => string | undefined) | undefined;
  /** Default 15 s. */
  readonly giveUpAfterMs?: number | undefined;
  /** TAILRACE_OWNER: each change marks topics without an owner with it. */
  readonly owner?: string | undefined;
}

export type BeforeWrite = (write: Entry, current: ConfigSnapshot) => readonly ExclusiveRecord[];

const nothing = (): Decision<undefined> => ({ writes: [], result: undefined });

const changeHeader = 'change-id';
const mostWaitMs = 15_000;
/**
 * After this time a cluster without Kafka's topic for transactions has no coordinator. Where the topic exists, the coordinator
 * of a new or busy cluster is late.
 */
const transactionsWithinMs = 5_000;
const transactionsTopic = '__transaction_state';
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
 * @throws TailraceError `kafka-unavailable`, `kafka-refused-credentials`, `secret-locked`, `other-owner`
 */
export async function openConfigEditor(
  kafka: Pick<Kafka, 'follow' | 'listTopics' | 'exclusivePublisher' | 'publisher'>,
  topic: string,
  log: Pick<KafkaLog, 'warn'>,
  {
    secretKeys,
    withoutKey,
    withoutTransactions = 'refuse',
    mayReplaceLocked = false,
    beforeWrite,
    requestId = () => undefined,
    giveUpAfterMs = mostWaitMs,
    owner,
  }: EditorOptions,
): Promise<ConfigEditor> {
  const state = createState(secretKeys, { owner });
  const { isUnreadable, isStale, queries, unreadable } = state;
  const snapshot: ConfigSnapshot = { ...state.lookup, isUnreadable, isStale, queries, unreadable };
  let unconfirmed: WrittenChange | undefined;
  const requests = createRequests();
  const onRecord = ({ headers, key, offset }: ConsumedRecord): void => {
    requests.accept(headers, key);
    if (unconfirmed && headers[changeHeader]?.toString() === unconfirmed.id) {
      unconfirmed.versions.set(key?.toString() ?? '', offset);
    }
  };
  const isUnconfirmed = (): boolean => unconfirmed !== undefined;
  const view = await followState(kafka, topic, { state, log, onRecord });
  if (state.ownedByOther || (state.locked.size > 0 && !(mayReplaceLocked && secretKeys.current))) {
    await view.close();
    throw state.ownedByOther ?? lockedError(state);
  }

  let publisher: ExclusivePublisher | undefined;
  const closePublisher = async (): Promise<void> => {
    await publisher?.close();
    publisher = undefined;
  };

  /** Secrets that are stored in plain text may stay so: a destination with one can still be paused and disabled. */
  const hasNewSecrets = ({ kind, id, entry }: Entry): boolean => {
    if (kind !== 'destination' && kind !== 'notification') return false;
    const secretsIn = kind === 'destination' ? secretsOf : notificationSecretsOf;
    return addsSecrets(entry, state.lookup[kind](id), secretsIn);
  };

  /** These are never stored in plain text: nobody has given them, so nobody accepts the risk. */
  const hasNewSigningKey = ({ kind, id, entry }: Entry): boolean =>
    kind === 'destination' && addsSecrets(entry, state.lookup.destination(id), ed25519SecretsOf);

  const assertWritable = ({ writes, sealQueries = false }: Decision<unknown>): void => {
    if (!mayReplaceLocked) {
      const locked = writes.flatMap(({ kind, id }) => {
        const why = state.locked.get(entryKey(kind, id));
        return why === undefined ? [] : [[entryKey(kind, id), why] as const];
      });
      if (locked.length > 0) throw lockedError({ locked: new Map(locked) });
    }
    const mayNotBePlain = withoutKey === 'refuse' ? hasNewSecrets : hasNewSigningKey;
    const needsKey = sealQueries || writes.some(mayNotBePlain);
    if (needsKey && !secretKeys.current) throw new TailraceError('secret-key-missing');
  };

  /** A process without a key can neither seal nor decide that the others do. */
  const sealsFrom = (asked: boolean | undefined): boolean =>
    asked ?? (state.areQueriesSealed || (state.sealsQueries && secretKeys.current !== undefined));

  const publish = async (
    { writes, sealQueries: asked }: Decision<unknown>,
    others: readonly ExclusiveRecord[],
    id: string,
  ): Promise<void> => {
    const seals = sealsFrom(asked);
    const entries = writes.map((entry) => ({
      ...encodeEntry(topic, entry, secretKeys.current, seals),
      partition: 0,
      headers: { [changeHeader]: id, ...requestHeaders(requestId()) },
    }));
    const mark = { topic, partition: 0, headers: { [changeHeader]: id } };
    try {
      await publisher?.publish([
        ...(state.isUnowned ? [{ ...mark, key: ownerKey, value: owner ?? null }] : []),
        ...(seals === state.areQueriesSealed ? [] : [{ ...encodeQueriesSealed(topic, seals), ...mark }]),
        ...entries,
        ...others,
      ]);
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
    if (state.ownedByOther) throw state.ownedByOther;

    const decision = decide(snapshot);
    const { writes, result } = decision;
    const written: WrittenChange = { id: randomUUID(), versions: new Map(), result };
    const { sealQueries = state.areQueriesSealed } = decision;
    if (writes.length === 0 && sealQueries === state.areQueriesSealed && !state.isUnowned)
      return changed<Result>(written);
    assertWritable(decision);
    const audited = writes.flatMap((write) => beforeWrite?.(write, snapshot) ?? []);

    unconfirmed = written;
    await publish(decision, [...audited, ...(decision.also ?? [])], written.id);
    await view.refresh();
    if (written.versions.size > 0) return changed<Result>(written);
    throw new TailraceError('kafka-unavailable', 'The written records could not be read back in time.');
  };

  const hasTransactions = (): Promise<boolean> =>
    kafka.listTopics().then(
      (topics) => topics.includes(transactionsTopic),
      () => false,
    );

  const change: ConfigEditor['change'] = async (decide) => {
    const beganAt = performance.now();
    const elapsedMs = (): number => performance.now() - beganAt;
    unconfirmed = undefined;
    /** Another writer has probably fenced a publisher of an earlier change: no reason for a pause. */
    let isFromEarlierChange = publisher !== undefined;
    for (;;) {
      try {
        return await changeOnce(decide);
      } catch (error) {
        if (isTailraceError(error, 'transactions-unavailable')) {
          const isLate = elapsedMs() < giveUpAfterMs && (await hasTransactions());
          if (elapsedMs() > transactionsWithinMs && !isLate) {
            if (withoutTransactions === 'refuse') throw error;
            log.warn({ topic }, `${error.message} Until then, one of two concurrent changes may be lost.`);
            publisher = plainPublisher(kafka, giveUpAfterMs);
          }
        } else if (isTailraceError(error, 'superseded') || isTailraceError(error, 'kafka-unavailable')) {
          await closePublisher();
          if (elapsedMs() > giveUpAfterMs) throw gaveUp(error, isUnconfirmed());
          if (isFromEarlierChange && isTailraceError(error, 'superseded')) {
            isFromEarlierChange = false;
            continue;
          }
        } else {
          throw error;
        }
      }
      await wait(Math.random() * mostPauseMs);
    }
  };

  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
  return {
    ...view,
    ...snapshot,
    get healthy() {
      return view.healthy;
    },
    get ageMs() {
      return view.ageMs;
    },
    change: (decide) => inTurn(() => change(decide)),
    claim: () =>
      inTurn(async () => {
        if (state.isUnowned) await change(nothing);
      }),
    settle: (request) =>
      inTurn(async () => {
        // A publisher of an earlier change does not end a transaction that another instance has begun since.
        await closePublisher();
        await change(nothing);
        return requests.entriesOf(request);
      }),
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

function plainPublisher(kafka: Pick<Kafka, 'publisher'>, giveUpAfterMs: number): ExclusivePublisher {
  const publisher = kafka.publisher({ giveUpAfterMs });
  return {
    publish: async (records) => {
      await Promise.all(records.map((record) => publisher.publish(record)));
    },
    close: () => publisher.close(),
  };
}

function gaveUp(cause: TailraceError, isUnconfirmed: boolean): TailraceError {
  const consequence = isUnconfirmed
    ? 'it is unknown whether the change was written; read the entry before you send the change again'
    : 'nothing was changed';
  const message = `Kafka did not accept the change in time, and ${consequence}.`;
  return new TailraceError('kafka-unavailable', message, { cause });
}
