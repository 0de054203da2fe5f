/** The state of a recall in one partition of one retry topic: how far it was read, and which records are not finished. */
import type { OwnedPartition, Work } from '@tailrace/kafka';
import type { RecallMark } from '@tailrace/records';
import type { Received } from '../../delivery.ts';

/** One partition number, in all retry topics. */
export interface RecalledPartition {
  readonly number: number;
  /** The partition of `deliveries`. */
  readonly owned: OwnedPartition;
  readonly parts: readonly Part[];
  /** The marks of earlier recalls. */
  readonly marks: readonly RecallMark[];
  /** The deliveries that were counted for the same request before. */
  readonly counted: number;
}

/** Marks of earlier recalls that are kept for each part. */
const mostMarks = 3;

export class Part {
  readonly topic: string;
  readonly owned: OwnedPartition;
  /** The recall covers the offsets from `from` to before `end`. The group has received all earlier records. */
  readonly from: number;
  readonly end: number;
  /** The offset from which reading continues. */
  readTo: number;
  /** Below this offset, all records without a sequence were dispatched, or belong to the group. */
  scannedTo: number;
  /** The first ordered record that did not fit into memory. */
  firstPostponed = Infinity;
  /** Whether a mark is needed, because a later owner would repeat deliveries without it. */
  isTouched: boolean;
  /** The latest time of a record that was read, or that an earlier mark covers. The clock that wrote it may be ahead of this one. */
  #latestTime: number;
  /** The unfinished records in memory, by offset. */
  readonly entries = new Map<number, Entry>();
  /** Offsets of records that wait for their due time again. */
  readonly #left = new Set<number>();

  /** @param marks of earlier recalls of the partition */
  constructor(topic: string, owned: OwnedPartition, end: number, marks: readonly RecallMark[]) {
    this.topic = topic;
    this.owned = owned;
    this.from = owned.next;
    this.end = end;
    this.readTo = this.from;
    this.scannedTo = this.from;
    const earlier = marks.filter((mark) => mark.topic === topic);
    this.isTouched = earlier.some((mark) => mark.end > this.from);
    this.#latestTime = Math.max(-Infinity, ...earlier.map(({ at }) => at));
  }

  get isRead(): boolean {
    return this.readTo >= this.end || this.owned.revoked;
  }

  covers(offset: number): boolean {
    return offset >= this.from && offset < this.end && !this.owned.revoked;
  }

  sawTime(timestamp: number): void {
    this.#latestTime = Math.max(this.#latestTime, timestamp);
  }

  readUpTo(offset: number): void {
    this.readTo = offset;
    this.scannedTo = Math.max(this.scannedTo, offset);
  }

  /** Leaves a record in its retry topic, until it is due. */
  leave(entry: Entry): void {
    this.entries.delete(entry.offset);
    this.#left.add(entry.offset);
  }

  /** Drops a record from memory, to be read again. */
  postpone({ offset }: Entry): void {
    this.entries.delete(offset);
    this.firstPostponed = Math.min(this.firstPostponed, offset);
  }

  wasLeft(offset: number): boolean {
    return this.#left.has(offset);
  }

  /** Returns undefined while no record is finished, and for a revoked partition, whose new owner may know more. */
  mark(through: number | null, at: number): RecallMark | undefined {
    const { topic, from, end, scannedTo: to } = this;
    if (this.owned.revoked || !this.isTouched) return undefined;
    if (to === from && (through === null || through < 0)) return undefined;
    const open = [...this.entries.keys(), ...this.#left];
    const except = open.filter((offset) => offset >= from && offset < end).sort((a, b) => a - b);
    return { topic, from, end, to, through, except, at: Math.max(at, this.#latestTime) };
  }
}

/** A delivery, and the place of its record. */
interface Waiting {
  readonly place: Pick<Work, 'offset' | 'partition' | 'timestamp'>;
  readonly delivery: Received['delivery'];
}

/**
 * One delivery of a recall. It is the work of its job, and finishes the group's own work too where the group has read the
 * record meanwhile.
 */
export class Entry implements Work {
  readonly part: Part;
  readonly offset: number;
  readonly partition: number;
  readonly timestamp: number;
  readonly job: Received;
  /** When it would be due without the recall. */
  readonly dueAt: number;
  /** The group's own work for the record. */
  groupWork: Work | undefined;
  isInFlight = false;
  readonly #onDone: (entry: Entry) => void;

  constructor(part: Part, { place, delivery }: Waiting, now: number, onDone: (entry: Entry) => void) {
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

  done(trace?: Promise<unknown>): void {
    if (this.part.entries.get(this.offset) !== this) return;
    this.part.entries.delete(this.offset);
    this.groupWork?.done(trace);
    this.#onDone(this);
  }

  /** Returns the job as it was before the recall; undefined where the group has not read it yet. */
  original(): Received | undefined {
    return this.groupWork && { work: this.groupWork, delivery: { ...this.job.delivery, dueAt: this.dueAt } };
  }
}

/**
 * Returns the marks of the finished records of a partition. The marks of earlier recalls are included until this recall is
 * done, because until then its own marks do not cover all of them. Those in topics that it does not read stay.
 */
export function marksOf(
  { parts, marks }: RecalledPartition,
  through: number | null,
  isDone: boolean,
  at: number,
): RecallMark[] {
  const own = parts.flatMap((part) => part.mark(through, at) ?? []);
  if (!isDone) return [...marks.slice(-mostMarks * Math.max(1, parts.length)), ...own];
  const isRead = ({ topic }: RecallMark): boolean => parts.some((part) => part.topic === topic);
  return [...marks.filter((mark) => !isRead(mark)), ...own];
}
