/**
 * Recalls: what waits for a destination in the tiers is brought forward when its receiver is up again, or when an operator
 * asks for it; or it is ended. The replica that owns a partition does so for its own part of it, with what it reads beside
 * the group, so that nothing is copied: a record that was brought forward is dropped when the group comes to it. What was
 * is said in the topic `recalls` (ledger.ts), for the next owner.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError } from '@tailrace/errors';
import {
  type Consumption,
  type ConsumedRecord,
  type Kafka,
  type OutgoingRecord,
  type Publisher,
} from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { RecallRequest, TopicNames } from '@tailrace/topics';
import type { Job } from '../successors.ts';
import { Budget } from './budget.ts';
import type { Ledger } from './ledger.ts';
import { Part, type RecalledPartition } from './part.ts';
import { readTiers } from './pass.ts';
import { Recall, type RecallOrder } from './recall.ts';

export { openLedger, type Ledger } from './ledger.ts';

/** What main.ts has for it. */
export interface RecallSources {
  readonly ledger: Ledger;
  /** The topics of all tiers that are read. */
  readonly tiers: readonly string[];
  readonly offsetsAt: Kafka['offsetsAt'];
  readonly unfinished: Consumption['unfinished'];
  readonly owned: Consumption['owned'];
  /** Those that this replica owns. */
  readonly assigned: () => readonly { readonly topic: string; readonly partition: number }[];
}

export interface RecallsDependencies extends RecallSources {
  readonly names: TopicNames;
  /** Sends it to its lane, as if it were due. */
  readonly retry: (job: Job) => void;
  /** Makes it a dead letter. */
  readonly drain: (job: Job) => void;
  /** Takes what waits for a destination out of the waiting room. */
  readonly takeWaiting: (destinationId: string) => Job[];
  /** Puts one back there. */
  readonly giveBack: (job: Job) => void;
  /** A record of a tier as a delivery; undefined where it is none. */
  readonly delivery: (record: ConsumedRecord) => Job['delivery'] | undefined;
  /** Whether nothing would be sent now: the breakers of all its URLs are open, or the destination is off. */
  readonly isDown: (job: Job) => boolean;
  /** Whether the lane of its destination has room for it, so that it is not deferred into a tier again. */
  readonly hasRoom: (job: Job) => boolean;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly now: () => number;
}

const tickMs = 250;
/** So often others are told how far a recall is. */
const publishEveryTicks = 4;
const pruneEveryTicks = 120;
/** At the same time; each reads the tiers, with up to 8 MB on the way. */
const mostPasses = 3;
const mostInPass = 100;
/** Between two recalls that nobody asked for. */
const pauseMs = 10_000;
const shareMs = 1_000;
const retryPauseMs = 1_000;
const locatePauseMs = 100;
/** Those have a time of their own, and say nothing of the receiver. */
const waitsForItsTurn: readonly (string | undefined)[] = ['lane-full', 'behind'];

type Ends = ReadonlyMap<string, ReadonlyMap<number, number>>;

export class Recalls {
  readonly #deps: RecallsDependencies;
  readonly #tiers: ReadonlySet<string>;
  readonly #budget = new Budget();
  readonly #running = new Map<string, Recall>();
  #unread: Recall[] = [];
  #passes = 0;
  /** Destinations of which something failed since their last recall. */
  readonly #failed = new Set<string>();
  /** When the last recall of a destination ended, since the last rebalance. */
  readonly #endedAt = new Map<string, number>();
  readonly #later = new Map<string, NodeJS.Timeout>();
  /** As they were found last. */
  #ends: { readonly until: number; readonly found: Promise<Ends> } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;
  #stopped = false;

  constructor(dependencies: RecallsDependencies) {
    this.#deps = dependencies;
    this.#tiers = new Set(dependencies.tiers);
  }

