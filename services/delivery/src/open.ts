/** Opens the parts of the delivery service, which reads `deliveries`, the retry topics and the replay topic, and sends the webhooks. */
import { checkLevel, openConfig, type ConfigView } from '@tailrace/config';
import type { Consumption, Kafka } from '@tailrace/kafka';
import { defineService, type ServiceContext, type SettingsOf } from '@tailrace/service';
import { openSuppressions } from '@tailrace/suppressions';
import { tierDelaysMs, topicNames } from '@tailrace/topology';
import { createAddressPolicy, createSender, keptOfFailures, type Sender } from '@tailrace/webhook';
import { Lanes, type LaneLimits } from './stages/lane/lanes.ts';
import { limitsOf } from './stages/lane/own-limits.ts';
import type { Job } from './delivery.ts';
import { Exchanges } from './observe/exchanges.ts';
import { Observer } from './observe/observer.ts';
import { DeliveryMetrics, watchDelivery } from './observe/metrics.ts';
import { Order, type OrderDependencies } from './stages/order/order.ts';
import { Pipeline } from './pipeline.ts';
import { openLedger } from './sources/recall/ledger.ts';
import { Recalled } from './sources/recall/recalled.ts';
import { Recalls } from './sources/recall/recalls.ts';
import { Signs } from './sources/recall/signs.ts';
import { Policies } from './receivers/policies.ts';
import { Receivers } from './receivers/receivers.ts';
import { FollowUps } from './settle/follow-ups.ts';
import { HeaderTimes } from './stages/due/header-times.ts';
import { Ownership } from './settle/due-times.ts';
import { settings } from './settings.ts';
import { ConsumerGroup } from './sources/group.ts';
import { AttemptStage } from './stages/attempt/attempt-stage.ts';
import { Settle } from './settle/settle.ts';
import { LaneStage } from './stages/lane/lane-stage.ts';
import { watchPartitions } from './sources/partitions.ts';
import { ownedShare, pauseDelayMs, topicsToConsume } from './sources/topics.ts';

/** No delivery waits for the record of an attempt, so these records are published in larger batches, which compress well. */
export const attemptPublishing = {
  lingerMs: 100,
  compressFromBytes: 512,
  giveUpAfterMs: 60_000,
  maxBufferedBytes: 16 * 2 ** 20,
};

/** About a quarter of a second of work of the fastest destinations, and a second of it read ahead; see stages/lane/buffer.ts. */
const buffered = {
  waiting: 1_000,
  waitingBytes: 8 * 2 ** 20,
  readAhead: { count: 4_000, bytes: 8 * 2 ** 20 },
};

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
  readonly consumption: Consumption;
}

