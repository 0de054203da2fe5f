/** The settings of the delivery service. docs/settings.md is generated from them. */
import {
  bytes,
  commitsLateAfter,
  kafkaSettings,
  receiverSettings,
  retryWindow,
  secretKeys,
  serviceSettings,
  topicSettings,
} from '@tailrace/service';
import Type from 'typebox';

export const settings = Type.Object({
  ...serviceSettings({ metricsPort: 9466 }),
  kafka: kafkaSettings('delivery'),
  commitsLateAfterMs: commitsLateAfter(),
  topics: topicSettings(),
  secretKeys: secretKeys(),
  retryWindowMs: retryWindow(),
  ...receiverSettings(),
  concurrencyPerDestination: Type.Integer({
    env: 'TAILRACE_DELIVERY_CONCURRENCY',
    minimum: 1,
    maximum: 10_000,
    default: 64,
    description: 'Deliveries in flight for one destination, each on its own connections.',
  }),
  concurrency: Type.Integer({
    env: 'TAILRACE_DELIVERY_TOTAL_CONCURRENCY',
    minimum: 1,
    maximum: 100_000,
    default: 2_048,
    description: 'Deliveries in flight for all destinations together.',
  }),
  logAttempts: Type.Enum(['failures', 'all', 'none'], {
    env: 'TAILRACE_LOG_ATTEMPTS',
    default: 'failures',
    description: 'The attempts that get a line in the log.',
  }),
  keptAnswersBytes: bytes({
    env: 'TAILRACE_KEEP_ANSWERS',
    minimum: 0,
    default: 64 * 1024,
    description:
      'Bytes of requests and answers of failed attempts that a replica keeps in a minute for each destination. 0 keeps none.',
  }),
});
