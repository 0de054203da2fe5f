/** One assigned partition: its watermark, how much of it is unfinished, and whether it is still ours. */
import { encodeProgress, type OffsetRange } from './progress.ts';
import { Watermark, type Mark } from './watermark.ts';

export class Partition {
  readonly topic: string;
  readonly partition: number;
  readonly #limits: { readonly records: number; readonly bytes: number };
  #watermark: Watermark | undefined;
  #unfinished = 0;
  #unfinishedBytes = 0;

  revoked = false;
  /** Because it is full. */
  paused = false;
  /** Whether something finished that has not been committed. */
  changed = false;
  /** Ranges that an earlier owner finished above its watermark; those already passed are cut off. */
  #finishedBefore: readonly OffsetRange[] = [];
  /** Offset after the last record of the partition, as of the last fetch. */
  end = 0;

  constructor(topic: string, partition: number, limits: { records: number; bytes: number }) {
    this.topic = topic;
    this.partition = partition;
    this.#limits = limits;
  }

  /** Sets where reading begins, and what is finished beyond; until then nothing may be handed out. */
  start(offset: number, finishedBefore: readonly OffsetRange[] = []): void {
    this.#watermark = new Watermark(offset);
    this.#finishedBefore = finishedBefore;
    this.end = Math.max(this.end, offset);
  }

  get located(): boolean {
    return this.#watermark !== undefined;
  }

  get next(): number {
    return this.#watermark?.next ?? 0;
  }

  get committable(): number {
    return this.#watermark?.committable ?? 0;
  }

  /** What to commit: the watermark, and in text what is finished above it. */
  get progress(): { readonly offset: string; readonly metadata: string } {
    return {
      offset: String(this.committable),
      metadata: this.#watermark ? encodeProgress(this.#watermark.window()) : '',
    };
  }

  get uncommitted(): number {
    return this.#watermark?.span ?? 0;
  }

  get unfinished(): number {
    return this.#unfinished;
  }

  get lag(): number {
    return Math.max(0, this.end - this.committable);
  }

  get full(): boolean {
    return this.#unfinished >= this.#limits.records || this.#unfinishedBytes >= this.#limits.bytes;
  }

  /** Enough has finished to go on. */
  get roomy(): boolean {
    return this.#unfinished <= this.#limits.records / 2 && this.#unfinishedBytes <= this.#limits.bytes / 2;
  }

  handOut(offset: number, bytes: number): Mark {
    if (!this.#watermark) throw new Error('a partition must be started before it hands records out');
    this.#unfinished += 1;
    this.#unfinishedBytes += bytes;
    return this.#watermark.handOut(offset);
  }

  finish(mark: Mark, bytes: number): void {
    this.#unfinished -= 1;
    this.#unfinishedBytes -= bytes;
    this.#watermark?.finish(mark);
    this.changed = true;
  }

  /** Whether an earlier owner finished the record at `offset`; to be asked in the order of offsets. */
  finishedBefore(offset: number): boolean {
    while ((this.#finishedBefore[0]?.to ?? Infinity) <= offset) {
      this.#finishedBefore = this.#finishedBefore.slice(1);
    }
    return (this.#finishedBefore[0]?.from ?? Infinity) <= offset;
  }

  /** Tells of records from `committable` on whether they were finished at the time of this call. */
  finishedNow(): (offset: number) => boolean {
    const finished: OffsetRange[] = [];
    for (const run of this.#watermark?.window() ?? []) {
      if (run.finished) finished.push({ from: run.offset, to: run.to });
    }
    const before = this.#finishedBefore;
    return (offset) => isInside(offset, finished) || isInside(offset, before);
  }

  /** Steps over a record that is finished already. */
  passOver(offset: number): void {
    if (!this.#watermark) return;
    this.#watermark.finish(this.#watermark.handOut(offset));
    this.changed = true;
  }

  skipTo(offset: number): void {
    this.#watermark?.skipTo(offset);
  }

  /** Another member owns it from now on. */
  lose(): void {
    this.revoked = true;
    this.#unfinished = 0;
    this.#unfinishedBytes = 0;
  }
}

/** Whether one of these ranges, which are in order, holds the offset. */
function isInside(offset: number, ranges: readonly OffsetRange[]): boolean {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle]?.to ?? Infinity) <= offset) low = middle + 1;
    else high = middle;
  }
  return (ranges[low]?.from ?? Infinity) <= offset;
}
