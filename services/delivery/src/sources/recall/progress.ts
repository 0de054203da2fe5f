/** The progress of one recall in its partitions: which records were dispatched, are finished, or are left to do. */
import type { ConsumedRecord, Work } from '@tailrace/kafka';
import type { RecallKind } from '@tailrace/records';
import type { Received } from '../../delivery.ts';
import { OrderedEntries } from './ordered.ts';
import { marksOf, type Entry, type Part, type RecalledPartition } from './part.ts';

/** Ordered deliveries in memory for one recall, and their bodies. */
const mostOrdered = { records: 2_000, bytes: 4 * 2 ** 20 };

type Place = Pick<Work, 'topic' | 'partition' | 'offset'>;

export class Progress {
  readonly #kind: RecallKind;
  #partitions: readonly RecalledPartition[] = [];
  readonly #ordered = new Map<number, OrderedEntries>();
  readonly #counts = new Map<number, number>();
  /** When the first delivery was dispatched or ended that is in the state being published, and that is in the next one. */
  readonly #unpublished = { inThis: Infinity, inNext: performance.now() };

  constructor(kind: RecallKind) {
    this.#kind = kind;
  }

  open(partitions: readonly RecalledPartition[]): void {
    this.#partitions = partitions;
    const limits = {
      records: mostOrdered.records / partitions.length,
      bytes: mostOrdered.bytes / partitions.length,
    };
    for (const { number, counted } of partitions) {
      this.#counts.set(number, counted);
      this.#ordered.set(number, new OrderedEntries(limits));
    }
  }

  get partitions(): readonly RecalledPartition[] {
    return this.#partitions;
  }

  get #parts(): readonly Part[] {
    return this.#partitions.flatMap(({ parts }) => parts);
  }

  /** The dispatched deliveries, including those of earlier owners for the same request. */
  get count(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  get isRead(): boolean {
    return this.#partitions.every(({ parts }) => parts.every(({ isRead }) => isRead));
  }

  partOf({ topic, partition }: Pick<Work, 'topic' | 'partition'>): Part | undefined {
    const found = this.#partitions.find(({ number }) => number === partition);
    return found?.parts.find((part) => part.topic === topic);
  }

  orderedOf(partition: number): OrderedEntries {
    const ordered = this.#ordered.get(partition);
    if (!ordered) throw new Error(`partition ${partition} is not recalled`);
    return ordered;
  }

  get allOrdered(): Iterable<OrderedEntries> {
    return this.#ordered.values();
  }

  /** Whether the delivery is dispatched in order. Drained deliveries are not. */
  isInOrder(sequence: number | undefined): boolean {
    return sequence !== undefined && this.#kind === 'retry';
  }

  /** Whether a record that is not in memory was dispatched, and so is finished. */
  wasDispatched(part: Part, { offset, partition }: Place, sequence: number | undefined): boolean {
    if (part.wasLeft(offset)) return false;
    if (!this.isInOrder(sequence)) return offset < part.scannedTo;
    return (sequence ?? 0) <= this.orderedOf(partition).dispatchedTo;
  }

  /** Whether nothing is to be done about a record: it belongs to the group, is in memory, or is finished. */
  isKnown(part: Part, record: ConsumedRecord): boolean {
    const { offset } = record;
    if (offset < part.owned.next || part.entries.has(offset)) return true;
    const sequence = record.headers['sequence'];
    return this.wasDispatched(part, record, sequence && Number(sequence.toString()));
  }

  /** Whether the record was dispatched by this recall, and is finished. */
  isFinished(place: Place, sequence: number | undefined): boolean {
    const part = this.partOf(place);
    if (!part?.covers(place.offset) || part.entries.has(place.offset)) return false;
    return place.offset >= part.owned.next && this.wasDispatched(part, place, sequence);
  }

  /** How long there has been something that no published state contains; negative where all is published. */
  get unpublishedMs(): number {
    return performance.now() - Math.min(this.#unpublished.inThis, this.#unpublished.inNext);
  }

  /** Calls `publish`, which publishes the state, where it has changed. One call at a time. */
  async publish(publish: () => Promise<void>): Promise<void> {
    const unpublished = this.#unpublished;
    if (unpublished.inThis !== Infinity || unpublished.inNext === Infinity) return;
    unpublished.inThis = unpublished.inNext;
    unpublished.inNext = Infinity;
    await publish();
    unpublished.inThis = Infinity;
  }

  #changed(): void {
    this.#unpublished.inNext = Math.min(this.#unpublished.inNext, performance.now());
  }

  topicRead(topic: string): void {
    for (const part of this.#parts) if (part.topic === topic && !part.isRead) part.readUpTo(part.end);
  }

  /** Returns the next entry of its key, where it is ordered. */
  ended(entry: Entry): Entry | undefined {
    this.#changed();
    return this.orderedOf(entry.partition).next(entry);
  }

  /** Leaves what is not in flight in its retry topic. Returns the jobs that the group has read. */
  leaveAll(): readonly Received[] {
    const jobs: Received[] = [];
    for (const part of this.#parts) {
      for (const entry of part.entries.values()) {
        if (entry.isInFlight) continue;
        part.leave(entry);
        const job = entry.original();
        if (job && !job.work.revoked) jobs.push(job);
      }
    }
    for (const ordered of this.allOrdered) ordered.clear();
    return jobs;
  }

  /**
   * Removes the entries of revoked partitions. `isTopicLost` says whether a retry topic was deleted and created again while
   * its partition of `deliveries` stayed.
   */
  takeRevoked(): { readonly entries: readonly Entry[]; readonly isTopicLost: boolean } {
    let isTopicLost = false;
    const entries = this.#partitions.flatMap(({ number, parts, owned }) => {
      const revoked = parts.filter((part) => owned.revoked || part.owned.revoked);
      isTopicLost ||= revoked.length > 0 && !owned.revoked;
      const taken = revoked.flatMap((part) => [...part.entries.values()]);
      for (const { part, offset } of taken) part.entries.delete(offset);
      if (taken.length > 0) this.orderedOf(number).clear();
      return taken;
    });
    return { entries, isTopicLost };
  }

  dispatched({ partition, job }: Entry): void {
    this.#changed();
    this.#counts.set(partition, (this.#counts.get(partition) ?? 0) + 1);
    const { sequence } = job.delivery;
    if (!this.isInOrder(sequence)) return;
    const ordered = this.orderedOf(partition);
    ordered.dispatchedTo = Math.max(ordered.dispatchedTo, sequence ?? 0);
  }

  /** The deliveries dispatched in this partition, and the marks of its finished records. */
  of(partition: RecalledPartition, isDone: boolean, now: number) {
    const { number, counted } = partition;
    const through = this.#kind === 'drain' || isDone ? null : this.orderedOf(number).dispatchedTo;
    return {
      count: this.#counts.get(number) ?? counted,
      marks: marksOf(partition, through, isDone, now),
    };
  }

  /** Prepares the next pass, for ordered deliveries that did not fit into memory. Returns whether there are any. */
  beginAgain(): boolean {
    let isLeft = false;
    for (const { number, parts } of this.#partitions) {
      const ordered = this.orderedOf(number);
      if (ordered.isWaiting) isLeft = true;
      if (!ordered.beginAgain()) continue;
      for (const part of parts) {
        if (part.firstPostponed < part.end) {
          isLeft = true;
          part.readTo = part.firstPostponed;
        }
        part.firstPostponed = Infinity;
      }
    }
    return isLeft;
  }
}
