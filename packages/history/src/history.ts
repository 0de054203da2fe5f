/**
 * Opens the history and keeps it up to date: follows the topics from the stored offsets, and writes each batch of records in
 * one transaction with its offset, so that every record counts once.
 *
 * Failures do not affect the rest of the process. While the disk is full or fails, queries get `history-unavailable` and
 * opening is retried; a corrupt file is rebuilt from the topics.
 */
import { once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { DatabaseSync } from 'node:sqlite';
import type { DeadLetterSummary } from '@tailrace/deadletters';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { Kafka, Tail, TailPart } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { AttemptRecord, RecordPosition } from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';
import { factReader, type Fact } from './facts/facts.ts';
import { queriesOf, type Queries } from './queries.ts';
import { reconcileRegularly } from './reconcile.ts';
import { pruneRegularly } from './prune.ts';
import { Retention, type HistoryLimits } from './retention.ts';
import { deleteStore, historyUnavailable, openStore, storeFailure, type Store } from './sqlite/store.ts';
import { readOffsets, Writer } from './write.ts';

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

type AttemptListener = (attempt: AttemptRecord, bytes: number, position: RecordPosition) => void;
type LetterListener = (letter: DeadLetterSummary) => void;

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

/** An open store that follows the topics, until its first failure. */
interface OpenStore {
  readonly store: Store;
  readonly writer: Writer;
  readonly retention: Retention;
  readonly queries: Queries;
  /** The topics that are followed; of them, those of the delivery group. */
  readonly topics: readonly string[];
  readonly deliveryTopics: readonly string[];
  readonly failed: AbortController;
  tail?: Tail;
}

type State =
  | { readonly kind: 'open'; readonly at: OpenStore }
  /** `why` is a clause. */
  | { readonly kind: 'unavailable'; readonly why: string };

const opening = { kind: 'unavailable', why: 'it is being opened' } as const;
const reopenAfterMs = 2_000;
/** Records in one transaction: requests are answered between two. A decision counts as several, because it may have 100 rows. */
const recordsTogether = 500;
const weightOfDecision = 10;
/** Facts that listeners get in one turn of the event loop. */
const toldTogether = 200;

/** Opens in the background. Queries fail until it is open. */
export class History {
  readonly #options: HistoryOptions;
  readonly #readFact: ReturnType<typeof factReader>;
  readonly #attemptListeners = new Set<AttemptListener>();
  readonly #letterListeners = new Set<LetterListener>();
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #state: State = opening;
  /** The last failure that was logged; undefined after a batch was written. */
  #trouble: string | undefined;

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#readFact = factReader(options.names);
    this.#running = this.#run();
  }

  /**
   * Runs queries, all of them synchronous and of bounded work. A list that may need more is read in slices (slices.ts).
   *
   * @throws TailraceError `history-unavailable`
   */
  read<Answer>(query: (queries: Queries) => Answer): Answer {
    return this.#ask(({ queries }) => query(queries));
  }

  get status(): HistoryStatus {
    if (this.#state.kind === 'unavailable') {
      return { unavailableBecause: this.#state.why, behind: 0, lagMs: undefined, bytes: 0 };
    }
    const { tail, retention } = this.#state.at;
    const { behind = 0, lagMs } = tail ?? {};
    return { unavailableBecause: undefined, behind, lagMs, bytes: retention.bytes };
  }

  /**
   * Calls `listener`, which must not throw, for each attempt that is read, with the length and the position of its record.
   * Returns a function that unsubscribes it.
   */
  onAttempt(listener: AttemptListener): () => void {
    this.#attemptListeners.add(listener);
    return () => this.#attemptListeners.delete(listener);
  }

  /** The same for each dead letter. */
  onDeadLetter(listener: LetterListener): () => void {
    this.#letterListeners.add(listener);
    return () => this.#letterListeners.delete(listener);
  }

  /**
   * Resolves once every record that the topics held at the call has been read.
   *
   * @throws TailraceError `history-unavailable`, `kafka-unavailable`
   */
  async refresh(): Promise<void> {
    const tail = this.#ask(({ tail }) => tail);
    if (!tail) throw historyUnavailable(opening.why);
    await tail.refresh();
    this.#ask(() => undefined);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.#follow(await this.#open());
      } catch (error) {
        if (isTailraceError(error)) this.#state = { kind: 'unavailable', why: error.message };
        else this.#fail(error);
      }
      await wait(reopenAfterMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #open(): Promise<OpenStore> {
    const { kafka, names, folder, limits, log, prepareStore } = this.#options;
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
    if (store.isNew) log.info({ folder }, 'rebuilding history from topics');
    const retention = new Retention(store, limits, Date.now);
    return {
      store,
      retention,
      writer: new Writer(store.db, retention),
      queries: queriesOf(store.db),
      topics: [...topics, ...tiers],
      deliveryTopics: [deliveries, deliveriesReplay, ...tiers],
      failed: new AbortController(),
    };
  }

  /** Keeps the store up to date until it fails, and closes it. */
  async #follow(at: OpenStore): Promise<void> {
    const { kafka, names, deliveryGroup: group, log } = this.#options;
    const { store, retention, writer, topics, deliveryTopics, failed } = at;
    const signal = AbortSignal.any([this.#closing.signal, failed.signal]);
    this.#state = { kind: 'open', at };
    try {
      const offsets = readOffsets(store.db);
      const tail = await kafka.tail({
        topics,
        startOf: (topic, partition) => offsets.get(`${topic}/${partition}`),
        onRecords: (parts) => this.#write(at, parts),
      });
      at.tail = tail;
      const fail = (error: unknown): void => {
        if (!signal.aborted) this.#fail(error);
      };
      void pruneRegularly({ kafka, topic: names.deliveriesDead, retention, signal }).catch(fail);
      void reconcileRegularly({
        kafka,
        names,
        log,
        group,
        topics: deliveryTopics,
        signal,
        refresh: () => tail.refresh(),
        end: (topic, partition, range) => {
          let next: number | undefined;
          if (this.#isOpen(at)) store.transaction(() => (next = writer.end(topic, partition, range)));
          return next;
        },
      }).catch(fail);
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      if (this.#isOpen(at)) this.#state = opening;
      await at.tail?.close();
      store.close();
    }
  }

  async #write(at: OpenStore, parts: readonly TailPart[]): Promise<void> {
    const { decisions } = this.#options.names;
    let weight = 0;
    for (const { records, position } of parts) {
      weight += records.length * (position.topic === decisions ? weightOfDecision : 1);
    }
    const portions = Math.ceil(weight / recordsTogether);
    for (let nth = 0; nth < portions; nth += 1) {
      const portion = parts.flatMap((part) => portionOf(part, nth, portions));
      if (this.#isOpen(at)) await this.#writePortion(at, portion);
    }
  }

  async #writePortion(at: OpenStore, parts: readonly TailPart[]): Promise<void> {
    const { folder, limits, log } = this.#options;
    const { store, retention, writer } = at;
    const facts = parts.flatMap(({ records }) => records.flatMap(this.#readFact));
    const positions = parts.map(({ position }) => position);
    try {
      store.transaction(() => {
        writer.write(facts, positions);
      });
      while (this.#isOpen(at) && retention.bytes > limits.maxBytes && retention.prune()) await nextTurn();
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (this.#trouble !== undefined) log.info({ folder }, 'history available again');
    this.#trouble = undefined;
    await this.#tell(facts);
    // Lets pending requests run between two portions.
    await nextTurn();
  }

  async #tell(facts: readonly Fact[]): Promise<void> {
    for (const [index, fact] of facts.entries()) {
      if (fact.kind === 'attempt')
        for (const tell of this.#attemptListeners) tell(fact.record, fact.bytes, fact.position);
      if (fact.kind === 'dead-letter') for (const tell of this.#letterListeners) tell(fact.letter);
      // Each may be of interest to hundreds of streams.
      if (index % toldTogether === toldTogether - 1) await nextTurn();
    }
  }

  #isOpen(at: OpenStore): boolean {
    return this.#state.kind === 'open' && this.#state.at === at;
  }

  /** Runs a query on the open store. */
  #ask<T>(query: (at: OpenStore) => T): T {
    if (this.#state.kind === 'unavailable') throw historyUnavailable(this.#state.why);
    try {
      return query(this.#state.at);
    } catch (error) {
      this.#fail(error);
      throw historyUnavailable('its store has failed');
    }
  }

  /** Ends the open store, if the error is a failure of it; `#run` then opens it again. */
  #fail(error: unknown): void {
    const { folder, log } = this.#options;
    const failure = storeFailure(error);
    if (!failure) throw error;
    const open = this.#state.kind === 'open' ? this.#state.at : undefined;
    if (failure === 'corrupt') {
      this.#state = { kind: 'unavailable', why: 'its file was corrupt and is being rebuilt' };
      log.warn({ err: error, folder }, 'history corrupt, rebuilding from topics');
      open?.store.close();
      deleteStore(folder);
    } else {
      if (this.#trouble !== failure.why) log.warn({ err: error, folder }, 'history unavailable');
      this.#trouble = failure.why;
      this.#state = { kind: 'unavailable', why: failure.why };
    }
    open?.failed.abort();
  }
}

/** Of each part as much, so that a delivery and its attempt are mostly in the same portion, and written once. */
function portionOf({ records, position }: TailPart, nth: number, portions: number): readonly TailPart[] {
  const [from = 0, to = 0] = [nth, nth + 1].map((end) => Math.floor((records.length * end) / portions));
  const next = records[to]?.offset ?? position.next;
  return from === to ? [] : [{ records: records.slice(from, to), position: { ...position, next } }];
}
