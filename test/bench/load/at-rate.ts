/** An open loop: work starts when it is due, whether or not earlier work has ended. */
import { sharedNowMs } from '../processes/clock.ts';

/**
 * Calls `start(index, dueAt)` when each is due, and immediately for late ones; resolves when all have ended. `dueAt` is on
 * the shared clock.
 */
export async function atRate(
  count: number,
  ratePerSecond: number,
  start: (index: number, dueAt: number) => Promise<void>,
): Promise<void> {
  const began = sharedNowMs();
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
      const dueAt = began + (index * 1_000) / ratePerSecond;
      const earlyMs = dueAt - sharedNowMs();
      if (earlyMs > 0) {
        timer = setTimeout(tick, earlyMs);
        return;
      }
      const ended = start(index, dueAt);
      ended.catch(reject);
      started.push(ended);
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
