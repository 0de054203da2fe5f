/**
 * The recall of one destination: its deliveries that wait in the retry topics of some partitions are dispatched now instead
 * of when they are due. Deliveries that the group has read ahead come first. The others are read beside the group (pass.ts)
 * and dispatched as capacity permits. When the group reads such a record, it is finished already, or its work is finished
 * together with the recall's.
 *
 * Ordered deliveries are dispatched in the order of their sequences. So all retry topics are read before the first of them
 * is sent, and the lowest sequences that fit into memory are kept; then the topics are read again for the next ones.
 */
import type { ConsumedRecord, Work } from '@tailrace/kafka';
import type { RecallKind, RecallProgress, RecallRequest, RecallState } from '@tailrace/topics';
import type { Job } from '../job.ts';
import type { Budget } from './budget.ts';
import { Entry, type Part, type RecalledPartition } from './part.ts';
import { Progress } from './progress.ts';

export interface RecallSpec {
  readonly destinationId: string;
  readonly kind: RecallKind;
  /** Whether the deliveries that waited while the destination was paused are recalled too. */
  readonly readsPaused: boolean;
  /** The request of an operator; undefined for a recall after a recovery. */
  readonly request?: RecallRequest | undefined;
}

export interface RecallDependencies {
  readonly budget: Budget;
  readonly dispatch: (job: Job) => void;
  /** Lets a delivery wait for its due time again. */
  readonly delay: (job: Job) => void;
  /** Decodes a record of a retry topic; undefined where it is not a delivery. */
  readonly delivery: (record: ConsumedRecord) => Job['delivery'] | undefined;
  /** Whether nothing would be sent to its receiver now. */
  readonly isBlocked: (job: Job) => boolean;
  /** Whether nothing new may be started, because it could not be committed. */
  readonly isHeld: () => boolean;
  /** Whether its lane has capacity for it. */
  readonly hasCapacity: (job: Job) => boolean;
  readonly now: () => number;
  /** Called when the recall needs a pass, or another one. */
  readonly onUnread: () => void;
  readonly onEnd: () => void;
}

/** How long the other recalls of a pass wait for one without capacity. */
const patienceMs = 5_000;
/** An operator may know of a recovery before the next probe, which is sent at least once a minute. */
const blockedPatienceMs = 120_000;

export class Recall {
  readonly spec: RecallSpec;
  readonly #deps: RecallDependencies;
  readonly #progress: Progress;
  /** Entries to be dispatched, in this order. */
  #queue: Entry[] = [];
  #inFlight = 0;
  /** Whether it needs a pass of its own, so that it does not delay others. */
  alone = false;
  #isRead = false;
  #endsAs: RecallProgress['state'] = 'done';
  /** Nothing more is dispatched; deliveries in flight may end. */
  #stopping = false;
  #state: RecallProgress['state'] = 'running';
  #hasEnded = false;
  #hasChanged = true;
  #blockedSince: number | undefined;
  /** The entry for which reading is suspended until the receiver has recovered. */
  #suspended: Entry | undefined;
  #wake: (() => void)[] = [];

  constructor(spec: RecallSpec, dependencies: RecallDependencies) {
    this.spec = spec;
    this.#deps = dependencies;
    this.#progress = new Progress(spec.kind);
  }

  get partitions(): readonly RecalledPartition[] {
    return this.#progress.partitions;
  }

  /** The number of dispatched deliveries. */
  get count(): number {
    return this.#progress.count;
  }

  /** Returns whether the state has changed since the last call. */
  takeChange(): boolean {
    const hasChanged = this.#hasChanged;
    this.#hasChanged = false;
    return hasChanged;
  }

  /** @param ahead the deliveries for this destination that the group has read ahead */
  open(partitions: readonly RecalledPartition[], ahead: readonly Job[]): void {
    if (this.#stopping) {
      for (const job of ahead) this.#deps.delay(job);
      this.#settle();
      return;
    }
    this.#progress.open(partitions);
    for (const job of ahead) {
      const part = this.#progress.partOf(job.work);
      // Later records, and those of other partitions, are not part of this recall.
      if (part && !job.work.revoked && job.work.offset < part.end) this.#keep(part, job);
      else this.#deps.delay(job);
    }
    this.#deps.onUnread();
  }

