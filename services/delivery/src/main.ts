/** The delivery service: reads `deliveries`, the retry topics and the replay topic, and sends the webhooks. */
import { openConfig } from '@tailrace/config';
import { connectKafka } from '@tailrace/kafka';
import { observeKafka, runService, watchPublishers } from '@tailrace/service';
import { openSuppressions, topicNames } from '@tailrace/topics';
import { createAddressPolicy, createSender } from '@tailrace/webhook';
import { Deliverer } from './deliver.ts';
import { Lanes } from './isolation/lanes.ts';
import { DeliveryMetrics, watchDelivery } from './metrics.ts';
import { watchPartitions } from './topics/partitions.ts';
import { openLedger } from './recall/ledger.ts';
import { laneLimits, settings } from './settings.ts';
import { consumeDeliveries, ownedShare, pauseDelayMs, topicsToConsume } from './topics/topics.ts';

/** No delivery waits for the record of an attempt, so these records are published in larger batches. */
const attemptPublishing = { lingerMs: 100, giveUpAfterMs: 60_000, maxBufferedBytes: 16 * 2 ** 20 };

await runService({ name: 'delivery', env: process.env, settings }, async (service) => {
  const { settings, log } = service;
  const names = topicNames(settings.topics.prefix);
  const policy = { scheduleMs: settings.topics.retryScheduleMs, windowMs: settings.retryWindowMs };

  const kafka = connectKafka(settings.kafka, log, observeKafka(service.metrics));
  service.onClose('Kafka', () => kafka.close());
  watchPublishers(service.metrics, kafka);
  service.health.add('kafka', () => kafka.ping());

  const topics = await service.whenAvailable('its topics', () => topicsToConsume(kafka, names, policy));
  const partitions = await service.whenAvailable('equal partition counts', () =>
    watchPartitions({ kafka, names, topics, log }),
  );
  service.onClose('partition counts', () => {
    partitions.close();
  });
  service.health.add('partition-counts', () => partitions.check(), { everyMs: 1_000 });
  const tiers = topics.filter((topic) => names.retryTierDelayMs(topic) !== undefined);
  const config = await service.whenAvailable('the configuration', () =>
    openConfig(kafka, names.config, log, { secretKeys: settings.secretKeys }),
  );
  service.metrics.gauge('tailrace_config_age_seconds', () => config.ageMs / 1_000);

  const suppressions = { kafka, topic: names.suppressions, log, only: 'deleted' } as const;
  const deletedUsers = await service.whenAvailable('the deleted users', () => openSuppressions(suppressions));

  const sender = createSender({
    timeoutMs: settings.timeoutMs,
    policy: createAddressPolicy(settings.allowedNetworks),
  });
  service.onClose('connections to receivers', () => sender.close());

  const lanes = new Lanes(laneLimits(settings), {
    onPressure: (traffic, high) => {
      const topics = traffic === 'background' ? [names.deliveriesReplay] : undefined;
      if (high) consumption.pause(topics);
      else consumption.resume(topics);
    },
    onBreaker: ({ destinationId, url, state }) => {
      log.warn({ destinationId, url, state }, 'circuit breaker');
      if (state === 'closed') deliverer.recovered(destinationId);
    },
  });
  const { logAttempts } = settings;
  const metrics = new DeliveryMetrics(service.metrics, { config, log, logAttempts });
  service.onClose('summaries of attempts', () => {
    metrics.close();
  });
  const publisher = kafka.publisher();
  const ledger = await service.whenAvailable('the recalls', () =>
    openLedger(kafka, publisher, names.recalls, log),
  );
  service.onClose('recalls', () => ledger.close());
  const deliverer: Deliverer = new Deliverer({
    ...{ names, config, deletedUsers, sender, lanes, policy, metrics, log, tracing: service.tracing },
    pauseMs: pauseDelayMs(topics, names, policy),
    publisher,
    attemptPublisher: kafka.publisher(attemptPublishing),
    unfinished: (numbers) => tiers.map((tier) => consumption.unfinished(tier, numbers)),
    recall: {
      ...{ ledger, tiers },
      offsetsAt: (topic, time) => kafka.offsetsAt(topic, time),
      unfinished: (topic, numbers, spans) => consumption.unfinished(topic, numbers, spans),
      owned: (topic, partition) => consumption.owned(topic, partition),
      assigned: () => consumption.partitions,
    },
    position: (topic, partition) => consumption.partition(topic, partition),
    rateShare: ownedShare(
      () => consumption.partitions,
      names.deliveries,
      () => partitions.deliveries,
    ),
  });
  const groupId = `${settings.topics.prefix}delivery`;
  const group = { groupId, topics, names, policy, lanes, deliverer, ledger };
  const consumption = await consumeDeliveries(kafka, group);
  service.health.add('consumer-group', () => consumption.check(), { everyMs: 1_000 });
  watchDelivery(service.metrics, {
    ...{ deliverer, lanes, config, consumption, partitions },
    limits: laneLimits(settings),
  });
  service.onClose('deliveries in flight', async () => {
    consumption.stopReceiving();
    await deliverer.stop();
    await consumption.close();
  });
  return { topics: topics.length };
});
