/**
 * Opens the history and keeps it up to date: follows the topics from the stored offsets, and writes each batch of records in
 * one transaction with its offset, so that every record counts once.
 *
 * Failures do not affect the rest of the process. While the disk is full or fails, queries get `history-unavailable` and
 * opening is retried; a corrupt file is rebuilt from the topics.
 */
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { ConsumedRecord, Kafka, Tail, TailPosition } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { AttemptRecord, TopicNames } from '@tailrace/topics';
import { deliveryQueries, type DeliveryQueries } from './store/deliveries.ts';
import { factReader } from './store/facts.ts';
import { outcomesOf, type EventOutcomes } from './store/outcomes.ts';
import { createRetention, type HistoryLimits, type Retention } from './store/retention.ts';
import { statisticsQueries, type Statistics } from './store/statistics.ts';
import { deleteStore, historyUnavailable, openStore, storeFailure, type Store } from './store/store.ts';
import { usageQueries, type UsageQueries } from './store/usage.ts';
import { createWriter, readOffsets, type Writer } from './store/write.ts';

export interface HistoryOptions {
  readonly kafka: Pick<Kafka, 'tail' | 'clusterId' | 'listTopics'>;
  readonly names: TopicNames;
  /** Used by this process only; created where it is missing. */
  readonly folder: string;
  readonly limits: HistoryLimits;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/**
 * Queries, all of them synchronous.
 *
 * @throws TailraceError `history-unavailable`
 */
export interface History extends DeliveryQueries, Statistics, UsageQueries {
  /** The outcomes of each event's deliveries, by messageId; events without deliveries are left out. */
  outcomesOfEvents(eventIds: readonly string[]): ReadonlyMap<string, EventOutcomes>;
  readonly status: HistoryStatus;
  /** Calls `listener`, which must not throw, for each attempt that is read. Returns a function that unsubscribes it. */
  onAttempt(listener: (attempt: AttemptRecord) => void): () => void;
  /**
   * Resolves once every record that the topics held at the call has been read.
   *
   * @throws TailraceError `history-unavailable`, `kafka-unavailable`
   */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface HistoryStatus {
  /** Why queries fail, as a clause; undefined while they work. */
  readonly unavailableBecause: string | undefined;
  /** Records of the topics that are not read yet. */
  readonly behind: number;
  readonly bytes: number;
}

/** An open store that follows the topics. */
interface OpenHistory {
  readonly store: Store;
  readonly writer: Writer;
  readonly retention: Retention;
  readonly queries: DeliveryQueries & Statistics & UsageQueries;
  tail?: Tail;
}

const opening = 'it is being opened';
const reopenAfterMs = 2_000;
const pruneEveryMs = 10_000;

/** Returns immediately and opens the history in the background. Queries fail until it is open. */
export function openHistory({ kafka, names, folder, limits, log }: HistoryOptions): History {
  const readFact = factReader(names);
  const listeners = new Set<(attempt: AttemptRecord) => void>();
  const closing = new AbortController();
  const { signal } = closing;
  const isClosing = (): boolean => signal.aborted;
  let current: OpenHistory | undefined;
  let unavailableBecause: string | undefined = opening;
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
      if (unavailableBecause !== failure.why) log.warn({ err: error, folder }, 'history unavailable');
      unavailableBecause = failure.why;
    }
    failed.resolve(undefined);
  };

  const onRecords =
    (at: OpenHistory) => async (records: readonly ConsumedRecord[], position: TailPosition) => {
      if (unavailableBecause !== undefined || at !== current) return;
      const facts = records.flatMap((record) => readFact(record) ?? []);
      try {
        at.store.transaction(() => {
          at.writer.write(facts, position, at.retention.floor);
        });
        while (at.retention.bytes > limits.maxBytes && at.retention.prune());
      } catch (error) {
        fail(error);
        return;
      }
      for (const fact of facts) {
        if (fact.kind === 'attempt') for (const listener of listeners) listener(fact.record);
      }
      // Lets pending requests run between two batches.
      await nextTurn();
    };

  const open = async (): Promise<OpenHistory> => {
    const { deliveries, deliveriesDead, deliveriesReplay, attempts, usage } = names;
    const topics = [deliveries, deliveriesDead, deliveriesReplay, attempts, usage];
    const existing = await kafka.listTopics();
    const missing = topics.filter((topic) => !existing.includes(topic));
    if (missing.length > 0) {
      throw new TailraceError(
        'topic-missing',
        `these topics do not exist: ${missing.join(', ')}; create them with \`npx tailrace topics apply\``,
      );
    }
    const tiers = existing.filter((topic) => names.retryTierDelayMs(topic) !== undefined);
    const store = openStore(folder, `${await kafka.clusterId()} ${deliveries}`);
    const { db } = store;
    if (store.isNew) log.info({ folder }, 'rebuilding history from topics');
    const at: OpenHistory = {
      store,
      writer: createWriter(db),
      retention: createRetention(store, limits, Date.now),
      queries: { ...deliveryQueries(db), ...statisticsQueries(db), ...usageQueries(db) },
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

  const pruneRegularly = async (retention: Retention, stopped: AbortSignal): Promise<void> => {
    do {
      try {
        if (retention.prune()) {
          await nextTurn();
          continue;
        }
      } catch (error) {
        fail(error);
        return;
      }
      await wait(pruneEveryMs, undefined, { signal: stopped }).catch(() => undefined);
    } while (!stopped.aborted);
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
        const { retention } = await open();
        const pruning = new AbortController();
        void pruneRegularly(retention, pruning.signal);
        await failed.promise;
        pruning.abort();
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
    list: (...given) => ask(({ queries }) => queries.list(...given)),
    find: (id) => ask(({ queries }) => queries.find(id)),
    attemptsOf: (id) => ask(({ queries }) => queries.attemptsOf(id)),
    ofEvent: (eventId) => ask(({ queries }) => queries.ofEvent(eventId)),
    countsOf: (...given) => ask(({ queries }) => queries.countsOf(...given)),
    failuresOf: (...given) => ask(({ queries }) => queries.failuresOf(...given)),
    daysOf: (...given) => ask(({ queries }) => queries.daysOf(...given)),
    eventsOf: (...given) => ask(({ queries }) => queries.eventsOf(...given)),
    outcomesOfEvents: (eventIds) => ask(({ store }) => outcomesOf(store.db, eventIds)),
    get status() {
      const usable = unavailableBecause === undefined ? current : undefined;
      return {
        unavailableBecause,
        behind: usable?.tail?.behind ?? 0,
        bytes: usable ? usable.retention.bytes : 0,
      };
    },
    onAttempt(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async refresh() {
      const tail = ask(({ tail }) => tail);
      if (!tail) throw historyUnavailable(opening);
      await tail.refresh();
      ask(() => undefined);
    },
    async close() {
      closing.abort();
      failed.resolve(undefined);
      await running;
    },
  };
}
