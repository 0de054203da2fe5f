/**
 * The life of the history: the store is opened, the topics are followed from where it got to, and each batch is written
 * together with how far it goes, so that every record counts once.
 *
 * Its troubles are its own. Where the disk is full or fails, everything that asks gets `history-unavailable`, and it is
 * tried again; where the file is broken, it is made anew from the topics. Nothing else of the process notices.
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
  /** Of its own; made where it is missing. */
  readonly folder: string;
  readonly limits: HistoryLimits;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/**
 * What there is to ask, all of it synchronous.
 *
 * @throws TailraceError `history-unavailable`
 */
export interface History extends DeliveryQueries, Statistics, UsageQueries {
  /** What became of each event, by its messageId; those of which there are no deliveries are not in it. */
  outcomesOfEvents(eventIds: readonly string[]): ReadonlyMap<string, EventOutcomes>;
  readonly status: HistoryStatus;
  /** Calls `listener`, which must not throw, with each attempt as it is read. Returns a function that ends it. */
  onAttempt(listener: (attempt: AttemptRecord) => void): () => void;
  /**
   * Resolves once everything is in it that its topics held when this was called.
   *
   * @throws TailraceError `history-unavailable`, `kafka-unavailable`
   */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface HistoryStatus {
  /** Why nothing can be asked; undefined where it can. */
  readonly unavailableBecause: string | undefined;
  /** Records of its topics that it has not read yet. */
  readonly behind: number;
  readonly bytes: number;
}

/** While everything goes well. */
interface Following {
  readonly store: Store;
  readonly writer: Writer;
  readonly retention: Retention;
  readonly queries: DeliveryQueries & Statistics & UsageQueries;
  tail?: Tail;
}

const opening = 'it is being opened';
const tryAgainAfterMs = 2_000;
const pruneEveryMs = 10_000;

/** Returns at once; it is opened behind, and asking fails until it is. */
export function openHistory({ kafka, names, folder, limits, log }: HistoryOptions): History {
  const readFact = factReader(names);
  const listeners = new Set<(attempt: AttemptRecord) => void>();
  const closing = new AbortController();
  const { signal } = closing;
  const isClosing = (): boolean => signal.aborted;
  let following: Following | undefined;
  let unavailableBecause: string | undefined = opening;
  let failed = Promise.withResolvers<undefined>();

  /** Ends what is being done with the store; `live` begins anew. */
  const fail = (error: unknown): void => {
    const failure = storeFailure(error);
    if (!failure) throw error;
    if (failure === 'corrupt') {
      unavailableBecause = 'its file was broken and is made anew';
      log.warn({ err: error, folder }, 'the history is broken; it is read anew from the topics');
      following?.store.close();
      deleteStore(folder);
    } else {
      if (unavailableBecause !== failure.why) log.warn({ err: error, folder }, 'the history cannot be kept');
      unavailableBecause = failure.why;
    }
    failed.resolve(undefined);
  };

  const onRecords = (at: Following) => async (records: readonly ConsumedRecord[], position: TailPosition) => {
    if (unavailableBecause !== undefined || at !== following) return;
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
    // Whoever asks something meanwhile has its turn between two batches.
    await nextTurn();
  };

  const open = async (): Promise<Following> => {
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
    if (store.isNew) log.info({ folder }, 'the history is made anew from the topics');
    const at: Following = {
      store,
      writer: createWriter(db),
      retention: createRetention(store, limits, Date.now),
      queries: { ...deliveryQueries(db), ...statisticsQueries(db), ...usageQueries(db) },
    };
    following = at;
    unavailableBecause = undefined;
    const offsets = readOffsets(db);
    at.tail = await kafka.tail({
      topics: [...topics, ...tiers],
      startOf: (topic, partition) => offsets.get(`${topic}/${partition}`),
      onRecords: onRecords(at),
    });
    return at;
  };

  const pruneNowAndThen = async (retention: Retention, over: AbortSignal): Promise<void> => {
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
      await wait(pruneEveryMs, undefined, { signal: over }).catch(() => undefined);
    } while (!over.aborted);
  };

  const shut = async (): Promise<void> => {
    const at = following;
    following = undefined;
    await at?.tail?.close();
    at?.store.close();
  };

  const live = async (): Promise<void> => {
    while (!isClosing()) {
      failed = Promise.withResolvers();
      try {
        const { retention } = await open();
        const over = new AbortController();
        void pruneNowAndThen(retention, over.signal);
        await failed.promise;
        over.abort();
      } catch (error) {
        if (isTailraceError(error)) unavailableBecause = error.message;
        else fail(error);
      }
      await shut();
      if (!isClosing()) await wait(tryAgainAfterMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const lived = live();

  /** Asks the store. */
  const ask = <T>(question: (at: Following) => T): T => {
    if (!following || unavailableBecause !== undefined) {
      throw historyUnavailable(unavailableBecause ?? opening);
    }
    try {
      return question(following);
    } catch (error) {
      fail(error);
      throw historyUnavailable('its store has just failed');
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
      const usable = unavailableBecause === undefined ? following : undefined;
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
      await lived;
    },
  };
}
