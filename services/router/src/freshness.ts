/**
 * How old the view of the configuration may be. What the view does not know may be news that has not reached it,
 * so the router reads the configuration to its end before it rejects; but records of unknown sources may come by
 * the thousand, and must not each cost a read.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isTailraceError } from '@tailrace/errors';
import type { KafkaLog } from '@tailrace/kafka';

/**
 * Resolves once a refresh has ended that began at `since` (by `performance.now()`) or later. Never rejects where
 * Kafka is away: it waits for it.
 */
export type FreshAsOf = (since: number) => Promise<void>;

/** Refreshes begin at least `intervalMs` apart, and all who wait share one. */
export function limitRefreshes(
  refresh: () => Promise<void>,
  log: Pick<KafkaLog, 'warn'>,
  intervalMs = 1_000,
): FreshAsOf {
  let freshAsOf = -Infinity;
  let lastBegan = -Infinity;
  let running: Promise<void> | undefined;

  const pause = (): number => lastBegan + intervalMs - performance.now();
  const run = async (): Promise<void> => {
    // In a loop, because a timer may fire a little early.
    for (let pauseMs = pause(); pauseMs > 0; pauseMs = pause()) await sleep(Math.ceil(pauseMs));
    lastBegan = performance.now();
    try {
      await refresh();
      freshAsOf = lastBegan;
    } catch (error) {
      if (!isTailraceError(error)) throw error;
      log.warn({ err: error }, 'the configuration cannot be read to its end; trying again');
    } finally {
      running = undefined;
    }
  };

  return async (since) => {
    while (freshAsOf < since) await (running ??= run());
  };
}
