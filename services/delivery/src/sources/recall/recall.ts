/**
 * The recall of one destination: its deliveries that wait in the retry topics of some partitions are dispatched now instead
 * of when they are due. Deliveries that the group has read ahead come first. The others are read beside the group (passes.ts)
 * and dispatched as capacity permits. When the group reads such a record, it is finished already, or its work is finished
 * together with the recall's.
 *
 * Ordered deliveries are dispatched in the order of their sequences. So all retry topics are read before the first of them
 * is sent, and the lowest sequences that fit into memory are kept; then the topics are read again for the next ones.
 */
import type { ConsumedRecord, Work } from '@tailrace/kafka';
import type { Delivery, RecallProgress, RecallRequest, RecallState } from '@tailrace/records';
import type { Received } from '../../delivery.ts';
import type { Pipeline } from '../../pipeline.ts';
import type { HeaderTimes } from '../../stages/due/header-times.ts';
import { Capacity, type CapacityDependencies, type RecallSpec } from './capacity.ts';
import { Entry, type Part, type RecalledPartition } from './part.ts';
import { Progress } from './progress.ts';

export interface RecallDependencies extends CapacityDependencies {
  readonly pipeline: Pick<Pipeline, 'retry' | 'drain' | 'delay'>;
  readonly times: Pick<HeaderTimes, 'read'>;
  readonly passes: { add(recall: Recall): void };
  /** Nothing is dispatched where the progress has not been published for longer. */
  readonly publishedWithinMs: number;
  readonly now: () => number;
  /** `isLeft` says whether deliveries are still pending, because the recall was stopped. */
  readonly onEnd: (recall: Recall, isLeft: boolean) => void;
}

type Phase =
  /** The ends of the retry topics are being looked for. */
  | { readonly kind: 'locating' }
  /** Waits for a pass, or takes part in one. */
  | { readonly kind: 'reading' }
  /** Is not read further until the receiver has recovered, so that this entry may be dispatched. */
  | { readonly kind: 'suspended'; readonly entry: Entry }
  /** All is read, and is dispatched as capacity permits. */
  | { readonly kind: 'dispatching' }
  /** Dispatches nothing more. Deliveries in flight end normally. */
  | { readonly kind: 'stopping'; readonly as: 'running' | 'stopped' }
  | { readonly kind: 'ended'; readonly as: RecallProgress['state'] };

/** How long the other recalls of a pass wait for one without capacity. */
const patienceMs = 5_000;

export class Recall {
  readonly spec: RecallSpec;
  readonly #deps: RecallDependencies;
  readonly progress: Progress;
  #phase: Phase = { kind: 'locating' };
  /** Whether it shares its passes with others, or needs its own, so that it does not delay others. */
  pass: 'shared' | 'alone' = 'shared';
  /** Entries to be dispatched, in this order. */
  #queue: Entry[] = [];
  readonly #capacity: Capacity;

  constructor(spec: RecallSpec, dependencies: RecallDependencies) {
    this.spec = spec;
    this.#deps = dependencies;
    this.progress = new Progress(spec.kind);
    this.#capacity = new Capacity(spec, dependencies);
  }

  /** The request of an operator. */
  get request(): RecallRequest | undefined {
    return this.spec.cause.kind === 'request' ? this.spec.cause.request : undefined;
  }

  /** @param ahead the deliveries for this destination that the group has read ahead */
  open(partitions: readonly RecalledPartition[], ahead: readonly Received[]): void {
    if (this.#isOver()) {
      for (const job of ahead) this.#deps.pipeline.delay(job);
      this.#settle();
      return;
    }
    this.progress.open(partitions);
    this.#phase = { kind: 'reading' };
    for (const job of ahead) {
      const part = this.progress.partOf(job.work);
      // Later records, and those of other partitions, are not part of this recall.
      if (part && !job.work.revoked && job.work.offset < part.end) this.#keep(part, job);
      else this.#deps.pipeline.delay(job);
    }
    this.#deps.passes.add(this);
  }

