/**
 * Opens the history and keeps it up to date: follows the topics from the stored offsets, and writes each batch of records in
 * one transaction with its offset, so that every record counts once.
 *
 * Failures do not affect the rest of the process. While the disk is full or fails, queries get `history-unavailable` and
 * opening is retried; a corrupt file is rebuilt from the topics.
 */
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { DatabaseSync } from 'node:sqlite';
import type { DeadLetterSummary } from '@tailrace/deadletters';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { Kafka, Tail, TailPart } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { AttemptRecord } from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';
import { factReader } from './facts/facts.ts';
import { queriesOf, type Queries } from './queries.ts';
import { reconcileRegularly } from './reconcile.ts';
import { createRetention, type HistoryLimits, type Retention } from './retention.ts';
import { deleteStore, historyUnavailable, openStore, storeFailure, type Store } from './sqlite/store.ts';
import { createWriter, readOffsets, type Writer } from './write.ts';

export interface HistoryOptions {
  readonly kafka: Pick<Kafka, 'tail' | 'clusterId' | 'listTopics' | 'offsets' | 'finished'>;
  readonly names: TopicNames;
  /** The consumer group of delivery. */
  readonly deliveryGroup: string;
  /** Used by this process only; created where it is missing. */
  readonly folder: string;
  readonly limits: HistoryLimits;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Changes the file when it is opened, for tests. */
  readonly prepareStore?: (db: DatabaseSync) => void;
}

export type History = ReturnType<typeof openHistory>;

/** The answer to a query; undefined while the history is unavailable. */
export function readIfAvailable<Answer>(
  history: Pick<History, 'read'>,
  query: (queries: Queries) => Answer,
): Answer | undefined {
  try {
    return history.read(query);
  } catch (error) {
    if (isTailraceError(error, 'history-unavailable')) return undefined;
    throw error;
  }
}

export interface HistoryStatus {
  /** Why queries fail, as a clause; undefined while they work. */
  readonly unavailableBecause: string | undefined;
  /** Records of the topics that are not read yet. */
  readonly behind: number;
  /** The age of the oldest of them; 0 without one, undefined while it is not known. */
  readonly lagMs: number | undefined;
  readonly bytes: number;
}

/** An open store that follows the topics. */
interface OpenHistory {
  readonly store: Store;
  readonly writer: Writer;
  readonly retention: Retention;
  readonly queries: Queries;
  /** The topics of the delivery group. */
  readonly deliveryTopics: readonly string[];
  tail?: Tail;
}

const opening = 'it is being opened';
const reopenAfterMs = 2_000;
/** Records in one transaction: requests are answered between two. A decision counts as several, because it may have 100 rows. */
const recordsTogether = 500;
const weightOfDecision = 10;
/** Facts that listeners get in one turn of the event loop. */
const toldTogether = 200;
const pruneEveryMs = 10_000;
/** Expired dead letters are looked up in every sixth turn of pruning. */
const expiredEvery = 6;