/** Makes each part of finished parts, from the last stage of the pipeline to its sources. */
export async function openDelivery(
  service: ServiceContext<SettingsOf<typeof settings>>,
  { sender: ownSender, limits: ownLimits, now = Date.now }: DeliveryChanges = {},
): Promise<OpenDelivery> {
  const { settings, log } = service;
  const names = topicNames(settings.topics.prefix);
  const { retryScheduleMs: scheduleMs } = settings.topics;
  const windowMs = settings.retryWindowMs;

  const kafka = service.openKafka(settings.kafka);
  const topics = await service.whenAvailable('its topics', () => topicsToConsume(kafka, names, scheduleMs));
  const partitions = await service.whenAvailable('equal partition counts', () =>
    watchPartitions({ kafka, names, topics, log }),
  );
  service.onClose('partition counts', () => partitions.close());
  service.health.add('partition-counts', () => partitions.check(), { everyMs: 1_000 });
  const config = await service.whenAvailable('the configuration', () =>
    openConfig(kafka, names.config, log, {
      secretKeys: settings.secretKeys,
      owner: settings.topics.owner,
    }),
  );
  service.metrics.gauge('tailrace_config_age_seconds', () => config.ageMs / 1_000);
  // Their deliveries wait as if they were paused. Those of all other destinations are sent.
  service.health.add('config-level', () => checkLevel(config, 'delivery'), { everyMs: 1_000 });
  const suppressions = { kafka, topic: names.suppressions, log, only: 'deleted' } as const;
  const deletedUsers = await service.whenAvailable('the deleted users', () => openSuppressions(suppressions));

  const sender =
    ownSender ??
    createSender({
      timeoutMs: settings.timeoutMs,
      policy: createAddressPolicy(settings.allowedNetworks),
      proxy: settings.proxy,
    });
  service.onClose('connections to receivers', () => sender.close());
  const metrics = new DeliveryMetrics(service.metrics, { config, log, logAttempts: settings.logAttempts });
  service.onClose('summaries of attempts', () => metrics.close());
  const publisher = kafka.publisher();
  const ledger = await service.whenAvailable('the recalls', () =>
    openLedger(kafka, publisher, names.recalls, log),
  );
  service.onClose('recalls', () => ledger.close());
  const recalled = new Recalled(ledger);
  const signs = new Signs();

  const group = new ConsumerGroup(kafka, {
    groupId: `${settings.topics.prefix}delivery`,
    topics,
    names,
    scheduleMs,
    commitsLateAfterMs: settings.commitsLateAfterMs,
  });
  const { concurrencyPerDestination: perLane, concurrency: total } = settings;
  const limits = { perLane, total, ...buffered, ...ownLimits };
  const share = ownedShare(group, names.deliveries, () => partitions.deliveries);
  const isProxied = (id: string): boolean =>
    settings.proxy !== undefined && config.destination(id)?.proxy !== 'none';
  const lanes = new Lanes(limits, {
    limitsOf: (id) => limitsOf(config.destination(id), share),
    onPressure: (traffic, high) => group.updatePressure(traffic, high),
    onBreaker: ({ destinationId, url, state }) => {
      log.warn({ destinationId, url, state }, 'circuit breaker');
      if (state === 'closed') signs.recovered(destinationId);
    },
    proxy: {
      isUsedBy: isProxied,
      onChange(state) {
        log.warn({ state }, 'circuit breaker of the egress proxy');
        if (state !== 'closed') return;
        for (const id of [...signs.failed].filter(isProxied)) signs.recovered(id);
      },
    },
  });
  const { breakers } = lanes;
  const receivers = new Receivers({ config, breakers, deletedUsers, now });
  const times = new HeaderTimes({ names, group, windowMs, now });
  const ownership = new Ownership(now);
  const tiersMs = tierDelaysMs(scheduleMs);
  const pauseMs = pauseDelayMs(topics, names, scheduleMs);
  const policies = new Policies({ scheduleMs, windowMs, tiersMs, pauseMs }, config);

  // settle
  const { tracing } = service;
  const followUps = new FollowUps({ names, publisher, ownership, tiersMs, now, log });
  const forAttempts = kafka.publisher(attemptPublishing);
  const exchanges = new Exchanges(settings.keptAnswersBytes);
  const observer = new Observer({
    names,
    breakers,
    publisher: forAttempts,
    exchanges,
    metrics,
    log,
    tracing,
    now,
  });
  const settle = new Settle({ followUps, observer, exchanges, signs, policies, now });

  // attempt, lane, order
  const keep = settings.keptAnswersBytes > 0 ? keptOfFailures : undefined;
  const attempt = new AttemptStage({ names, receivers, sender, keep, settle, policies, observer, now });
  const lane = new LaneStage({ names, lanes, receivers, sender, attempt, settle, policies });
  const tiers = topics.filter((topic) => names.retryTierDelayMs(topic) !== undefined);
  const waiting: OrderDependencies<Job>['waiting'] = {
    unfinished: (numbers) => tiers.map((tier) => recalled.notFinished(group.unfinished(tier, numbers))),
    position: (number) => group.partition(names.deliveries, number),
    until: (delivery, record) => (receivers.isPauseOver(delivery) ? now() : times.until(delivery, record)),
  };
  const order = new Order<Job>({ names, lane, settle, receivers, waiting, policies, log, now });

  // due, receive
  const pipeline = new Pipeline({ order, lanes, settle, followUps, now });
  const pauseTopic = scheduleMs.includes(pauseMs) ? undefined : names.retryTier(pauseMs);
  const recallTopics = { names, tiers, pauseTopic, kafka, group, log };
  const recalls = new Recalls({
    topics: recallTopics,
    pipeline,
    recalled,
    signs,
    receivers,
    lanes,
    times,
    now,
  });
  const consumption = await group.join({ times, ledger, recalls, pipeline, settle, lanes, ownership });
  service.health.add('consumer-group', () => consumption.check(), { everyMs: 1_000 });
  watchDelivery(service.metrics, { pipeline, lanes, config, consumption, partitions, limits, sender });
  service.onClose('deliveries in flight', async () => {
    consumption.stopReceiving();
    await recalls.close(() => pipeline.stop());
    await consumption.close();
  });
  return { kafka, topics, config, lanes, consumption };
}
