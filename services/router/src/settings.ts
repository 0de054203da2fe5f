/** The settings of the router. docs/settings.md is generated from them. */
import { duration, kafkaSettings, schemaRegistryUrl, serviceSettings, topicPrefix } from '@tailrace/service';
import Type from 'typebox';
import type { DedupeWindow } from './dedupe.ts';

/** An id takes about 50 bytes at worst, while its table is copied into a larger one. */
const mostPerLeast = 5;

const dedupe = Type.Object({
  windowMs: duration({
    env: 'TAILRACE_DEDUPE_WINDOW',
    default: 600_000,
    description: 'Time for which the id of an event is remembered to detect duplicates.',
  }),
  leastIds: Type.Integer({
    env: 'TAILRACE_DEDUPE_IDS',
    minimum: 0,
    maximum: 10_000_000,
    default: 100_000,
    description: `Ids that are remembered for each partition, however old; at most ${mostPerLeast} times as many.`,
  }),
});

export const settings = Type.Object({
  ...serviceSettings({ metricsPort: 9465 }),
  kafka: kafkaSettings('tailrace-router'),
  topicPrefix: topicPrefix(),
  registryUrl: schemaRegistryUrl(),
  window: Type.Decode(dedupe, (least): DedupeWindow => ({
    ...least,
    mostIds: Math.max(1_000, least.leastIds * mostPerLeast),
  })),
});
