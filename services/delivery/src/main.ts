/** The delivery service: reads `deliveries`, its tiers and the replay lane, and sends the webhooks. */
import { openConfig } from '@tailrace/config';
import { connectKafka } from '@tailrace/kafka';
import { countUnreadable, runService } from '@tailrace/service';
import { topicNames } from '@tailrace/topics';
import { createAddressPolicy, createSender } from '@tailrace/webhook';
import { laneLimits, settings } from './settings.ts';
import { Deliverer } from './deliver.ts';
import { Lanes } from './lanes/lanes.ts';
import { observeDeliveries, watchDelivery } from './observe.ts';
import { watchPartitions } from './partitions.ts';
import { openLedger } from './recall/index.ts';
import { ownedShare, partitionLimits, idleTopics, topicsToConsume } from './sources.ts';

/** Nobody waits for the record of an attempt, so it travels in company. */
const attemptPublishing = { lingerMs: 100, giveUpAfterMs: 60_000, maxBufferedBytes: 16 * 2 ** 20 };

await runService({ name: 'delivery', env: process.env, settings }, async (service) => {
  const { settings, log, metrics } = service;
  const names = topicNames(settings.topics.prefix);
  const policy = { scheduleMs: settings.topics.retryScheduleMs, windowMs: settings.retryWindowMs };

  const kafka = connectKafka(settings.kafka, log, countUnreadable(metrics));
  service.onClose('Kafka', () => kafka.close());
  service.health.add('kafka', () => kafka.ping());

  const topics = await service.whenAvailable('its topics', () => topicsToConsume(kafka, names, policy));
  const partitions = await service.whenAvailable('equal partition counts', () =>
    watchPartitions({ kafka, names, topics, log }),
  );
  service.onClose('partition counts', () => {
    partitions.close();
  });
  service.health.add('partition counts', () => partitions.check(), { cacheMs: 0 });
  const tiers = topics.filter((topic) => names.retryTierDelayMs(topic) !== undefined);
  const config = await service.whenAvailable('the configuration', () =>
    openConfig(kafka, names.config, log, { secretKeys: settings.secretKeys }),
  );

  const sender = createSender({
    timeoutMs: settings.timeoutMs,
    policy: createAddressPolicy(settings.allowedNetworks),
  });
  service.onClose('connections to receivers', () => sender.close());

  const lanes = new Lanes(laneLimits(settings), {
    onPressure: (kind, high) => {
      const topics = kind === 'background' ? [names.deliveriesReplay] : undefined;
      if (high) consumption.pause(topics);
      else consumption.resume(topics);
    },
    onBreaker: ({ lane, url, state }) => {
      log.warn({ destinationId: lane, url, state }, 'circuit breaker');
      if (state === 'closed') deliverer.recovered(lane);
    },
  });
  const { logAttempts } = settings;
  const observation = observeDeliveries(metrics, config, { log, logAttempts });
  service.onClose('summaries of attempts', () => {
    observation.close();
  });
  const publisher = kafka.publisher();
  const ledger = await service.whenAvailable('the recalls', () =>
    openLedger(kafka, publisher, names.recalls, log),
  );
  service.onClose('recalls', () => ledger.close());
  const deliverer: Deliverer = new Deliverer({
    ...{ names, config, sender, lanes, policy, log },
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
    observer: observation.observer,
  });
  const consumption = await kafka.consume({
    groupId: `${settings.topics.prefix}delivery`,
    topics,
    coPartitioned: true,
    limits: partitionLimits(names),
    idleTopics: idleTopics(names, topics, policy),
    // What owners before have brought forward is known before the tiers are read.
    prepare: () => ledger.refresh(),
    onRebalance: (rebalancing) => {
      if (rebalancing) {
        lanes.hold();
        deliverer.rebalancing();
      } else {
        deliverer.joined();
        lanes.release();
      }
    },
    onRecord: (record) => {
      deliverer.take(record);
    },
  });
  service.health.add('consumer group', () => consumption.check(), { cacheMs: 0 });
  watchDelivery(metrics, { deliverer, lanes, consumption, partitions });
  service.onClose('deliveries in flight', async () => {
    consumption.stopReceiving();
    await deliverer.stop();
    await consumption.close();
  });
  return { topics: topics.length };
});