  /** The receiver of this destination answers again. Cheap to call often. */
  recovered(destinationId: string): void {
    if (this.#stopped || this.#running.has(destinationId) || this.#later.has(destinationId)) return;
    const endedAt = this.#endedAt.get(destinationId);
    if (endedAt !== undefined && !this.#failed.has(destinationId)) return;
    const pause = endedAt === undefined ? 0 : endedAt + pauseMs - performance.now();
    const timer = setTimeout(() => {
      this.#later.delete(destinationId);
      // Many receivers may be up again at the same moment, and share the look where the tiers end.
      const until = Math.ceil(this.#deps.now() / shareMs) * shareMs;
      this.#begin({ destinationId, kind: 'retry', until }, this.#partitions());
    }, pause);
    this.#later.set(destinationId, timer);
  }

  /** To be asked of each record that was taken from a tier; true where it needs nothing more. */
  take(job: Job): boolean {
    const { work, delivery } = job;
    if (!this.#tiers.has(work.topic)) return false;
    if (this.#deps.ledger.isOver(delivery.destinationId, work, delivery.sequence)) {
      work.done();
      return true;
    }
    return this.#running.get(delivery.destinationId)?.take(job) ?? false;
  }

  /** What was read of a tier beside the group, without what was brought forward and is over. */
  async *notOver(tier: AsyncIterable<readonly ConsumedRecord[]>): AsyncIterable<readonly ConsumedRecord[]> {
    const isOver = (record: ConsumedRecord): boolean => {
      const id = record.headers['destination-id']?.toString() ?? '';
      const sequence = record.headers['sequence'];
      const place = sequence && Number(sequence.toString());
      const running = this.#running.get(id);
      return this.#deps.ledger.isOver(id, record, place) || (running?.finished(record, place) ?? false);
    };
    for await (const records of tier) yield records.filter((record) => !isOver(record));
  }

  /** `publisher`, watched for what is written to the tiers. */
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

  /** To be called when the group begins to share out its partitions: others may own them next. */
  rebalancing(): void {
    for (const recall of this.#running.values()) void this.#publish(recall);
  }

  /** To be called after each rebalance. */
  joined(): void {
    // What waits in partitions that are new here is not known.
    this.#endedAt.clear();
    this.#failed.clear();
    if (this.#stopped) return;
    this.#timer ??= setInterval(() => {
      this.#tick();
    }, tickMs);
    for (const recall of this.#running.values()) recall.tick();
    // It is called by the group as it begins, before anything can be asked of it.
    setTimeout(() => {
      this.#deps.ledger.onRequest = ({ destinationId }) => {
        this.#consider(destinationId);
      };
      for (const { destinationId } of this.#deps.ledger.requests()) this.#consider(destinationId);
    }, tickMs);
  }

  /** Brings nothing forward any more. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#later.values()) clearTimeout(timer);
    for (const recall of this.#running.values()) recall.stop('running');
  }

  /** To be called when what was under way has ended: tells how far it got. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(Array.from(this.#running.values(), (recall) => this.#publish(recall)));
  }

  /** Begins what was asked for and is not done, in partitions that are owned. */
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
    if (!running) this.#begin(orderOf(request), unfinished);
    else if (running.order.request?.id !== request.id) running.stop();
    // Where it runs, this is called again at its end.
  }

  #begin(order: RecallOrder, numbers: readonly number[]): void {
    const { destinationId } = order;
    if (this.#stopped || numbers.length === 0 || this.#running.has(destinationId)) return;
    this.#failed.delete(destinationId);
    const recall: Recall = new Recall(order, {
      ...this.#deps,
      budget: this.#budget,
      dispatch: order.kind === 'drain' ? this.#deps.drain : this.#deps.retry,
      onUnread: () => {
        this.#unread.push(recall);
        this.#readSome();
      },
      onEnd: () => {
        this.#ended(recall);
      },
    });
    this.#running.set(destinationId, recall);
    void this.#open(recall, numbers);
  }

  async #open(recall: Recall, numbers: readonly number[]): Promise<void> {
    const { names, tiers, ledger, owned, takeWaiting } = this.#deps;
    const { destinationId, until, request } = recall.order;
    const ends = await this.#endsAt(until);
    const located = await this.#located(numbers);
    // Nothing may be taken in between.
    const partitions = located.flatMap((number): RecalledPartition[] => {
      const { marks, request: before } = ledger.state(destinationId, number) ?? { marks: [] };
      const held = owned(names.deliveries, number);
      // A tier may lack a partition for a while.
      const parts = tiers.flatMap((topic) => {
        const part = owned(topic, number);
        return part ? new Part(topic, part, ends.get(topic)?.get(number) ?? 0, marks) : [];
      });
      const counted = before && before.id === request?.id ? before.count : 0;
      return held ? [{ number, owned: held, parts, marks, counted }] : [];
    });
    recall.open(partitions, takeWaiting(destinationId));
  }

  /** By tier and partition, where what was written until then ends. */
  #endsAt(until: number): Promise<Ends> {
    if (this.#ends?.until !== until) this.#ends = { until, found: this.#findEnds(until) };
    return this.#ends.found;
  }

  async #findEnds(until: number): Promise<Ends> {
    const { tiers, offsetsAt, log } = this.#deps;
    for (;;) {
      try {
        return new Map(
          await Promise.all(tiers.map(async (topic) => [topic, await offsetsAt(topic, until + 1)] as const)),
        );
      } catch (error) {
        if (!isTailraceError(error)) throw error;
        log.warn({ err: error }, 'could not find where the tiers end; trying again');
        await wait(retryPauseMs, undefined, { ref: false });
      }
    }
  }

  /** Those that are owned, when it is known how far the group is in them. */
  async #located(numbers: readonly number[]): Promise<readonly number[]> {
    const { assigned, owned } = this.#deps;
    for (;;) {
      const mine = this.#partitions();
      const left = this.#stopped ? [] : numbers.filter((number) => mine.includes(number));
      const isLocated = assigned()
        .filter(({ partition }) => left.includes(partition))
        .every(({ topic, partition }) => owned(topic, partition) !== undefined);
      if (isLocated) return left;
      await wait(locatePauseMs, undefined, { ref: false });
    }
  }

  /** The numbers of the partitions that are owned. */
  #partitions(): number[] {
    const { assigned, names } = this.#deps;
    return assigned().flatMap(({ topic, partition }) => (topic === names.deliveries ? [partition] : []));
  }

