/**
 * The watermark of one partition: the offset below which every record is finished, which is the offset to commit. Records
 * are tracked in the order of their offsets and finish in any order.
 *
 * Finished records above the watermark are merged into runs, so memory grows with the unfinished records only.
 *
 * Invariant: `committable` never passes an unfinished record and never decreases.
 */
export class Watermark {
  /** A linked list of unfinished records and finished runs in offset order. The first is the lowest unfinished record. */
  #first: Mark | undefined;
  #last: Mark | undefined;
  #next: number;
  #span = 0;
  #finishedRuns = 0;

  /** @param start the offset of the first record */
  constructor(start: number) {
    this.#next = start;
  }

  /** The offset after the last tracked or skipped record. */
  get next(): number {
    return this.#next;
  }

  /** The number of tracked records that are unfinished, or finished behind an unfinished one. */
  get span(): number {
    return this.#span;
  }

  /** The runs of finished records behind an unfinished one. */
  get finishedRuns(): number {
    return this.#finishedRuns;
  }

  /** The lowest unfinished record. */
  get first(): Mark | undefined {
    return this.#first;
  }

  /** From the lowest unfinished record on: each unfinished record, and each run of finished ones between two of them. */
  *window(): Generator<Mark> {
    for (let mark = this.#first; mark; mark = mark.after) yield mark;
  }

  /** The same, up to the first record behind the last finished run. Where much is read ahead, most records are behind that. */
  *windowToLastFinished(): Generator<Mark> {
    let runsLeft = this.#finishedRuns;
    for (let mark = this.#first; mark; mark = mark.after) {
      yield mark;
      if (runsLeft === 0) return;
      if (mark.finished) runsLeft -= 1;
    }
  }

  /** The offset to commit. */
  get committable(): number {
    return this.#first?.offset ?? this.#next;
  }

  /** Adds the record at `offset` as unfinished. Offsets rise; gaps are compacted or control records. */
  track(offset: number, timestamp = -1): Mark {
    if (offset < this.#next)
      throw new RangeError(`offset ${offset} is below ${this.#next}: offsets must rise`);
    const mark = new Mark(offset, timestamp, this.#last);
    if (this.#last) this.#last.after = mark;
    else this.#first = mark;
    this.#last = mark;
    this.#next = offset + 1;
    this.#span += 1;
    return mark;
  }

  /** Skips offsets that have no record. */
  skipTo(offset: number): void {
    this.#next = Math.max(this.#next, offset);
  }

  finish(mark: Mark): void {
    mark.finished = true;
    const { before, after } = mark;
    if (!before) {
      this.#removeFront(mark);
      return;
    }
    this.#finishedRuns += 1;
    if (after?.finished) this.#merge(mark, after);
    if (before.finished) this.#merge(before, mark);
  }

  /** Removes the lowest record, which has finished, and the finished run behind it. */
  #removeFront(mark: Mark): void {
    const { after } = mark;
    const finished = after?.finished ? mark.records + after.records : mark.records;
    this.#span -= finished;
    if (after?.finished) this.#finishedRuns -= 1;
    this.#first = after?.finished ? after.after : after;
    if (this.#first) this.#first.before = undefined;
    else this.#last = undefined;
  }

  /** Merges two finished runs, of which one follows the other. */
  #merge(run: Mark, next: Mark): void {
    this.#finishedRuns -= 1;
    run.to = next.to;
    run.records += next.records;
    run.after = next.after;
    if (next.after) next.after.before = run;
    else this.#last = run;
  }
}

/** A single unfinished record, or consecutive finished ones. Offsets between two runs have no record. */
export interface Run {
  readonly offset: number;
  /** The offset after the last record. */
  readonly to: number;
  readonly finished: boolean;
}

/** A tracked record. When it is finished, it is the first of a run or is merged into another. */
export class Mark implements Run {
  readonly offset: number;
  /** Of the record. */
  readonly timestamp: number;
  /** When the record is due, for one of a retry topic. */
  dueAt: number | undefined;
  to: number;
  records = 1;
  finished = false;
  before: Mark | undefined;
  after: Mark | undefined;

  constructor(offset: number, timestamp: number, before: Mark | undefined) {
    this.offset = offset;
    this.timestamp = timestamp;
    this.to = offset + 1;
    this.before = before;
  }
}
