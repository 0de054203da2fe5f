/** The delivery service: reads `deliveries`, its tiers and the replay lane, and sends the webhooks. */
import { openConfig } from '@tailrace/config';
import { connectKafka } from '@tailrace/kafka';
import { runService } from '@tailrace/service';
import { topicNames } from '@tailrace/topics';
import { createAddressPolicy } from './address.ts';
import { settings } from './config.ts';
import { Deliverer } from './deliver.ts';
import { deliveryObserver, watchDelivery } from './observe.ts';
import { createSender } from './send.ts';
import { partitionLimits, topicsToConsume } from './sources.ts';

await runService({ name: 'delivery', env: process.env, settings }, async (service) => {
  const { settings, log, metrics } = service;
  const names = topicNames(settings.topics.prefix);
  const policy = { scheduleMs: settings.topics.retryScheduleMs, windowMs: settings.retryWindowMs };

  const kafka = connectKafka(settings.kafka, log);
  service.onClose('Kafka', () => kafka.close());
  service.health.add('kafka', () => kafka.ping());

  const topics = await service.whenAvailable('its topics', () => topicsToConsume(kafka, names, policy));
  const config = await service.whenAvailable('the configuration', () => openConfig(kafka, names.config, log));

  const sender = createSender({
    timeoutMs: settings.timeoutMs,
    policy: createAddressPolicy(settings.allowedNetworks),
    connectionsPerOrigin: settings.concurrencyPerDestination,
  });
  service.onClose('connections to receivers', () => sender.close());

  const deliverer = new Deliverer({
    names,
    config,
    sender,
    publisher: kafka.publisher(),
    attemptPublisher: kafka.publisher({
      lingerMs: 100,
      giveUpAfterMs: 60_000,
      maxBufferedBytes: 16 * 2 ** 20,
    }),
    policy,
    limits: { perLane: settings.concurrencyPerDestination, total: settings.concurrency },
    observer: deliveryObserver(metrics),
    log,
  });
  const consumption = await kafka.consume({
    groupId: `${settings.topics.prefix}delivery`,
    topics,
    coPartitioned: true,
    limits: partitionLimits(names),
    onRecord: (record) => {
      deliverer.take(record);
    },
  });
  service.health.add('consumer group', () => consumption.check(), { cacheMs: 0 });
  watchDelivery(metrics, deliverer, consumption);
  service.onClose('deliveries in flight', async () => {
    consumption.stopTaking();
    await deliverer.stop();
    await consumption.close();
  });
  return { topics: topics.length };
});