  /** Receives a record that the group has read. Returns false where it is not part of this recall. */
  receive(job: Received): boolean {
    const { work } = job;
    const part = this.progress.partOf(work);
    if (!part?.covers(work.offset)) return false;
    const entry = part.entries.get(work.offset);
    if (entry) entry.groupWork = work;
    else if (this.progress.wasDispatched(part, work, job.delivery.sequence)) work.done();
    else if (this.#isOver()) return false;
    else this.#keep(part, job);
    return true;
  }

  /** Takes the next record of a pass when there is capacity. Returns false where it has to be read again later. */
  async offer(record: ConsumedRecord): Promise<boolean> {
    if (this.#isOver()) return false;
    const { progress } = this;
    const part = progress.partOf(record);
    const { offset } = record;
    if (!part?.covers(offset) || offset < part.readTo) return true;
    part.sawTime(record.timestamp);
    if (!progress.isKnown(part, record)) {
      const delivery = this.#deps.times.read(record);
      const entry = typeof delivery === 'string' ? undefined : this.#entryOf(part, record, delivery);
      if (entry && progress.isInOrder(entry.job.delivery.sequence)) {
        if (this.pass === 'shared') {
          // Ordered deliveries need memory, which only few recalls at a time may have.
          this.pass = 'alone';
          return false;
        }
        part.entries.set(offset, entry);
        progress.orderedOf(entry.partition).collect(entry);
      } else if (entry) {
        if (!(await this.#capacityFor(entry))) return false;
        // The group may have read the record meanwhile.
        if (!progress.isKnown(part, record) && !entry.revoked) this.#dispatch(entry);
      }
    }
    part.readUpTo(offset + 1);
    return true;
  }

  /** A pass has reached the end of a topic. */
  topicRead(topic: string): void {
    // A recall that was stopped may be the reason why reading ended.
    if (!this.#isOver()) this.progress.topicRead(topic);
  }

  passEnded(): void {
    if (!this.#isOver()) {
      if (!this.progress.isRead) {
        if (this.#phase.kind === 'reading') this.#deps.passes.add(this);
        return;
      }
      this.#phase = { kind: 'dispatching' };
      for (const ordered of this.progress.allOrdered) this.#queue.push(...ordered.begin());
    }
    this.tick();
  }

  /** Continues where capacity has become free, or partitions were revoked. */
  tick(): void {
    this.#forgetRevoked();
    this.#pump();
    if (this.#phase.kind === 'suspended' && this.#admits(this.#phase.entry)) {
      this.#phase = { kind: 'reading' };
      this.#deps.passes.add(this);
    }
    this.#settle();
  }

  /**
   * Dispatches nothing more. Deliveries in flight end normally.
   *
   * @param as the state that is published: `running` where the next owner has to continue
   */
  stop(as: 'running' | 'stopped' = 'stopped'): void {
    if (this.#isOver()) return;
    this.#phase = { kind: 'stopping', as };
    this.#queue = [];
    for (const job of this.progress.leaveAll()) this.#deps.pipeline.delay(job);
    this.#capacity.wake();
    if (this.progress.partitions.length > 0) this.#settle();
  }

  /** Returns the state of an owned partition for its next owner. */
  stateOf(partition: RecalledPartition): RecallState {
    const { destinationId } = this.spec;
    const { request } = this;
    const state = this.#phase.kind === 'ended' ? this.#phase.as : 'running';
    const { marks, count } = this.progress.of(partition, state === 'done', this.#deps.now());
    return {
      destinationId,
      partition: partition.number,
      marks,
      ...(request && { request: { id: request.id, state, count } }),
    };
  }

  #entryOf(part: Part, place: Pick<Work, 'offset' | 'partition' | 'timestamp'>, delivery: Delivery) {
    return new Entry(part, { place, delivery }, this.#deps.now(), (entry) => this.#ended(entry));
  }

  /** Keeps a delivery that the group has read until there is capacity. */
  #keep(part: Part, job: Received): void {
    part.sawTime(job.work.timestamp);
    const entry = this.#entryOf(part, job.work, job.delivery);
    entry.groupWork = job.work;
    part.entries.set(entry.offset, entry);
    if (this.progress.isInOrder(entry.job.delivery.sequence)) {
      this.progress.orderedOf(entry.partition).keep(entry);
    } else this.#queue.push(entry);
    this.#pump();
  }

  /** Waits for capacity. Resolves with false where the pass should continue without this recall. */
  async #capacityFor(entry: Entry): Promise<boolean> {
    const giveUpAt = performance.now() + patienceMs;
    while (!this.#isOver()) {
      if (entry.revoked || (this.#queue.length === 0 && this.#admits(entry))) return true;
      if (this.#capacity.isBlocked) {
        if (this.#phase.kind === 'reading') this.#phase = { kind: 'suspended', entry };
        return false;
      }
      if (this.pass === 'shared' && performance.now() > giveUpAt) break;
      await this.#capacity.changed();
    }
    this.pass = 'alone';
    return false;
  }

  /** Dispatches what capacity permits. */
  #pump(): void {
    for (let entry = this.#queue[0]; entry && this.#admits(entry); entry = this.#queue[0]) {
      this.#queue.shift();
      this.#dispatch(entry);
    }
    this.#capacity.wake();
  }

  #admits(entry: Entry): boolean {
    if (this.#isOver() || this.progress.unpublishedMs >= this.#deps.publishedWithinMs) return false;
    const isAdmitted = this.#capacity.admits(entry);
    if (this.#capacity.isHopeless) setImmediate(() => this.stop());
    return isAdmitted;
  }

  #dispatch(entry: Entry): void {
    entry.part.entries.set(entry.offset, entry);
    entry.part.isTouched ||= entry.offset >= entry.part.from;
    entry.isInFlight = true;
    this.#capacity.acquire(entry);
    this.progress.dispatched(entry);
    if (this.spec.kind === 'drain') this.#deps.pipeline.drain(entry.job);
    else this.#deps.pipeline.retry(entry.job);
  }

  #ended(entry: Entry): void {
    if (!entry.isInFlight) return;
    entry.isInFlight = false;
    this.#capacity.release(entry);
    const next = this.progress.ended(entry);
    if (next) this.#queue.push(next);
    this.#pump();
    this.#settle();
  }

  /** Removes the entries of revoked partitions. */
  #forgetRevoked(): void {
    const { entries, isTopicLost } = this.progress.takeRevoked();
    if (isTopicLost) this.stop();
    if (entries.length === 0) return;
    const revoked = new Set(entries);
    this.#queue = this.#queue.filter((entry) => !revoked.has(entry));
    for (const entry of entries) this.#ended(entry);
  }

  /** Whether nothing more is dispatched. */
  #isOver(): boolean {
    return this.#phase.kind === 'stopping' || this.#phase.kind === 'ended';
  }

  /** Ends the recall where nothing is left to do. */
  #settle(): void {
    const phase = this.#phase;
    if (phase.kind === 'ended' || this.#capacity.inFlight > 0) return;
    if (phase.kind === 'stopping') this.#end(phase.as);
    else if (phase.kind === 'dispatching' && this.#queue.length === 0 && !this.#readAgain())
      this.#end('done');
  }

  #end(as: RecallProgress['state']): void {
    this.#phase = { kind: 'ended', as };
    this.#deps.onEnd(this, as === 'stopped');
  }

  #readAgain(): boolean {
    if (!this.progress.beginAgain()) return false;
    this.#phase = { kind: 'reading' };
    this.#deps.passes.add(this);
    return true;
  }
}
