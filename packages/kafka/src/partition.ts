/** One assigned partition: its watermark, how much of it is unfinished, and whether it is still ours. */
import { Watermark, type Mark } from './watermark.ts';

export class Partition {
  readonly topic: string;
  readonly partition: number;
  readonly #limits: { readonly records: number; readonly bytes: number };
  #watermark: Watermark | undefined;
  #unfinished = 0;
  #unfinishedBytes = 0;

  lost = false;
  /** Because it is full. */
  paused = false;
  /** What the group has committed, as far as this member knows. */
  committed = 0;
  /** Offset after the last record of the partition, as of the last fetch. */
  end = 0;

  constructor(topic: string, partition: number, limits: { records: number; bytes: number }) {
    this.topic = topic;
    this.partition = partition;
    this.#limits = limits;
  }

  /** Sets where reading begins; until then nothing may be handed out. */
  start(offset: number): void {
    this.#watermark = new Watermark(offset);
    this.committed = offset;
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
    return (
      this.#unfinished >= this.#limits.records ||
      this.#unfinishedBytes >= this.#limits.bytes ||
      // A single stuck record must not let the finished ones behind it pile up without bound.
      this.uncommitted >= this.#limits.records * 20
    );
  }

  /** Enough has finished to go on. */
  get roomy(): boolean {
    return (
      this.#unfinished <= this.#limits.records / 2 &&
      this.#unfinishedBytes <= this.#limits.bytes / 2 &&
      this.uncommitted < this.#limits.records * 10
    );
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
  }

  skipTo(offset: number): void {
    this.#watermark?.skipTo(offset);
  }

  /** Another member owns it from now on. */
  lose(): void {
    this.lost = true;
    this.#unfinished = 0;
    this.#unfinishedBytes = 0;
  }
}
