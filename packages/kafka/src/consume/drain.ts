/** Waits until all received work is finished. */
import type { Partition } from './partition/partition.ts';

export class Drain {
  readonly #partitions: Iterable<Partition>;
  #check: (() => void) | undefined;

  constructor(partitions: Iterable<Partition>) {
    this.#partitions = partitions;
  }

  /** Work has finished, or partitions were revoked. */
  changed(): void {
    this.#check?.();
  }

  /** Resolves when all work is finished, at the latest after `timeoutMs`. */
  finished(timeoutMs: number): Promise<void> {
    if (timeoutMs <= 0 || this.#isFinished()) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#check = () => {
        if (!this.#isFinished()) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #isFinished(): boolean {
    for (const { unfinished } of this.#partitions) if (unfinished > 0) return false;
    return true;
  }
}
