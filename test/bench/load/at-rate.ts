/** An open loop: work starts when it is due, whether or not earlier work has ended. */
import { sharedNowMs } from '../processes/clock.ts';

/** `even`: always the same time apart. `poisson`: independent of each other, as the calls of many senders. */
export const spacings = ['poisson', 'even'] as const;
export type Spacing = (typeof spacings)[number];

export interface Rate {
  readonly count: number;
  readonly ratePerSecond: number;
  /** Default: even. */
  readonly spacing?: Spacing;
}

/**
 * Calls `start(index, dueAt)` when each is due, and immediately for late ones; resolves when all have ended. `dueAt` is on
 * the shared clock.
 */
export async function atRate(
  { count, ratePerSecond, spacing = 'even' }: Rate,
  start: (index: number, dueAt: number) => Promise<void>,
): Promise<void> {
  const meanMs = 1_000 / ratePerSecond;
  const apartMs = (): number => (spacing === 'even' ? meanMs : -Math.log(1 - Math.random()) * meanMs);
  let dueAt = sharedNowMs();
  const started: Promise<void>[] = [];
  const { promise: allStarted, resolve, reject } = Promise.withResolvers<unknown>();
  let timer: NodeJS.Timeout | undefined;
  const tick = (): void => {
    for (;;) {
      const index = started.length;
      if (index >= count) {
        resolve(undefined);
        return;
      }
      const earlyMs = dueAt - sharedNowMs();
      if (earlyMs > 0) {
        timer = setTimeout(tick, earlyMs);
        return;
      }
      const ended = start(index, dueAt);
      ended.catch(reject);
      started.push(ended);
      dueAt += apartMs();
    }
  };
  tick();
  try {
    await allStarted;
    await Promise.all(started);
  } finally {
    clearTimeout(timer);
  }
}
