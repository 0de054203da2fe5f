/** The settings of the delivery service; README.md says what each is for. */
import {
  choice,
  cidrs,
  duration,
  integer,
  kafkaSettings,
  secretKeys,
  serviceSettings,
  topicSettings,
} from '@tailrace/service';

import type { LaneLimits } from './lanes/lanes.ts';

const hourMs = 3_600_000;

export const settings = {
  ...serviceSettings({ metricsPort: 9466 }),
  kafka: kafkaSettings('tailrace-delivery'),
  topics: topicSettings(),
  secretKeys: secretKeys(),
  retryWindowMs: duration('TAILRACE_RETRY_WINDOW', 4 * hourMs, { maxMs: 4 * hourMs }),
  timeoutMs: duration('TAILRACE_DELIVERY_TIMEOUT', 5_000),
  allowedNetworks: cidrs('TAILRACE_ALLOW_PRIVATE_NETWORKS'),
  concurrencyPerDestination: integer('TAILRACE_DELIVERY_CONCURRENCY', { min: 1, max: 10_000 }, 64),
  concurrency: integer('TAILRACE_DELIVERY_TOTAL_CONCURRENCY', { min: 1, max: 100_000 }, 2_048),
  logAttempts: choice('TAILRACE_LOG_ATTEMPTS', ['failures', 'all', 'none'], 'failures'),
};

/** What may wait in the lanes is about a quarter of a second of the fastest destinations' work; see lanes.ts. */
export function laneLimits(settings: {
  readonly concurrencyPerDestination: number;
  readonly concurrency: number;
}): LaneLimits {
  return {
    perLane: settings.concurrencyPerDestination,
    total: settings.concurrency,
    waiting: 1_000,
    waitingBytes: 8 * 2 ** 20,
  };
}
