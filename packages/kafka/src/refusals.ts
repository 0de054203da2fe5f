/** What Kafka refuses of this replica, while it accepts it of others. */
import { setTimeout as wait } from 'node:timers/promises';

/** Shorter refusals end by themselves, in a rebalance or when the clock is set. */
const lastingMs = 15_000;
/** After this without another refusal it is tried again: nothing may be left that could be accepted. */
const forgottenMs = 60_000;
const checkMs = 1_000;

/** Refusals of one kind, from the first one until something is accepted. */
export class Refusals {
  #count = 0;
  #since: number | undefined;
  #last = 0;

  /** Since the start. */
  get count(): number {
    return this.#count;
  }

  /** Whether nothing was accepted, and refused again and again, for 15 s. */
  get areLasting(): boolean {
    if (this.#since === undefined || performance.now() - this.#last > forgottenMs) return false;
    return this.#last - this.#since >= lastingMs;
  }

  refused(): void {
    const now = performance.now();
    if (this.#since === undefined || now - this.#last > forgottenMs) this.#since = now;
    this.#last = now;
    this.#count += 1;
  }

  accepted(): void {
    this.#since = undefined;
  }
}

export interface KafkaRefusals {
  /** Of commits, because this replica was removed from its consumer group. */
  readonly commits: Refusals;
  /** Of records, because of the time that the clock of this machine gives them. */
  readonly clock: Refusals;
}

/** Calls `onLasting` as long as refusals are lasting, one call at a time. Returns a function that ends it. */
export function watchRefusals(
  refusals: KafkaRefusals,
  onLasting: (refused: keyof KafkaRefusals) => Promise<void>,
): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  const isEnding = (): boolean => signal.aborted;
  const watch = async (): Promise<void> => {
    while (!isEnding()) {
      await wait(checkMs, undefined, { signal, ref: false }).catch(() => undefined);
      const refused = (['clock', 'commits'] as const).find((thing) => refusals[thing].areLasting);
      if (refused && !isEnding()) await onLasting(refused);
    }
  };
  void watch();
  return () => ending.abort();
}
