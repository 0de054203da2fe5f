/** What a recall knows of one partition of one tier: how far it has read, and which records of it are not over. */
import type { OwnedPartition, Work } from '@tailrace/kafka';
import type { RecallMark } from '@tailrace/topics';
import type { Job } from '../successors.ts';

/** One partition number, in all tiers. */
export interface RecalledPartition {
  readonly number: number;
  /** Of `deliveries`. */
  readonly owned: OwnedPartition;
  readonly parts: readonly Part[];
  /** What earlier recalls left to know. */
  readonly marks: readonly RecallMark[];
  /** What was counted for the same request before. */
  readonly counted: number;
}

/** Of what was known before. */
const mostMarks = 3;

export class Part {
  readonly topic: string;
  readonly owned: OwnedPartition;
  /** The recall is about offsets from `from` up to, and without, `end`; what was handed out before is the group's. */
  readonly from: number;
  readonly end: number;
  /** Offset from which reading continues. */
  readTo: number;
  /** Below this, everything without a place in an order was dispatched, or is the group's. */
  scannedTo: number;
  /** The first record with a place in an order for which there was no memory. */
  firstDeferred = Infinity;
  /** Whether there is something that a later owner would repeat. */
  isTouched: boolean;
  /** By offset: what is not over, as far as it is in memory. */
  readonly entries = new Map<number, Entry>();
  /** Offsets of those that wait for their time again. */
  readonly #left = new Set<number>();

  /** @param marks what is known of its partition */
  constructor(topic: string, owned: OwnedPartition, end: number, marks: readonly RecallMark[]) {
    this.topic = topic;
    this.owned = owned;
    this.from = owned.next;
    this.end = end;
    this.readTo = this.from;
    this.scannedTo = this.from;
    this.isTouched = marks.some((mark) => mark.topic === topic && mark.end > this.from);
  }

  get isRead(): boolean {
    return this.readTo >= this.end || this.owned.revoked;
  }

  holds(offset: number): boolean {
    return offset >= this.from && offset < this.end && !this.owned.revoked;
  }

  readUpTo(offset: number): void {
    this.readTo = offset;
    this.scannedTo = Math.max(this.scannedTo, offset);
  }

  leave(entry: Entry): void {
    this.entries.delete(entry.offset);
    this.#left.add(entry.offset);
  }

  /** It is to be read again. */
  defer({ offset }: Entry): void {
    this.entries.delete(offset);
    this.firstDeferred = Math.min(this.firstDeferred, offset);
  }

  wasLeft(offset: number): boolean {
    return this.#left.has(offset);
  }

  /** Undefined while nothing of it is over, and where another replica may know more. */
  mark(through: number | null, at: number): RecallMark | undefined {
    const { topic, from, end, scannedTo: to } = this;
    if (this.owned.revoked || !this.isTouched) return undefined;
    if (to === from && (through === null || through < 0)) return undefined;
    const open = [...this.entries.keys(), ...this.#left];
    const except = open.filter((offset) => offset >= from && offset < end).sort((a, b) => a - b);
    return { topic, from, end, to, through, except, at };
  }
}

/** One delivery of a recall. It is the work of its job, and finishes the group's own where that came to it meanwhile. */
export class Entry implements Work {
  readonly part: Part;
  readonly offset: number;
  readonly partition: number;
  readonly timestamp: number;
  readonly job: Job;
  /** When it would have been due. */
  readonly dueAt: number;
  /** The group's. */
  real: Work | undefined;
  isUnderWay = false;
  readonly #onDone: (entry: Entry) => void;

  constructor(
    part: Part,
    place: Pick<Work, 'offset' | 'partition' | 'timestamp'>,
    delivery: Job['delivery'],
    now: number,
    onDone: (entry: Entry) => void,
  ) {
    this.part = part;
    this.offset = place.offset;
    this.partition = place.partition;
    this.timestamp = place.timestamp;
    this.dueAt = delivery.dueAt ?? now;
    this.job = { work: this, delivery: { ...delivery, dueAt: Math.min(this.dueAt, now) } };
    this.#onDone = onDone;
  }

  get topic(): string {
    return this.part.topic;
  }

  get revoked(): boolean {
    return this.part.owned.revoked;
  }

  get bytes(): number {
    return this.job.delivery.body.length;
  }

  done(): void {
    if (this.part.entries.get(this.offset) !== this) return;
    this.part.entries.delete(this.offset);
    this.real?.done();
    this.#onDone(this);
  }

  /** As it was before it was recalled; undefined where the group has not read it yet. */
  original(): Job | undefined {
    return this.real && { work: this.real, delivery: { ...this.job.delivery, dueAt: this.dueAt } };
  }
}

/** What is over in a partition, with what was known before: while a recall is not done, its own marks do not say all of it. */
export function marksOf(
  { parts, marks }: RecalledPartition,
  through: number | null,
  isDone: boolean,
  at: number,
): RecallMark[] {
  const own = parts.flatMap((part) => part.mark(through, at) ?? []);
  return isDone ? own : [...marks.slice(-mostMarks * parts.length), ...own];
}
