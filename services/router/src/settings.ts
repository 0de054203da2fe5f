/** The settings of the router. docs/settings.md is generated from them. */
import {
  commitsLateAfter,
  duration,
  kafkaSettings,
  owner,
  registrySettings,
  serviceSettings,
  topicPrefix,
} from '@tailrace/service';
import Type from 'typebox';
import type { DeduplicationWindow } from './deduplication/message-ids.ts';

/** An id takes about 50 bytes at worst, while its table is copied into a larger one. */
const maxPerMin = 5;

const deduplication = Type.Object({
  windowMs: duration({
    env: 'TAILRACE_DEDUPE_WINDOW',
    default: 600_000,
    description: 'Time for which the id of an event is remembered to detect duplicates.',
  }),
  minIds: Type.Integer({
    env: 'TAILRACE_DEDUPE_IDS',
    minimum: 0,
    maximum: 10_000_000,
    default: 100_000,
    description: `Ids that are remembered for each partition, however old; at most ${maxPerMin} times as many.`,
  }),
});

export const settings = Type.Object({
  ...serviceSettings({ metricsPort: 9465 }),
  kafka: kafkaSettings('router'),
  commitsLateAfterMs: commitsLateAfter(),
  topicPrefix: topicPrefix(),
  owner: owner(),
  registry: registrySettings(),
  window: Type.Decode(deduplication, (minimum): DeduplicationWindow => ({
    ...minimum,
    maxIds: Math.max(1_000, minimum.minIds * maxPerMin),
  })),
});
