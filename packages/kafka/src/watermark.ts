/**
 * The watermark of one partition: the offset below which everything is finished, and so the only offset that
 * may be committed. Records are handed out in order and finish in any order.
 *
 * Invariant: `committable` never passes an unfinished record, and never goes back.
 */
export class Watermark {
  /** Unfinished and finished records in offset order, from the lowest unfinished one on. */
  readonly #window: Mark[] = [];
  /** Finished marks at the front of the window are counted here and cut off now and then, not one by one. */
  #front = 0;
  #next: number;

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
    return this.#window.length - this.#front;
  }

  /** The marks from the lowest unfinished one on. */
  *window(): Generator<Mark> {
    for (let place = this.#front; place < this.#window.length; place += 1) {
      const mark = this.#window[place];
      if (mark) yield mark;
    }
  }

  /** The offset to commit: every record below it is finished. */
  get committable(): number {
    return this.#window[this.#front]?.offset ?? this.#next;
  }

  /** Notes that the record at `offset` is handed out; offsets only grow (gaps are compacted or control records). */
  handOut(offset: number): Mark {
    if (offset < this.#next) throw new RangeError(`offset ${offset} was handed out already`);
    const mark = { offset, finished: false };
    this.#window.push(mark);
    this.#next = offset + 1;
    return mark;
  }

  /** Moves on over offsets that hold no record any more. */
  skipTo(offset: number): void {
    this.#next = Math.max(this.#next, offset);
  }

  finish(mark: Mark): void {
    mark.finished = true;
    while (this.#window[this.#front]?.finished) this.#front += 1;
    if (this.#front > 1024 && this.#front * 2 > this.#window.length) {
      this.#window.splice(0, this.#front);
      this.#front = 0;
    }
  }
}

/** One record handed out. */
export interface Mark {
  readonly offset: number;
  finished: boolean;
}
