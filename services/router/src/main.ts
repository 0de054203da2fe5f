/** The router: reads `events`, finds each event's destinations, and writes their `deliveries`. */
import { openConfig } from '@tailrace/config';
import { connectKafka } from '@tailrace/kafka';
import { noRegistry, openRegistry } from '@tailrace/registry';
import { countUnreadable, runService } from '@tailrace/service';
import { topicNames } from '@tailrace/topics';
import { settings } from './settings.ts';
import { createDedupe } from './dedupe.ts';
import { routerObserver, watchRouter } from './observe.ts';
import { createRouter } from './process-record.ts';
import { rebuild } from './rebuild.ts';
import { partitionLimits, idleTopics, topicsToConsume, untilRouted } from './topics.ts';
import { createBatchRejecter } from './unreadable.ts';
import { startUsage } from './usage.ts';
import { createWaitingRoom } from './waiting.ts';

await runService({ name: 'router', env: process.env, settings }, async (service) => {
  const { settings, log, metrics } = service;
  const names = topicNames(settings.topicPrefix);

  const kafka = connectKafka(settings.kafka, log, countUnreadable(metrics));
  service.onClose('Kafka', () => kafka.close());
  service.health.add('kafka', () => kafka.ping());

  const topics = await service.whenAvailable('its topics', () => topicsToConsume(kafka, names));
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
  const publisher = kafka.publisher();
  const observer = routerObserver(metrics, config);
  const waiting = createWaitingRoom({
    ...{ kafka, frames, log },
    topics: { events: names.events, waiting: names.eventsWaiting },
    unfinished: (partitions) => consumption.unfinished(names.eventsWaiting, partitions),
    // One of its own, so that routing does not wait for it.
    publisher: kafka.publisher(),
    router: () => router,
  });
  const router = createRouter({
    ...{ names, config, frames, dedupe, usage, waiting, log },
    ...{ publisher, observer },
  });
  const consumption = await kafka.consume({
    groupId: `${settings.topicPrefix}router`,
    topics,
    coPartitioned: true,
    limits: partitionLimits(names),
    idleTopics: idleTopics(names),
    prepare: async (partitions, signal) => {
      const ofTopic = Map.groupBy(partitions, ({ topic }) => topic);
      await Promise.all([
        waiting.prepare(ofTopic.get(names.eventsWaiting) ?? [], signal),
        rebuild(
          { kafka, names, config, frames, dedupe, log, window: settings.window },
          ofTopic.get(names.events) ?? [],
          signal,
        ),
      ]);
    },
    onUnreadable: createBatchRejecter({ names, publisher, observer }),
    onRecord(record) {
      if (record.topic === names.events) router.take(record);
      else waiting.take(record);
    },
  });
  service.onClose('events in flight', async () => {
    consumption.stopReceiving();
    await untilRouted(consumption, names.events, () => waiting.inFlight, 10_000);
    await waiting.close();
    await consumption.close();
  });
  service.health.add('consumer group', () => consumption.check(), { cacheMs: 0 });
  watchRouter(metrics, dedupe, consumption);
  return { topics };
});
