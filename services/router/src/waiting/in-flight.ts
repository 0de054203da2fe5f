/** Limits how many records of `events.waiting` are in flight: processed, and not yet acknowledged. */
import type { ConsumedRecord, Work } from '@tailrace/kafka';

const limits = { records: 1_000, bytes: 4 * 2 ** 20 };

export class InFlight {
  #records = 0;
  #bytes = 0;
  #isLimited = true;
  #isHeld = false;
  #space: PromiseWithResolvers<void> | undefined;
  readonly #isFullNext: () => boolean;

  /** @param isFullNext whether what processes the records has too much to do */
  constructor(isFullNext: () => boolean) {
    this.#isFullNext = isFullNext;
  }

  get records(): number {
    return this.#records;
  }

  /** Whether nothing more may be in flight: the limits are reached, or new work is held. */
  get isFull(): boolean {
    const hasSpace = this.#records < limits.records && this.#bytes < limits.bytes;
    return this.#isLimited && (this.#isHeld || !hasSpace || this.#isFullNext());
  }

  hold(held: boolean): void {
    this.#isHeld = held;
    this.#wake();
  }

  /** What processes the records has less to do. */
  release(): void {
    this.#wake();
  }

  /** Returns the same work, in flight until it is done, or released because it is not in flight after all. */
  track(work: Work, { key, value }: Pick<ConsumedRecord, 'key' | 'value'>): Work & { release(): void } {
    const bytes = (key?.length ?? 0) + (value?.length ?? 0);
    this.#add(1, bytes);
    let released = false;
    const release = (): void => {
      if (released) return;
      released = true;
      this.#add(-1, -bytes);
      this.#wake();
    };
    const { topic, partition, offset, timestamp } = work;
    return {
      topic,
      partition,
      offset,
      timestamp,
      release,
      get revoked() {
        return work.revoked;
      },
      done() {
        release();
        work.done();
      },
    };
  }

  /** Resolves when `isFull` is false. */
  async untilNotFull(): Promise<void> {
    while (this.isFull) await (this.#space ??= Promise.withResolvers()).promise;
  }

  /** From now on `isFull` is false. */
  unlimit(): void {
    this.#isLimited = false;
    this.#wake();
  }

  #add(records: number, bytes: number): void {
    this.#records += records;
    this.#bytes += bytes;
  }

  #wake(): void {
    if (this.isFull) return;
    this.#space?.resolve();
    this.#space = undefined;
  }
}
