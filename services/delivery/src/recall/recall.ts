/**
 * The recall of one destination: what waits for it in the tiers of some partitions is dispatched now instead of when it is
 * due. What the group has read ahead comes first. The rest is read beside the group (pass.ts), and dispatched as there is
 * room; when the group comes to it, it is over, or its work is finished together with ours.
 *
 * Ordered deliveries are dispatched in the order of their sequences. So all tiers are read before the first of them is
 * sent, and the lowest sequences that fit in memory are kept; then they are read again for the next.
 */
import type { ConsumedRecord, Work } from '@tailrace/kafka';
import type { RecallKind, RecallProgress, RecallRequest, RecallState } from '@tailrace/topics';
import type { Job } from '../successors.ts';
import type { Budget } from './budget.ts';
import { Ordering } from './ordering.ts';
import { Entry, marksOf, type Part, type RecalledPartition } from './part.ts';

export interface RecallOrder {
  readonly destinationId: string;
  readonly kind: RecallKind;
  /** What was written to a tier later stays there; milliseconds since the epoch. */
  readonly until: number;
  /** What an operator asked for. */
  readonly request?: RecallRequest | undefined;
}

export interface RecallDependencies {
  readonly budget: Budget;
  readonly dispatch: (job: Job) => void;
  /** Lets it wait for its time again. */
  readonly giveBack: (job: Job) => void;
  /** A record of a tier as a job; undefined where it is no delivery. */
  readonly delivery: (record: ConsumedRecord) => Job['delivery'] | undefined;
  /** Whether nothing would be sent to its receiver now. */
  readonly isDown: (job: Job) => boolean;
  /** Whether its lane has room for it. */
  readonly hasRoom: (job: Job) => boolean;
  readonly now: () => number;
  /** It is to be read (again). */
  readonly onUnread: () => void;
  readonly onEnd: () => void;
}

/** How long the others of a pass wait for one that has no room. */
const patienceMs = 5_000;
/** An operator may know of a recovery before a probe does, which is sent once a minute at least. */
const downPatienceMs = 120_000;
/** Ordered deliveries that are kept for one recall, and their bodies. */
const mostOrdered = { records: 2_000, bytes: 4 * 2 ** 20 };

export class Recall {
  readonly order: RecallOrder;
  readonly #deps: RecallDependencies;
  #partitions: readonly RecalledPartition[] = [];
  readonly #orderings = new Map<number, Ordering>();
  readonly #counts = new Map<number, number>();
  /** To be dispatched, in this order. */
  #queue: Entry[] = [];
  #underWay = 0;
  /** Whether it has to be read by itself, not to hold up others. */
  alone = false;
  #isRead = false;
  #endsAs: RecallProgress['state'] = 'done';
  /** Nothing is dispatched any more; what is under way may end. */
  #stopping = false;
  #state: RecallProgress['state'] = 'running';
  #isOver = false;
  #hasChanged = true;
  #downSince: number | undefined;
  /** What is to be dispatched first when the receiver is up. Until then nothing is read. */
  #suspended: Entry | undefined;
  #wake: (() => void)[] = [];

  constructor(order: RecallOrder, dependencies: RecallDependencies) {
    this.order = order;
    this.#deps = dependencies;
  }

  get partitions(): readonly RecalledPartition[] {
    return this.#partitions;
  }

  /** Whether there is something to be told since this was asked last. */
  takeChange(): boolean {
    const hasChanged = this.#hasChanged;
    this.#hasChanged = false;
    return hasChanged;
  }

