/** The router: reads `events`, finds each event's destinations, and writes their `deliveries`. */
import { openConfig } from '@tailrace/config';
import { connectKafka } from '@tailrace/kafka';
import { noRegistry, openRegistry } from '@tailrace/registry';
import { runService } from '@tailrace/service';
import { topicNames } from '@tailrace/topics';
import { partitionLimits, settings } from './config.ts';
import { createDedupe } from './dedupe.ts';
import { routerObserver, watchRouter } from './observe.ts';
import { createRouter } from './process-record.ts';
import { rebuild } from './rebuild.ts';
import { startUsage } from './usage.ts';

await runService({ name: 'router', env: process.env, settings }, async (service) => {
  const { settings, log, metrics } = service;
  const names = topicNames(settings.topicPrefix);

  const kafka = connectKafka(settings.kafka, log);
  service.onClose('Kafka', () => kafka.close());
  service.health.add('kafka', () => kafka.ping());

  const config = await service.whenAvailable('the configuration', () => openConfig(kafka, names.config, log));

  const registry = settings.registryUrl === undefined ? undefined : openRegistry(settings.registryUrl, log);
  if (registry) {
    service.onClose('schema registry', () => {
      registry.close();
    });
    service.health.add('schema registry', () => registry.check(), { cacheMs: 0 });
  }
  const frames = registry ?? noRegistry;

  // One of its own, so that a topic that is missing holds up nothing else.
  const usagePublisher = kafka.publisher();
  const usage = startUsage({ topic: names.usage, publish: (record) => usagePublisher.publish(record), log });
  service.onClose('usage', async () => {
    usage.stop();
    await usagePublisher.close({ timeoutMs: 5_000 });
  });

  const dedupe = createDedupe(settings.window);
  const consumption = await kafka.consume({
    groupId: `${settings.topicPrefix}router`,
    topics: [names.events],
    limits: () => partitionLimits,
    prepare: (partitions, signal) =>
      rebuild({ kafka, names, config, frames, dedupe, log, window: settings.window }, partitions, signal),
    onRecord: createRouter({
      names,
      config,
      frames,
      publisher: kafka.publisher(),
      dedupe,
      observer: routerObserver(metrics),
      usage,
      log,
    }),
  });
  service.onClose('events in flight', () => consumption.close({ drainTimeoutMs: 10_000 }));
  service.health.add('consumer group', () => consumption.check(), { cacheMs: 0 });
  watchRouter(metrics, dedupe, consumption);
  return { topics: [names.events] };
});