/** Returns immediately and opens the history in the background. Queries fail until it is open. */
export function openHistory(options: HistoryOptions) {
  const { kafka, names, deliveryGroup, folder, limits, log, prepareStore } = options;
  const readFact = factReader(names);
  const listeners = new Set<(attempt: AttemptRecord, bytes: number) => void>();
  const letterListeners = new Set<(letter: DeadLetterSummary) => void>();
  const closing = new AbortController();
  const { signal } = closing;
  const isClosing = (): boolean => signal.aborted;
  let current: OpenHistory | undefined;
  let unavailableBecause: string | undefined = opening;
  /** The last failure that was logged; undefined after a batch was written. */
  let trouble: string | undefined;
  let failed = Promise.withResolvers<undefined>();

  /** Records a failure of the store; `run` then opens it again. */
  const fail = (error: unknown): void => {
    const failure = storeFailure(error);
    if (!failure) throw error;
    if (failure === 'corrupt') {
      unavailableBecause = 'its file was corrupt and is being rebuilt';
      log.warn({ err: error, folder }, 'history corrupt, rebuilding from topics');
      current?.store.close();
      deleteStore(folder);
    } else {
      if (trouble !== failure.why) log.warn({ err: error, folder }, 'history unavailable');
      trouble = failure.why;
      unavailableBecause = failure.why;
    }
    failed.resolve(undefined);
  };

  const isOpen = (at: OpenHistory): boolean => at === current && unavailableBecause === undefined;

  const writePortion = async (at: OpenHistory, parts: readonly TailPart[]): Promise<void> => {
    if (!isOpen(at)) return;
    const facts = parts.flatMap(({ records }) => records.flatMap(readFact));
    try {
      at.store.transaction(() => {
        at.writer.write(
          facts,
          parts.map(({ position }) => position),
        );
      });
      while (isOpen(at) && at.retention.bytes > limits.maxBytes && at.retention.prune()) await nextTurn();
    } catch (error) {
      fail(error);
      return;
    }
    if (trouble !== undefined) log.info({ folder }, 'history available again');
    trouble = undefined;
    for (const [index, fact] of facts.entries()) {
      if (fact.kind === 'attempt') for (const listener of listeners) listener(fact.record, fact.bytes);
      if (fact.kind === 'dead-letter') for (const listener of letterListeners) listener(fact.letter);
      // Each may be of interest to hundreds of streams.
      if (index % toldTogether === toldTogether - 1) await nextTurn();
    }
    // Lets pending requests run between two portions.
    await nextTurn();
  };

  const onRecords = (at: OpenHistory) => async (parts: readonly TailPart[]) => {
    let weight = 0;
    for (const { records, position } of parts) {
      weight += records.length * (position.topic === names.decisions ? weightOfDecision : 1);
    }
    const portions = Math.ceil(weight / recordsTogether);
    for (let nth = 0; nth < portions; nth += 1) {
      await writePortion(
        at,
        parts.flatMap((part) => portionOf(part, nth, portions)),
      );
    }
  };

  const open = async (): Promise<OpenHistory> => {
    const { deliveries, deliveriesDead, deliveriesReplay, attempts, decisions, usage } = names;
    const topics = [deliveries, deliveriesDead, deliveriesReplay, attempts, decisions, usage];
    const existing = await kafka.listTopics();
    const missing = topics.filter((topic) => !existing.includes(topic));
    if (missing.length > 0) {
      throw new TailraceError(
        'topic-missing',
        `these topics do not exist: ${missing.join(', ')}; create them with \`npx tailrace topics apply\``,
      );
    }
    const tiers = existing.filter((topic) => names.retryTierDelayMs(topic) !== undefined);
    const store = openStore(folder, `${await kafka.clusterId()} ${deliveries}`, prepareStore);
    const { db } = store;
    if (store.isNew) log.info({ folder }, 'rebuilding history from topics');
    const retention = createRetention(store, limits, Date.now);
    const at: OpenHistory = {
      store,
      retention,
      writer: createWriter(db, retention),
      queries: queriesOf(db),
      deliveryTopics: [deliveries, deliveriesReplay, ...tiers],
    };
    current = at;
    unavailableBecause = undefined;
    const offsets = readOffsets(db);
    at.tail = await kafka.tail({
      topics: [...topics, ...tiers],
      startOf: (topic, partition) => offsets.get(`${topic}/${partition}`),
      onRecords: onRecords(at),
    });
    return at;
  };

  /** Removes dead letters whose records have expired. Kafka may be unavailable; they are then removed later. */
  const pruneExpired = async (retention: Retention, isStopped: () => boolean): Promise<void> => {
    const offsets = await kafka.offsets(names.deliveriesDead).catch((error: unknown) => {
      if (!isTailraceError(error)) throw error;
      return new Map<number, { readonly low: number }>();
    });
    const lows = new Map(Array.from(offsets, ([partition, { low }]) => [partition, low]));
    while (!isStopped() && retention.pruneExpired(lows)) await nextTurn();
  };

  const pruneRegularly = async (retention: Retention, stopped: AbortSignal): Promise<void> => {
    const isStopped = (): boolean => stopped.aborted;
    for (let turn = 0; !isStopped(); turn += 1) {
      try {
        while (!isStopped() && retention.prune()) await nextTurn();
        if (turn % expiredEvery === 0) await pruneExpired(retention, isStopped);
      } catch (error) {
        if (!isStopped()) fail(error);
        return;
      }
      await wait(pruneEveryMs, undefined, { signal: stopped }).catch(() => undefined);
    }
  };

  const closeCurrent = async (): Promise<void> => {
    const at = current;
    current = undefined;
    await at?.tail?.close();
    at?.store.close();
  };

  const run = async (): Promise<void> => {
    while (!isClosing()) {
      failed = Promise.withResolvers();
      try {
        const at = await open();
        const ending = new AbortController();
        void pruneRegularly(at.retention, ending.signal);
        void reconcileRegularly({
          kafka,
          names,
          log,
          group: deliveryGroup,
          topics: at.deliveryTopics,
          signal: ending.signal,
          refresh: async () => at.tail?.refresh(),
          end: (topic, partition, range) => {
            let next: number | undefined;
            if (isOpen(at)) at.store.transaction(() => (next = at.writer.end(topic, partition, range)));
            return next;
          },
        }).catch(fail);
        await failed.promise;
        ending.abort();
      } catch (error) {
        if (isTailraceError(error)) unavailableBecause = error.message;
        else fail(error);
      }
      await closeCurrent();
      if (!isClosing()) await wait(reopenAfterMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const running = run();

  /** Runs a query on the open store. */
  const ask = <T>(query: (at: OpenHistory) => T): T => {
    if (!current || unavailableBecause !== undefined) {
      throw historyUnavailable(unavailableBecause ?? opening);
    }
    try {
      return query(current);
    } catch (error) {
      fail(error);
      throw historyUnavailable('its store has failed');
    }
  };

  return {
    /**
     * Runs queries, all of them synchronous and of bounded work. A list that may need more is read in slices (slices.ts).
     *
     * @throws TailraceError `history-unavailable`
     */
    read: <Answer>(query: (queries: Queries) => Answer): Answer => ask(({ queries }) => query(queries)),
    get status(): HistoryStatus {
      const usable = unavailableBecause === undefined ? current : undefined;
      return {
        unavailableBecause,
        behind: usable?.tail?.behind ?? 0,
        lagMs: usable?.tail?.lagMs,
        bytes: usable ? usable.retention.bytes : 0,
      };
    },
    /**
     * Calls `listener`, which must not throw, for each attempt that is read, with the length of its record. Returns a function that
     * unsubscribes it.
     */
    onAttempt(listener: (attempt: AttemptRecord, bytes: number) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** The same for each dead letter. */
    onDeadLetter(listener: (letter: DeadLetterSummary) => void): () => void {
      letterListeners.add(listener);
      return () => letterListeners.delete(listener);
    },
    /**
     * Resolves once every record that the topics held at the call has been read.
     *
     * @throws TailraceError `history-unavailable`, `kafka-unavailable`
     */
    async refresh(): Promise<void> {
      const tail = ask(({ tail }) => tail);
      if (!tail) throw historyUnavailable(opening);
      await tail.refresh();
      ask(() => undefined);
    },
    async close(): Promise<void> {
      closing.abort();
      failed.resolve(undefined);
      await running;
    },
  };
}

/** Of each part as much, so that a delivery and its attempt are mostly in the same portion, and written once. */
function portionOf({ records, position }: TailPart, nth: number, portions: number): readonly TailPart[] {
  const [from = 0, to = 0] = [nth, nth + 1].map((end) => Math.floor((records.length * end) / portions));
  const next = records[to]?.offset ?? position.next;
  return from === to ? [] : [{ records: records.slice(from, to), position: { ...position, next } }];
}
