/**
 * Limits how often the configuration is read to its end. The router does so before it rejects a record of an unknown source,
 * which may have been created a moment ago; thousands of such records must not cause a read each.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isTailraceError } from '@tailrace/errors';
import type { KafkaLog } from '@tailrace/kafka';

/**
 * Resolves once a refresh has completed that began at `since` (by `performance.now()`) or later. While Kafka is unavailable
 * it keeps waiting.
 */
export type RefreshedSince = (since: number) => Promise<void>;

/** Starts refreshes at least `intervalMs` apart; concurrent callers share one. */
export function limitRefreshes(
  refresh: () => Promise<void>,
  log: Pick<KafkaLog, 'warn'>,
  intervalMs = 1_000,
): RefreshedSince {
  let freshAsOf = -Infinity;
  let lastStart = -Infinity;
  let running: Promise<void> | undefined;

  const remainingMs = (): number => lastStart + intervalMs - performance.now();
  const run = async (): Promise<void> => {
    // In a loop, because a timer may fire slightly early.
    for (let pauseMs = remainingMs(); pauseMs > 0; pauseMs = remainingMs()) await sleep(Math.ceil(pauseMs));
    lastStart = performance.now();
    try {
      await refresh();
      freshAsOf = lastStart;
    } catch (error) {
      if (!isTailraceError(error)) throw error;
      log.warn({ err: error }, 'configuration cannot be read to its end, retrying');
    } finally {
      running = undefined;
    }
  };

  return async (since) => {
    while (freshAsOf < since) await (running ??= run());
  };
}
