/** Opens the parts of the delivery service, which reads `deliveries`, the retry topics and the replay topic, and sends the webhooks. */
import { checkLevel, openConfig, type ConfigView } from '@tailrace/config';
import type { Consumption, Kafka } from '@tailrace/kafka';
import { defineService, type ServiceContext, type SettingsOf } from '@tailrace/service';
import { openSuppressions, topicNames } from '@tailrace/topics';
import { createAddressPolicy, createSender, type Sender } from '@tailrace/webhook';
import { Deliverer } from './deliver.ts';
import { Lanes, type LaneLimits } from './isolation/lanes.ts';
import { DeliveryMetrics, watchDelivery } from './metrics.ts';
import { watchPartitions } from './topics/partitions.ts';
import { openLedger } from './recall/ledger.ts';
import { laneLimits, settings } from './settings.ts';
import { consumeDeliveries, ownedShare, pauseDelayMs, topicsToConsume } from './topics/topics.ts';

/** No delivery waits for the record of an attempt, so these records are published in larger batches. */
const attemptPublishing = { lingerMs: 100, giveUpAfterMs: 60_000, maxBufferedBytes: 16 * 2 ** 20 };

export const delivery = defineService({
  name: 'delivery',
  settings,
  async open(service) {
    const { topics } = await openDelivery(service);
    return { topics: topics.length };
  },
});

/** Changes for tests. */
export interface DeliveryChanges {
  readonly sender?: Sender;
  readonly limits?: Partial<LaneLimits>;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export interface OpenDelivery {
  readonly kafka: Kafka;
  /** The topics that are read. */
  readonly topics: readonly string[];
  readonly config: ConfigView;
  readonly lanes: Lanes;
  readonly deliverer: Deliverer;
  readonly consumption: Consumption;
}

export async function openDelivery(
  service: ServiceContext<SettingsOf<typeof settings>>,
  changes: DeliveryChanges = {},
): Promise<OpenDelivery> {
  const { settings, log } = service;
  const names = topicNames(settings.topics.prefix);
  const policy = { scheduleMs: settings.topics.retryScheduleMs, windowMs: settings.retryWindowMs };

  const kafka = service.openKafka(settings.kafka);

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
  // Their deliveries wait as if they were paused. Those of all other destinations are sent.
  service.health.add('config-level', () => checkLevel(config, 'delivery'), { everyMs: 1_000 });

  const suppressions = { kafka, topic: names.suppressions, log, only: 'deleted' } as const;
  const deletedUsers = await service.whenAvailable('the deleted users', () => openSuppressions(suppressions));

  const sender =
    changes.sender ??
    createSender({ timeoutMs: settings.timeoutMs, policy: createAddressPolicy(settings.allowedNetworks) });
  service.onClose('connections to receivers', () => sender.close());

  const limits = { ...laneLimits(settings), ...changes.limits };
  const lanes = new Lanes(limits, {
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
    names,
    config,
    deletedUsers,
    sender,
    lanes,
    policy,
    metrics,
    log,
    tracing: service.tracing,
    pauseMs: pauseDelayMs(topics, names, policy),
    ...(changes.now && { now: changes.now }),
    publisher,
    attemptPublisher: kafka.publisher(attemptPublishing),
    unfinished: (numbers) => tiers.map((tier) => consumption.unfinished(tier, numbers)),
    recall: {
      ledger,
      tiers,
      ends: (topic) => kafka.ends(topic),
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
  const group = {
    groupId,
    topics,
    names,
    policy,
    commitsLateAfterMs: settings.commitsLateAfterMs,
    lanes,
    deliverer,
    ledger,
  };
  const consumption = await consumeDeliveries(kafka, group);
  service.health.add('consumer-group', () => consumption.check(), { everyMs: 1_000 });
  watchDelivery(service.metrics, { deliverer, lanes, config, consumption, partitions, limits });
  service.onClose('deliveries in flight', async () => {
    consumption.stopReceiving();
    await deliverer.stop();
    await consumption.close();
  });
  return { kafka, topics, config, lanes, deliverer, consumption };
}
