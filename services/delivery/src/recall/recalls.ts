/**
 * Recalls: the pending deliveries of a destination are attempted before they are due, when its receiver has recovered or an
 * operator asks for it, or are drained. The owner of a partition does this for its own part, with records that it reads
 * beside the consumer group. Nothing is copied: a recalled record is dropped when the group reads it. The topic `recalls`
 * (ledger.ts) has what the next owner must know.
 */
import { type Consumption, type ConsumedRecord, type OutgoingRecord, type Publisher } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { RecallRequest, TopicNames } from '@tailrace/topics';
import type { Job } from '../job.ts';
import { Budget } from './budget.ts';
import type { Ledger } from './ledger.ts';
import { findEnds, findEndsOf, whenLocated, type Ends, type LocateDependencies } from './locate.ts';
import { Part, type RecalledPartition } from './part.ts';
import { Passes } from './passes.ts';
import { Recall, type RecallDependencies, type RecallSpec } from './recall.ts';

export interface RecallSources extends Omit<LocateDependencies, 'log'> {
  readonly ledger: Ledger;
  readonly unfinished: Consumption['unfinished'];
}

export interface RecallsDependencies
  extends
    RecallSources,
    Pick<RecallDependencies, 'delay' | 'delivery' | 'isBlocked' | 'isHeld' | 'hasCapacity' | 'now'> {
  readonly names: TopicNames;
  /** Sends a delivery to its lane, as if it were due. */
  readonly retry: (job: Job) => void;
  /** Writes a dead letter. */
  readonly drain: (job: Job) => void;
  /**
   * The retry topic that only deliveries of paused destinations wait in; undefined where they wait in another one. It may
   * hold a million of them for weeks, so it is read for recalls of resumed destinations, and not after each recovery.
   */
  readonly pauseTopic: string | undefined;
  /** Removes and returns the deliveries of a destination that were read ahead and are not due yet. */
  readonly takeDelayed: (destinationId: string) => Job[];
  readonly log: Pick<Log, 'info' | 'warn'>;
}

const tickMs = 250;
/** How often the progress of a recall is published. */
const publishEveryTicks = 4;
const pruneEveryTicks = 120;
/** The pause between two recalls of a destination that no operator asked for. */
const pauseMs = 10_000;
const shareMs = 1_000;
/** Deliveries with these reasons have a time of their own, and show nothing about the receiver. */
const waitsForItsTurn: readonly (string | undefined)[] = ['lane-full', 'behind', 'paused'];

export class Recalls {
  readonly #deps: RecallsDependencies;
  readonly #tiers: ReadonlySet<string>;
  readonly #budget = new Budget();
  readonly #running = new Map<string, Recall>();
  readonly #passes: Passes;
  /** Destinations with a failed delivery since their last recall. */
  readonly #failed = new Set<string>();
  /** Destinations that were resumed, and whose paused deliveries are not all recalled yet; `now`: since their last recall began. */
  readonly #resumed = new Map<string, 'now' | 'later'>();
  /** When the last recall of a destination ended, since the last rebalance. */
  readonly #endedAt = new Map<string, number>();
  readonly #later = new Map<string, NodeJS.Timeout>();
  /** The last search for the ends of the retry topics, which recalls that begin within a second share. */
  #ends: { readonly begunAt: number; readonly found: Promise<Ends> } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;
  #stopped = false;