  get count(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** @param ahead what the group has read ahead for this destination */
  open(partitions: readonly RecalledPartition[], ahead: readonly Job[]): void {
    if (this.#stopping) {
      for (const job of ahead) this.#deps.giveBack(job);
      this.#settle();
      return;
    }
    this.#partitions = partitions;
    const limits = {
      records: mostOrdered.records / partitions.length,
      bytes: mostOrdered.bytes / partitions.length,
    };
    for (const { number, counted } of partitions) {
      this.#counts.set(number, counted);
      this.#orderings.set(number, new Ordering(limits));
    }
    for (const job of ahead) {
      const part = this.#partOf(job.work);
      // What was written to a tier since is left where it is, and so is what belongs to other partitions.
      if (part && !job.work.revoked && job.work.offset < part.end) this.#keep(part, job);
      else this.#deps.giveBack(job);
    }
    this.#deps.onUnread();
  }

  /** Takes over what the group has read; false where it is none of its business. */
  take(job: Job): boolean {
    const { work } = job;
    const part = this.#partOf(work);
    if (!part?.holds(work.offset)) return false;
    const entry = part.entries.get(work.offset);
    if (entry) entry.real = work;
    else if (this.#wasDispatched(part, work, job.delivery.sequence)) work.done();
    else if (this.#stopping) return false;
    else this.#keep(part, job);
    return true;
  }

  /** Whether the record was dispatched here, and is over. */
  finished(record: Pick<Work, 'topic' | 'partition' | 'offset'>, sequence: number | undefined): boolean {
    const part = this.#partOf(record);
    if (!part?.holds(record.offset) || part.entries.has(record.offset)) return false;
    return record.offset >= part.owned.next && this.#wasDispatched(part, record, sequence);
  }

  /** Takes the next record of a pass when there is room; false where it is to be read later, from here on. */
  async offer(record: ConsumedRecord): Promise<boolean> {
    if (this.#stopping) return false;
    const part = this.#partOf(record);
    const { offset } = record;
    if (!part?.holds(offset) || offset < part.readTo) return true;
    if (!this.#isKnown(part, record)) {
      const delivery = this.#deps.delivery(record);
      const entry = delivery && this.#entryOf(part, record, delivery);
      if (entry && this.#isInOrder(entry.job.delivery.sequence)) {
        if (!this.alone) {
          // It needs memory that few at a time may have.
          this.alone = true;
          return false;
        }
        part.entries.set(offset, entry);
        this.#orderingOf(entry.partition).collect(entry);
      } else if (entry) {
        if (!(await this.#room(entry))) return false;
        // The group may have come to it meanwhile.
        if (!this.#isKnown(part, record) && !entry.revoked) this.#dispatch(entry);
      }
    }
    part.readUpTo(offset + 1);
    return true;
  }

  /** The pass has come to the end of a topic. */
  wasRead(topic: string): void {
    // It may have been ended for that.
    if (this.#stopping) return;
    for (const { parts } of this.#partitions) {
      for (const part of parts) if (part.topic === topic && !part.isRead) part.readUpTo(part.end);
    }
  }

  /** The pass is over. */
  passed(): void {
    if (!this.#stopping && !this.#partitions.every(({ parts }) => parts.every(({ isRead }) => isRead))) {
      if (!this.#suspended) this.#deps.onUnread();
      return;
    }
    this.#isRead = true;
    for (const ordering of this.#orderings.values()) this.#queue.push(...ordering.begin());
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

  /** Whether it was broken off because its receiver was down. */
  get wasStopped(): boolean {
    return this.#endsAs === 'stopped';
  }

  /**
   * Dispatches nothing any more. What is under way ends as it does.
   *
   * @param state what is told of it: `running` where the next owner is to continue
   */
  stop(state: 'running' | 'stopped' = 'stopped'): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#endsAs = state;
    for (const part of this.#partitions.flatMap(({ parts }) => parts)) {
      for (const entry of part.entries.values()) {
        if (entry.isUnderWay) continue;
        part.leave(entry);
        const job = entry.original();
        if (job && !job.work.revoked) this.#deps.giveBack(job);
      }
    }
    this.#queue = [];
    for (const ordering of this.#orderings.values()) ordering.clear();
    this.#wakeAll();
    if (this.#partitions.length > 0) this.#settle();
  }

  /** What is to be known of a partition that is owned, should another replica own it next. */
  stateOf(partition: RecalledPartition): RecallState {
    const { number, counted } = partition;
    const { destinationId, kind, request } = this.order;
    const isDone = this.#state === 'done';
    const through = kind === 'drain' || isDone ? null : this.#orderingOf(number).dispatchedTo;
    const count = this.#counts.get(number) ?? counted;
    return {
      ...{ destinationId, partition: number },
      marks: marksOf(partition, through, isDone, this.#deps.now()),
      ...(request && { request: { id: request.id, state: this.#state, count } }),
    };
  }

  #partOf({ topic, partition }: Pick<Work, 'topic' | 'partition'>): Part | undefined {
    const found = this.#partitions.find(({ number }) => number === partition);
    return found?.parts.find((part) => part.topic === topic);
  }

  #orderingOf(partition: number): Ordering {
    const ordering = this.#orderings.get(partition);
    if (!ordering) throw new Error(`partition ${partition} is not recalled`);
    return ordering;
  }

  #entryOf(part: Part, place: Pick<Work, 'offset' | 'partition' | 'timestamp'>, delivery: Job['delivery']) {
    return new Entry(part, place, delivery, this.#deps.now(), (entry) => {
      this.#ended(entry);
    });
  }

  /** Those to be ended go in any order. */
  #isInOrder(sequence: number | undefined): boolean {
    return sequence !== undefined && this.order.kind === 'retry';
  }

  /** Of a record that is not in memory: whether it was dispatched, and so is over. */
  #wasDispatched(
    part: Part,
    { offset, partition }: Pick<Work, 'offset' | 'partition'>,
    sequence: number | undefined,
  ): boolean {
    if (part.wasLeft(offset)) return false;
    if (!this.#isInOrder(sequence)) return offset < part.scannedTo;
    return (sequence ?? 0) <= this.#orderingOf(partition).dispatchedTo;
  }

  /** Whether nothing is to be done about a record that was read: it is the group's, or in memory, or over. */
  #isKnown(part: Part, record: ConsumedRecord): boolean {
    const { offset } = record;
    if (offset < part.owned.next || part.entries.has(offset)) return true;
    const sequence = record.headers['sequence'];
    return this.#wasDispatched(part, record, sequence && Number(sequence.toString()));
  }

  /** Keeps what the group has read until there is room. */
  #keep(part: Part, job: Job): void {
    const entry = this.#entryOf(part, job.work, job.delivery);
    entry.real = job.work;
    part.entries.set(entry.offset, entry);
    if (this.#isInOrder(entry.job.delivery.sequence)) this.#orderingOf(entry.partition).keep(entry);
    else this.#queue.push(entry);
    this.#pump();
  }

  async #room(entry: Entry): Promise<boolean> {
    const giveUpAt = performance.now() + patienceMs;
    while (!this.#stopping) {
      if (entry.revoked || (this.#queue.length === 0 && this.#admits(entry))) return true;
      if (this.#downSince !== undefined) {
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

  #pump(): void {
    for (let entry = this.#queue[0]; entry && this.#admits(entry); entry = this.#queue[0]) {
      this.#queue.shift();
      this.#dispatch(entry);
    }
    this.#wakeAll();
  }

  #admits(entry: Entry): boolean {
    if (this.order.kind === 'retry' && this.#deps.isDown(entry.job)) {
      this.#downSince ??= performance.now();
      const patience = this.order.request ? downPatienceMs : 0;
      if (performance.now() - this.#downSince >= patience)
        setImmediate(() => {
          this.stop();
        });
      return false;
    }
    this.#downSince = undefined;
    if (this.order.kind === 'retry' && !this.#deps.hasRoom(entry.job)) return false;
    return !this.#stopping && this.#deps.budget.hasRoom(this.#underWay, entry.bytes);
  }

  #dispatch(entry: Entry): void {
    entry.part.entries.set(entry.offset, entry);
    entry.part.isTouched ||= entry.offset >= entry.part.from;
    entry.isUnderWay = true;
    this.#underWay += 1;
    this.#hasChanged = true;
    this.#deps.budget.take(entry.bytes);
    this.#counts.set(entry.partition, (this.#counts.get(entry.partition) ?? 0) + 1);
    if (this.#isInOrder(entry.job.delivery.sequence)) {
      const ordering = this.#orderingOf(entry.partition);
      ordering.dispatchedTo = Math.max(ordering.dispatchedTo, entry.job.delivery.sequence ?? 0);
    }
    this.#deps.dispatch(entry.job);
  }

  #ended(entry: Entry): void {
    if (!entry.isUnderWay) return;
    entry.isUnderWay = false;
    this.#underWay -= 1;
    this.#hasChanged = true;
    this.#deps.budget.give(entry.bytes);
    const next = this.#orderingOf(entry.partition).next(entry);
    if (next) this.#queue.push(next);
    this.#pump();
    this.#settle();
  }

  /** Another replica has them now. */
  #forgetRevoked(): void {
    for (const { number, parts, owned } of this.#partitions) {
      const revoked = parts.filter((part) => owned.revoked || part.owned.revoked);
      // A topic that was made again while the partition stayed.
      if (revoked.length > 0 && !owned.revoked) this.stop();
      const entries = revoked.flatMap((part) => [...part.entries.values()]);
      if (entries.length === 0) continue;
      this.#queue = this.#queue.filter((entry) => !entries.includes(entry));
      this.#orderingOf(number).clear();
      for (const entry of entries) {
        entry.part.entries.delete(entry.offset);
        this.#ended(entry);
      }
    }
  }

  #settle(): void {
    if (this.#isOver || this.#underWay > 0) return;
    if (!this.#stopping && (!this.#isRead || this.#queue.length > 0 || this.#readAgain())) return;
    this.#isOver = true;
    this.#state = this.#endsAs;
    this.#deps.onEnd();
  }

  /** Where ordered deliveries are left for which there was no memory. */
  #readAgain(): boolean {
    let isLeft = false;
    for (const { number, parts } of this.#partitions) {
      const ordering = this.#orderingOf(number);
      if (ordering.isWaiting) isLeft = true;
      if (!ordering.beginAgain()) continue;
      for (const part of parts) {
        if (part.firstDeferred < part.end) {
          isLeft = true;
          part.readTo = part.firstDeferred;
        }
        part.firstDeferred = Infinity;
      }
    }
    if (!isLeft) return false;
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
