/** The settings of the router; README.md says what each is for. */
import {
  derived,
  duration,
  group,
  integer,
  kafkaSettings,
  schemaRegistryUrl,
  serviceSettings,
  topicPrefix,
} from '@tailrace/service';
import type { DedupeWindow } from './dedupe.ts';

/** An id takes some 50 bytes at worst, while its table is copied into a larger one. */
const mostPerLeast = 5;

export const settings = {
  ...serviceSettings({ metricsPort: 9465 }),
  kafka: kafkaSettings('tailrace-router'),
  topicPrefix: topicPrefix(),
  registryUrl: schemaRegistryUrl(),
  window: derived(
    group({
      windowMs: duration('TAILRACE_DEDUPE_WINDOW', 600_000),
      leastIds: integer('TAILRACE_DEDUPE_IDS', { min: 0, max: 10_000_000 }, 100_000),
    }),
    (least) => {
      const window: DedupeWindow = { ...least, mostIds: Math.max(1_000, least.leastIds * mostPerLeast) };
      return { value: Object.freeze(window) };
    },
  ),
};