  constructor(dependencies: RecallsDependencies) {
    this.#deps = dependencies;
    const { names, tiers, unfinished, log } = dependencies;
    this.#tiers = new Set(tiers);
    this.#passes = new Passes({
      // The longest delays first: records of the short ones are due soon anyway.
      tiers: tiers.toSorted((a, b) => (names.retryTierDelayMs(b) ?? 0) - (names.retryTierDelayMs(a) ?? 0)),
      // Records that an earlier recall has dispatched stay in their topics until the group reads them.
      unfinished: (...part) => this.notFinished(unfinished(...part)),
      log,
    });
  }

  /** To be called when the receiver of a destination answers again. Cheap to call often. */
  recovered(destinationId: string): void {
    if (this.#stopped || this.#running.has(destinationId) || this.#later.has(destinationId)) return;
    const endedAt = this.#endedAt.get(destinationId);
    if (endedAt !== undefined && !this.#failed.has(destinationId)) return;
    const pause = endedAt === undefined ? 0 : endedAt + pauseMs - performance.now();
    const timer = setTimeout(() => {
      this.#later.delete(destinationId);
      const readsPaused = this.#resumed.has(destinationId);
      this.#begin({ destinationId, kind: 'retry', readsPaused }, this.#partitions());
    }, pause);
    this.#later.set(destinationId, timer);
  }

  /** To be called when a destination is resumed. */
  resumed(destinationId: string): void {
    this.#endedAt.delete(destinationId);
    this.#resumed.set(destinationId, 'now');
    this.foundPaused(destinationId);
  }

  /** To be called where a delivery is found that waits because of an earlier pause. Cheap to call often. */
  foundPaused(destinationId: string): void {
    if (!this.#resumed.has(destinationId)) this.#resumed.set(destinationId, 'later');
    this.#failed.add(destinationId);
    this.recovered(destinationId);
  }

  /** To be called for each received record. Returns true where nothing more has to be done for it. */
  receive(job: Job): boolean {
    const { work, delivery } = job;
    if (!this.#tiers.has(work.topic)) return false;
    if (this.#deps.ledger.isFinished(delivery.destinationId, work, delivery.sequence)) {
      work.done();
      return true;
    }
    return this.#running.get(delivery.destinationId)?.receive(job) ?? false;
  }

  /** Filters records that were read beside the group: leaves out recalled ones that are finished. */
  async *notFinished(
    tier: AsyncIterable<readonly ConsumedRecord[]>,
  ): AsyncIterable<readonly ConsumedRecord[]> {
    const isFinished = (record: ConsumedRecord): boolean => {
      const id = record.headers['destination-id']?.toString() ?? '';
      const header = record.headers['sequence'];
      const sequence = header && Number(header.toString());
      const running = this.#running.get(id);
      return (
        this.#deps.ledger.isFinished(id, record, sequence) || (running?.isFinished(record, sequence) ?? false)
      );
    };
    for await (const records of tier) yield records.filter((record) => !isFinished(record));
  }

  /** Returns a publisher that notes for which destinations a delivery has failed. */
  watching(publisher: Pick<Publisher, 'publish'>): Pick<Publisher, 'publish'> {
    return {
      publish: (record: OutgoingRecord) => {
        if (this.#tiers.has(record.topic)) {
          const id = headerOf(record, 'destination-id');
          if (id !== undefined && !waitsForItsTurn.includes(headerOf(record, 'reason'))) this.#failed.add(id);
        }
        return publisher.publish(record);
      },
    };
  }

  /** To be called when a rebalance begins, because other replicas may own the partitions next. */
  rebalancing(): void {
    for (const recall of this.#running.values()) void this.#publish(recall);
  }

  /** To be called after each rebalance. */
  joined(): void {
    // Nothing is known of the pending deliveries in new partitions.
    this.#endedAt.clear();
    this.#failed.clear();
    if (this.#stopped) return;
    this.#timer ??= setInterval(() => {
      this.#tick();
    }, tickMs);
    for (const recall of this.#running.values()) recall.tick();
    // The group calls this while it joins, before its positions are available.
    setTimeout(() => {
      this.#deps.ledger.onRequest = ({ destinationId }) => {
        this.#consider(destinationId);
      };
      for (const { destinationId } of this.#deps.ledger.requests()) this.#consider(destinationId);
    }, tickMs);
  }

  /** Dispatches nothing more. */
  stop(): void {
    this.#stopped = true;
    this.#passes.stop();
    for (const timer of this.#later.values()) clearTimeout(timer);
    for (const recall of this.#running.values()) recall.stop('running');
  }

  /** To be called when nothing is in flight any more: publishes the progress. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(Array.from(this.#running.values(), (recall) => this.#publish(recall)));
  }

  /** Begins the requested recall of a destination in owned partitions where it is not done. */
  #consider(destinationId: string): void {
    const { ledger } = this.#deps;
    const request = ledger.request(destinationId);
    if (this.#stopped || !request) return;
    const unfinished = this.#partitions().filter((number) => {
      const progress = ledger.state(destinationId, number)?.request;
      return progress?.id !== request.id || progress.state === 'running';
    });
    if (unfinished.length === 0) return;
    const running = this.#running.get(destinationId);
    if (!running) this.#begin(specOf(request), unfinished);
    else if (running.spec.request?.id !== request.id) running.stop();
    // This is called again when the running recall ends.
  }

  #begin(spec: RecallSpec, numbers: readonly number[]): void {
    const { destinationId } = spec;
    if (this.#stopped || numbers.length === 0 || this.#running.has(destinationId)) return;
    this.#failed.delete(destinationId);
    if (spec.readsPaused) this.#resumed.delete(destinationId);
    const recall: Recall = new Recall(spec, {
      ...this.#deps,
      budget: this.#budget,
      dispatch: spec.kind === 'drain' ? this.#deps.drain : this.#deps.retry,
      onUnread: () => {
        this.#passes.add(recall);
      },
      onEnd: () => {
        this.#ended(recall);
      },
    });
    this.#running.set(destinationId, recall);
    void this.#open(recall, numbers);
  }

  async #open(recall: Recall, numbers: readonly number[]): Promise<void> {
    const { names, ledger, owned, takeDelayed, pauseTopic } = this.#deps;
    const { destinationId, request, readsPaused } = recall.spec;
    const tiers = this.#deps.tiers.filter((topic) => readsPaused || topic !== pauseTopic);
    const ends = await this.#endsOf(recall.spec);
    const located = await whenLocated(this.#deps, () => {
      const mine = this.#partitions();
      return this.#stopped ? [] : numbers.filter((number) => mine.includes(number));
    });
    // From here to `recall.open` no record may be received, so nothing is awaited.
    const partitions = located.flatMap((number): RecalledPartition[] => {
      const { marks, request: before } = ledger.state(destinationId, number) ?? { marks: [] };
      const deliveries = owned(names.deliveries, number);
      // A retry topic may lack a partition for some time.
      const parts = tiers.flatMap((topic) => {
        const part = owned(topic, number);
        return part ? new Part(topic, part, ends.get(topic)?.get(number) ?? 0, marks) : [];
      });
      const counted = before && before.id === request?.id ? before.count : 0;
      return deliveries ? [{ number, owned: deliveries, parts, marks, counted }] : [];
    });
    recall.open(partitions, takeDelayed(destinationId));
  }

  #endsOf({ request, readsPaused }: RecallSpec): Promise<Ends> {
    if (request) return findEndsOf(this.#deps, request);
    // A shared result may lack the deliveries of a short pause.
    if (readsPaused) return findEnds(this.#deps);
    // Many receivers may recover at the same moment.
    const now = performance.now();
    if (!this.#ends || now - this.#ends.begunAt >= shareMs) {
      this.#ends = { begunAt: now, found: findEnds(this.#deps) };
    }
    return this.#ends.found;
  }

  /** The partition numbers that this replica owns. */
  #partitions(): number[] {
    const { assigned, names } = this.#deps;
    return assigned().flatMap(({ topic, partition }) => (topic === names.deliveries ? [partition] : []));
  }

  #tick(): void {
    this.#ticks += 1;
    for (const recall of this.#running.values()) {
      recall.tick();
      if (this.#ticks % publishEveryTicks === 0 && recall.takeChange()) void this.#publish(recall);
    }
    if (this.#ticks % pruneEveryTicks === 0) this.#prune();
  }

  async #publish(recall: Recall): Promise<void> {
    const { ledger } = this.#deps;
    const partitions = recall.partitions.filter(({ owned }) => !owned.revoked);
    const put = partitions.map(async (partition) => {
      const { destinationId } = recall.spec;
      const before = ledger.state(destinationId, partition.number);
      const state = recall.stateOf(partition);
      // A recall after a recovery keeps the progress of the last request.
      const request = state.request ?? before?.request;
      if (before || request || state.marks.length > 0)
        await ledger.put({ ...state, request }, partition.owned);
    });
    await Promise.all(put);
  }

  #ended(recall: Recall): void {
    const { destinationId, kind, request, readsPaused } = recall.spec;
    void this.#publish(recall);
    this.#running.delete(destinationId);
    this.#passes.remove(recall);
    // Meanwhile it was resumed again, or deliveries were found that this recall did not cover.
    const resumed = this.#resumed.get(destinationId);
    if (resumed !== 'now') this.#endedAt.set(destinationId, performance.now());
    // The deliveries of a stopped recall are still pending.
    if (recall.wasStopped) this.#failed.add(destinationId);
    if (recall.wasStopped && readsPaused && !resumed) this.#resumed.set(destinationId, 'later');
    const { count } = recall;
    if (count > 0 || request) {
      this.#deps.log.info({ destinationId, kind, count, request: request?.id }, 'recall ended');
    }
    this.#consider(destinationId);
    if (resumed) this.recovered(destinationId);
  }

  /** Removes marks below the offset that the group has committed. */
  #prune(): void {
    const { ledger, owned, names } = this.#deps;
    for (const number of this.#partitions()) {
      const deliveries = owned(names.deliveries, number);
      if (!deliveries) continue;
      for (const state of ledger.states(number)) {
        const marks = state.marks.filter(({ topic, end }) => end > (owned(topic, number)?.committable ?? 0));
        const isRunning = this.#running.has(state.destinationId);
        if (isRunning || marks.length === state.marks.length) continue;
        void ledger.put({ ...state, marks }, deliveries);
      }
    }
  }
}

function specOf(request: RecallRequest): RecallSpec {
  const { destinationId, kind } = request;
  return { destinationId, kind, readsPaused: true, request };
}

function headerOf({ headers = {} }: OutgoingRecord, name: string): string | undefined {
  const list = Symbol.iterator in headers ? headers : Object.entries(headers);
  return list.find(([other]) => other === name)?.[1]?.toString();
}