  #readSome(): void {
    while (this.#passes < mostPasses && !this.#stopped) {
      const [first, ...others] = this.#unread;
      if (!first) return;
      const company = first.alone ? [] : others.filter(({ alone }) => !alone).slice(0, mostInPass - 1);
      const recalls = [first, ...company];
      this.#unread = this.#unread.filter((recall) => !recalls.includes(recall));
      this.#passes += 1;
      void this.#read(recalls);
    }
  }

  async #read(recalls: readonly Recall[]): Promise<void> {
    const { names, unfinished, log } = this.#deps;
    // Others come back by themselves soon.
    const tiers = this.#deps.tiers.toSorted(
      (a, b) => (names.retryTierDelayMs(b) ?? 0) - (names.retryTierDelayMs(a) ?? 0),
    );
    try {
      // What an earlier recall brought forward lies there still, until its time comes.
      const notOver: typeof unfinished = (...part) => this.notOver(unfinished(...part));
      await readTiers({ tiers, unfinished: notOver }, recalls);
    } catch (error) {
      if (!isTailraceError(error)) throw error;
      log.warn({ err: error }, 'could not read what is to be brought forward; trying again');
      await wait(retryPauseMs, undefined, { ref: false });
    }
    this.#passes -= 1;
    if (this.#stopped) return;
    for (const recall of recalls) recall.passed();
    this.#readSome();
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
      const { destinationId } = recall.order;
      const before = ledger.state(destinationId, partition.number);
      const state = recall.stateOf(partition);
      // One that nobody asked for leaves what is known of the last request.
      const request = state.request ?? before?.request;
      if (before || request || state.marks.length > 0)
        await ledger.put({ ...state, request }, partition.owned);
    });
    await Promise.all(put);
  }

  #ended(recall: Recall): void {
    const { destinationId, kind, request } = recall.order;
    void this.#publish(recall);
    this.#running.delete(destinationId);
    this.#unread = this.#unread.filter((other) => other !== recall);
    this.#endedAt.set(destinationId, performance.now());
    // What it was to bring forward waits still.
    if (recall.wasStopped) this.#failed.add(destinationId);
    const { count } = recall;
    if (count > 0 || request) {
      this.#deps.log.info({ destinationId, kind, count, request: request?.id }, 'recall ended');
    }
    this.#consider(destinationId);
  }

  /** Forgets marks that the group has passed. */
  #prune(): void {
    const { ledger, owned, names } = this.#deps;
    for (const number of this.#partitions()) {
      const hold = owned(names.deliveries, number);
      if (!hold) continue;
      for (const state of ledger.states(number)) {
        const marks = state.marks.filter(({ topic, end }) => end > (owned(topic, number)?.committable ?? 0));
        const isRunning = this.#running.has(state.destinationId);
        if (isRunning || marks.length === state.marks.length) continue;
        void ledger.put({ ...state, marks }, hold);
      }
    }
  }
}

function orderOf(request: RecallRequest): RecallOrder {
  const { destinationId, kind, requestedAt } = request;
  return { destinationId, kind, until: Date.parse(requestedAt), request };
}

function headerOf({ headers = {} }: OutgoingRecord, name: string): string | undefined {
  const list = Symbol.iterator in headers ? headers : Object.entries(headers);
  return list.find(([other]) => other === name)?.[1]?.toString();
}
