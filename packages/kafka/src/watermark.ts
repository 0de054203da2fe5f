/**
 * The watermark of one partition: the offset below which everything is finished, and so the only offset that
 * may be committed. Records are handed out in order and finish in any order.
 *
 * Finished records above the watermark are merged into runs, so that memory grows with what is unfinished, and not with
 * what finishes behind it.
 *
 * Invariant: `committable` never passes an unfinished record, and never goes back.
 */
export class Watermark {
  /** A list of unfinished records and finished runs in offset order, from the lowest unfinished one on. */
  #first: Mark | undefined;
  #last: Mark | undefined;
  #next: number;
  #span = 0;

  /** @param start the offset of the first record to be handed out. */
  constructor(start: number) {
    this.#next = start;
  }

  /** The offset after the last record handed out. */
  get next(): number {
    return this.#next;
  }

  /** How many records were handed out and are not finished, or wait behind one that is not. */
  get span(): number {
    return this.#span;
  }

  /** From the lowest unfinished record on: each unfinished one, and the finished ones between two of them as one. */
  *window(): Generator<Run> {
    for (let mark = this.#first; mark; mark = mark.after) yield mark;
  }

  /** The offset to commit: every record below it is finished. */
  get committable(): number {
    return this.#first?.offset ?? this.#next;
  }

  /** Notes that the record at `offset` is handed out; offsets only grow (gaps are compacted or control records). */
  handOut(offset: number): Mark {
    if (offset < this.#next) throw new RangeError(`offset ${offset} was handed out already`);
    const mark = new Mark(offset, this.#last);
    if (this.#last) this.#last.after = mark;
    else this.#first = mark;
    this.#last = mark;
    this.#next = offset + 1;
    this.#span += 1;
    return mark;
  }

  /** Moves on over offsets that hold no record any more. */
  skipTo(offset: number): void {
    this.#next = Math.max(this.#next, offset);
  }

  finish(mark: Mark): void {
    mark.finished = true;
    const { before, after } = mark;
    if (!before) {
      this.#cutFront(mark);
      return;
    }
    if (after?.finished) this.#merge(mark, after);
    if (before.finished) this.#merge(before, mark);
  }

  /** The lowest unfinished record has finished, and with it the run behind it. */
  #cutFront(mark: Mark): void {
    const { after } = mark;
    const finished = after?.finished ? mark.records + after.records : mark.records;
    this.#span -= finished;
    this.#first = after?.finished ? after.after : after;
    if (this.#first) this.#first.before = undefined;
    else this.#last = undefined;
  }

  /** Both are finished, and one follows the other. */
  #merge(run: Mark, next: Mark): void {
    run.to = next.to;
    run.records += next.records;
    run.after = next.after;
    if (next.after) next.after.before = run;
    else this.#last = run;
  }
}

/** Records that follow each other: a single unfinished one, or finished ones. Offsets between two runs hold no record. */
export interface Run {
  readonly offset: number;
  /** The offset after the last of them. */
  readonly to: number;
  readonly finished: boolean;
}

/** One record handed out; when it is finished, the first of a run, or part of another. */
export class Mark implements Run {
  readonly offset: number;
  to: number;
  records = 1;
  finished = false;
  before: Mark | undefined;
  after: Mark | undefined;

  constructor(offset: number, before: Mark | undefined) {
    this.offset = offset;
    this.to = offset + 1;
    this.before = before;
  }
}
