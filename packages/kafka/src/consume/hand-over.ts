/** Gives up partitions that move to another member: when the work that is due is finished and committed, at the latest after a limit. */
import type { Partition } from './partition/partition.ts';

export class HandOver {
  readonly #limitMs: number;
  readonly #giveUp: (leaving: readonly Partition[]) => void;
  #leaving: readonly Partition[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param giveUp called with the partitions, which belong to this member until then */
  constructor(limitMs: number, giveUp: (leaving: readonly Partition[]) => void) {
    this.#limitMs = limitMs;
    this.#giveUp = giveUp;
  }

  get isUnderWay(): boolean {
    return this.#leaving.length > 0;
  }

  /** Replaces the partitions that leave. The limit counts from when the first of them began to. */
  begin(leaving: readonly Partition[]): void {
    if (leaving.length === 0) this.end();
    this.#leaving = leaving;
    if (!this.isUnderWay) return;
    this.#timer ??= setTimeout(() => this.#finish(), this.#limitMs);
    this.committed();
  }

  /** Work was committed. */
  committed(): void {
    if (this.isUnderWay && this.#leaving.every(({ settled }) => settled)) this.#finish();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leaving = [];
  }

  #finish(): void {
    const leaving = this.#leaving;
    this.end();
    this.#giveUp(leaving);
  }
}
