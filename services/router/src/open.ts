/** The router: reads `events`, finds the destinations of each event, and writes `deliveries`. */
import { checkLevel, openConfig, type ConfigView } from '@tailrace/config';
import type { Consumption } from '@tailrace/kafka';
import { noRegistry, openRegistry } from '@tailrace/registry';
import { defineService, watchConsumption } from '@tailrace/service';
import { openSuppressions } from '@tailrace/suppressions';
import { topicNames } from '@tailrace/topology';
import { Transforms } from '@tailrace/transform';
import { MessageIds } from './deduplication/message-ids.ts';
import { rebuild } from './deduplication/rebuild.ts';
import { ReusedIds } from './deduplication/reused-ids.ts';
import { createRouterMetrics } from './metrics.ts';
import { createOrderOf } from './order.ts';
import { createProcessor } from './process-record.ts';
import { createReceiver } from './receive/receive-record.ts';
import { SourceTurns } from './receive/source-turns.ts';
import { createRejecter } from './reject-record.ts';
import { settings } from './settings.ts';
import { idleTopics, partitionLimits, topicsToConsume, untilRouted } from './consumed-topics.ts';
import { TransformStage } from './transform-stage.ts';
import { startUsage } from './usage.ts';
import { createWaitingQueue } from './waiting/queue.ts';

export const router = defineService({
  name: 'router',
  settings,
  async open(service) {
    const { settings, log } = service;
    const names = topicNames(settings.topicPrefix);

    const kafka = service.openKafka(settings.kafka);

    const topics = await service.whenAvailable('its topics', () => topicsToConsume(kafka, names));
    const config = await service.whenAvailable('the configuration', () =>
      openConfig(kafka, names.config, log, { owner: settings.owner }),
    );
    service.metrics.gauge('tailrace_config_age_seconds', () => config.ageMs / 1_000);
    // A replica of a newer release can route instead, so this one does not join the group.
    await service.whenAvailable('a configuration of its release', () => checkLevel(config, 'router'));
    service.health.add('config-level', () => checkLevel(config, 'router'), { everyMs: 1_000 });

    const suppressions = { kafka, topic: names.suppressions, log, only: 'suppressed' } as const;
    const suppressedUsers = await service.whenAvailable('the suppressed users', () =>
      openSuppressions(suppressions),
    );

    const registry = settings.registry && openRegistry(settings.registry, log);
    if (registry) {
      service.onClose('schema registry', () => registry.close());
      service.health.add('schema-registry', () => registry.check(), { everyMs: 1_000 });
    }
    const frames = registry ?? noRegistry;

    // A publisher of its own, so that a missing topic `usage` does not delay other records.
    const usagePublisher = kafka.publisher();
    const usage = startUsage({
      topic: names.usage,
      publish: (record) => usagePublisher.publish(record),
      log,
    });
    service.onClose('usage', async () => {
      usage.stop();
      await usagePublisher.close({ timeoutMs: 5_000 });
    });

    const messageIds = new MessageIds(settings.window);
    const publisher = kafka.publisher();
    const metrics = createRouterMetrics(service.metrics, config);
    const reusedIds = new ReusedIds({ metrics, log });
    service.onClose('reused message ids', () => reusedIds.close());
    const { tracing } = service;
    const rejecter = createRejecter({ topic: names.eventsRejected, publisher, metrics, log, tracing });
    const transforms = new Transforms({ onThreadEnded: () => metrics.transforms.threadsEnded.inc() });
    service.onClose('transforms', () => transforms.close());
    const transformStage = new TransformStage({
      transforms,
      metrics,
      onRelease: () => {
        turns.release();
        waiting.release();
      },
    });
    service.metrics.gauge('tailrace_transform_waiting', () => transformStage.waiting);
    const processRecord = createProcessor({
      config,
      suppressedUsers,
      frames,
      messageIds,
      transformStage,
      output: { names, publisher, rejecter },
      report: { metrics, usage, reusedIds, log, tracing },
    });
    const orderOf = createOrderOf(config);
    const waiting = createWaitingQueue({
      kafka,
      frames,
      orderOf,
      next: { processRecord, isFull: () => transformStage.isFull },
      rejecter,
      report: { metrics, log },
      topics: { events: names.events, waiting: names.eventsWaiting },
      unfinished: (partitions) => consumption.unfinished(names.eventsWaiting, partitions),
      // A publisher of its own, so that records that are routed do not wait for those that are enqueued.
      publisher: kafka.publisher(),
    });
    const turns = new SourceTurns({
      config,
      frames,
      publisher,
      held: transformStage,
      process: createReceiver({ frames, orderOf, processRecord, rejecter, waiting, metrics }),
      onFull: (full) => {
        transformStage.allowHolds(!full);
        if (full) consumption.pause([names.events]);
        else consumption.resume([names.events]);
      },
    });
    const consumption = await kafka.consume({
      groupId: `${settings.topicPrefix}router`,
      topics,
      commitsLateAfterMs: settings.commitsLateAfterMs,
      coPartitioned: true,
      limits: partitionLimits(names),
      idleTopics: idleTopics(names),
      prepare: async (partitions, signal) => {
        const byTopic = Map.groupBy(partitions, ({ topic }) => topic);
        await Promise.all([
          waiting.load(byTopic.get(names.eventsWaiting) ?? [], signal),
          rebuild(
            { kafka, names, config, frames, messageIds, log, window: settings.window },
            byTopic.get(names.events) ?? [],
            signal,
          ),
        ]);
      },
      onHold: (held) => {
        waiting.hold(held);
        turns.hold(held);
      },
      onUnreadable: (batch, work) => {
        metrics.countReceived();
        rejecter.rejectBatch(batch, work);
      },
      onRecord(record) {
        if (record.topic === names.events) {
          metrics.countReceived();
          turns.receive(record);
        } else {
          waiting.receive(record);
        }
      },
    });
    service.onClose('events in flight', async () => {
      consumption.stopReceiving();
      await untilRouted(consumption, names.events, () => waiting.inFlight, 10_000);
      await waiting.close();
      await consumption.close();
    });
    service.health.add('consumer-group', () => consumption.check(), { everyMs: 1_000 });
    pauseWhileUnmet(config, consumption);
    service.metrics.gauge('tailrace_remembered_message_ids', () => messageIds.size);
    watchConsumption(service.metrics, consumption);
    return { topics };
  },
});

/** What is routed without a filter that this release does not know cannot be taken back, so events wait. */
function pauseWhileUnmet(
  config: Pick<ConfigView, 'unmet' | 'onChange'>,
  consumption: Pick<Consumption, 'pause' | 'resume'>,
): void {
  let isPaused = false;
  const update = (): void => {
    if (isPaused === (config.unmet('router') !== undefined)) return;
    isPaused = !isPaused;
    if (isPaused) consumption.pause();
    else consumption.resume();
  };
  config.onChange(update);
  update();
}