  /** Receives a record that the group has read. Returns false where it is not part of this recall. */
  receive(job: Job): boolean {
    const { work } = job;
    const part = this.#progress.partOf(work);
    if (!part?.covers(work.offset)) return false;
    const entry = part.entries.get(work.offset);
    if (entry) entry.groupWork = work;
    else if (this.#progress.wasDispatched(part, work, job.delivery.sequence)) work.done();
    else if (this.#stopping) return false;
    else this.#keep(part, job);
    return true;
  }

  /** Whether the recall has dispatched the record, and it is finished. */
  isFinished(record: Pick<Work, 'topic' | 'partition' | 'offset'>, sequence: number | undefined): boolean {
    const part = this.#progress.partOf(record);
    if (!part?.covers(record.offset) || part.entries.has(record.offset)) return false;
    return record.offset >= part.owned.next && this.#progress.wasDispatched(part, record, sequence);
  }

  /** Takes the next record of a pass when there is capacity. Returns false where it has to be read again later. */
  async offer(record: ConsumedRecord): Promise<boolean> {
    if (this.#stopping) return false;
    const progress = this.#progress;
    const part = progress.partOf(record);
    const { offset } = record;
    if (!part?.covers(offset) || offset < part.readTo) return true;
    part.sawTime(record.timestamp);
    if (!progress.isKnown(part, record)) {
      const delivery = this.#deps.delivery(record);
      const entry = delivery && this.#entryOf(part, record, delivery);
      if (entry && progress.isInOrder(entry.job.delivery.sequence)) {
        if (!this.alone) {
          // Ordered deliveries need memory, which only few recalls at a time may have.
          this.alone = true;
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

  /** To be called when a pass has reached the end of a topic. */
  topicRead(topic: string): void {
    // A recall that was stopped may be the reason why reading ended.
    if (this.#stopping) return;
    for (const part of this.#progress.parts) {
      if (part.topic === topic && !part.isRead) part.readUpTo(part.end);
    }
  }

  /** To be called when a pass is over. */
  passEnded(): void {
    if (!this.#stopping && !this.#progress.isRead) {
      if (!this.#suspended) this.#deps.onUnread();
      return;
    }
    this.#isRead = true;
    for (const ordered of this.#progress.allOrdered) this.#queue.push(...ordered.begin());
    this.tick();
  }

  /** To be called several times a second. */
  tick(): void {
    this.#forgetRevoked();
    this.#pump();
    if (this.#suspended && this.#admits(this.#suspended)) {
      this.#suspended = undefined;
      this.#deps.onUnread();
    }
    this.#settle();
  }

  /** Whether it was stopped because its receiver was down. */
  get wasStopped(): boolean {
    return this.#endsAs === 'stopped';
  }

  /**
   * Dispatches nothing more. Deliveries in flight end normally.
   *
   * @param state the state that is published: `running` where the next owner has to continue
   */
  stop(state: 'running' | 'stopped' = 'stopped'): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#endsAs = state;
    for (const part of this.#progress.parts) {
      for (const entry of part.entries.values()) {
        if (entry.isInFlight) continue;
        part.leave(entry);
        const job = entry.original();
        if (job && !job.work.revoked) this.#deps.delay(job);
      }
    }
    this.#queue = [];
    for (const ordered of this.#progress.allOrdered) ordered.clear();
    this.#wakeAll();
    if (this.partitions.length > 0) this.#settle();
  }

  /** Returns the state of an owned partition for its next owner. */
  stateOf(partition: RecalledPartition): RecallState {
    const { destinationId, request } = this.spec;
    const { marks, count } = this.#progress.of(partition, this.#state === 'done', this.#deps.now());
    return {
      destinationId,
      partition: partition.number,
      marks,
      ...(request && { request: { id: request.id, state: this.#state, count } }),
    };
  }

  #entryOf(part: Part, place: Pick<Work, 'offset' | 'partition' | 'timestamp'>, delivery: Job['delivery']) {
    return new Entry(part, place, delivery, this.#deps.now(), (entry) => {
      this.#ended(entry);
    });
  }

  /** Keeps a delivery that the group has read until there is capacity. */
  #keep(part: Part, job: Job): void {
    part.sawTime(job.work.timestamp);
    const entry = this.#entryOf(part, job.work, job.delivery);
    entry.groupWork = job.work;
    part.entries.set(entry.offset, entry);
    if (this.#progress.isInOrder(entry.job.delivery.sequence)) {
      this.#progress.orderedOf(entry.partition).keep(entry);
    } else this.#queue.push(entry);
    this.#pump();
  }

  /** Waits for capacity. Resolves with false where the pass should continue without this recall. */
  async #capacityFor(entry: Entry): Promise<boolean> {
    const giveUpAt = performance.now() + patienceMs;
    while (!this.#stopping) {
      if (entry.revoked || (this.#queue.length === 0 && this.#admits(entry))) return true;
      if (this.#blockedSince !== undefined) {
        this.#suspended = entry;
        return false;
      }
      if (!this.alone && performance.now() > giveUpAt) break;
      await new Promise<void>((resolve) => {
        this.#wake.push(resolve);
      });
    }
    this.alone = true;
    return false;
  }

  /** Dispatches what capacity permits. */
  #pump(): void {
    for (let entry = this.#queue[0]; entry && this.#admits(entry); entry = this.#queue[0]) {
      this.#queue.shift();
      this.#dispatch(entry);
    }
    this.#wakeAll();
  }

  #admits(entry: Entry): boolean {
    if (this.#deps.isHeld()) return false;
    if (this.spec.kind === 'retry' && this.#deps.isBlocked(entry.job)) {
      this.#blockedSince ??= performance.now();
      const patience = this.spec.request ? blockedPatienceMs : 0;
      if (performance.now() - this.#blockedSince >= patience)
        setImmediate(() => {
          this.stop();
        });
      return false;
    }
    this.#blockedSince = undefined;
    if (this.spec.kind === 'retry' && !this.#deps.hasCapacity(entry.job)) return false;
    return !this.#stopping && this.#deps.budget.admits(this.#inFlight, entry.bytes);
  }

  #dispatch(entry: Entry): void {
    entry.part.entries.set(entry.offset, entry);
    entry.part.isTouched ||= entry.offset >= entry.part.from;
    entry.isInFlight = true;
    this.#inFlight += 1;
    this.#hasChanged = true;
    this.#deps.budget.acquire(entry.bytes);
    this.#progress.dispatched(entry);
    this.#deps.dispatch(entry.job);
  }

  #ended(entry: Entry): void {
    if (!entry.isInFlight) return;
    entry.isInFlight = false;
    this.#inFlight -= 1;
    this.#hasChanged = true;
    this.#deps.budget.release(entry.bytes);
    const next = this.#progress.orderedOf(entry.partition).next(entry);
    if (next) this.#queue.push(next);
    this.#pump();
    this.#settle();
  }

  /** Removes the entries of revoked partitions. */
  #forgetRevoked(): void {
    for (const { number, parts, owned } of this.partitions) {
      const revoked = parts.filter((part) => owned.revoked || part.owned.revoked);
      // A retry topic was deleted and created again while the partition of `deliveries` stayed.
      if (revoked.length > 0 && !owned.revoked) this.stop();
      const entries = revoked.flatMap((part) => [...part.entries.values()]);
      if (entries.length === 0) continue;
      this.#queue = this.#queue.filter((entry) => !entries.includes(entry));
      this.#progress.orderedOf(number).clear();
      for (const entry of entries) {
        entry.part.entries.delete(entry.offset);
        this.#ended(entry);
      }
    }
  }

  /** Ends the recall where nothing is left to do. */
  #settle(): void {
    if (this.#hasEnded || this.#inFlight > 0) return;
    if (!this.#stopping && (!this.#isRead || this.#queue.length > 0 || this.#readAgain())) return;
    this.#hasEnded = true;
    this.#state = this.#endsAs;
    this.#deps.onEnd();
  }

  #readAgain(): boolean {
    if (!this.#progress.beginAgain()) return false;
    this.#isRead = false;
    this.#deps.onUnread();
    return true;
  }

  #wakeAll(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}
