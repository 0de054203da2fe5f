/** The metrics of a service's connection to Kafka. All are read from memory at a scrape, also while no broker answers. */
import type { Consumption, Kafka, KafkaObserver, PartitionLag } from '@tailrace/kafka';
import { highestOf } from '@tailrace/kafka';
import type { Metrics } from './metrics.ts';

/** An observer for `connectKafka` that counts requests and skipped batches. */
export function observeKafka(metrics: Metrics): KafkaObserver {
  const unreadable = metrics.counter('tailrace_unreadable_batches_total');
  const requests = metrics.counter('tailrace_kafka_requests_total');
  const durations = metrics.histogram('tailrace_kafka_request_duration_seconds');
  return {
    onUnreadable({ topic, reason }) {
      unreadable.inc({ topic, reason });
    },
    onRequest(api, outcome, seconds) {
      requests.inc({ api, outcome });
      durations.of({ api }).observe(seconds);
    },
  };
}

/** Registers the metrics of the publishers. */
export function watchPublishers(metrics: Metrics, kafka: Pick<Kafka, 'queued'>): void {
  metrics.gauge('tailrace_publisher_queued_records', () => kafka.queued().records);
  metrics.gauge('tailrace_publisher_queued_bytes', () => kafka.queued().bytes);
}

/** Registers what Kafka refuses of this replica. */
export function watchRefusals(metrics: Metrics, kafka: Pick<Kafka, 'refusals'>): void {
  metrics.counter('tailrace_kafka_refusals_total', () => {
    const refused = kafka.refusals();
    return (['commits', 'clock'] as const).map((cause) => ({ labels: { cause }, value: refused[cause] }));
  });
}

export type WatchedConsumption = Pick<
  Consumption,
  'topics' | 'partitions' | 'lags' | 'totals' | 'uncommittedMs'
>;

/** Registers the metrics of a consumer, by topic. Those of each partition are on a page of their own. */
export function watchConsumption(metrics: Metrics, consumption: WatchedConsumption): void {
  metrics.counter('tailrace_consumer_rebalances_total', () => consumption.totals.rebalances);
  metrics.counter(
    'tailrace_consumer_without_work_seconds_total',
    () => consumption.totals.withoutWorkMs / 1_000,
  );
  metrics.counter('tailrace_kafka_commit_failures_total', () => consumption.totals.commitFailures);
  metrics.gauge('tailrace_consumer_uncommitted_seconds', () => consumption.uncommittedMs / 1_000);
  metrics.counter('tailrace_consumer_expired_records_total', () => {
    const { expired } = consumption.totals;
    return consumption.topics.map((topic) => ({ labels: { topic }, value: expired.get(topic) ?? 0 }));
  });
  watchRecords(metrics, consumption);
  watchTimes(metrics, consumption);
}

function watchRecords(metrics: Metrics, consumption: WatchedConsumption): void {
  const byTopic = (combine: (lags: number, lag: number) => number) => () => {
    const lags = new Map<string, number>();
    for (const { topic, lag } of consumption.partitions) lags.set(topic, combine(lags.get(topic) ?? 0, lag));
    return Array.from(lags, ([topic, value]) => ({ labels: { topic }, value }));
  };
  metrics.gauge(
    'tailrace_consumer_lag_records',
    byTopic((lags, lag) => lags + lag),
  );
  metrics.gauge('tailrace_consumer_lag_max_records', byTopic(Math.max));
  metrics.pages.partitions.add('tailrace_partition_lag_records', function* () {
    for (const { topic, partition, lag } of consumption.partitions) {
      yield { labels: { topic, partition: String(partition) }, value: lag };
    }
  });
}

function watchTimes(metrics: Metrics, consumption: WatchedConsumption): void {
  let known: readonly PartitionLag[] | undefined;
  /** Computed once for all metrics of a scrape. */
  const partitionLags = (): readonly PartitionLag[] => {
    if (known) return known;
    setImmediate(() => (known = undefined));
    return (known = consumption.lags());
  };
  /** One value for each topic. Topics for which it is undefined are left out. */
  const byTopic = (valueOf: (lags: readonly PartitionLag[]) => number | undefined) => () => {
    const lags = Map.groupBy(partitionLags(), ({ topic }) => topic);
    return consumption.topics.flatMap((topic) => {
      const value = valueOf(lags.get(topic) ?? []);
      return value === undefined ? [] : [{ labels: { topic }, value }];
    });
  };
  metrics.gauge(
    'tailrace_consumer_lag_seconds',
    byTopic((lags) => seconds(highestOf(lags.map(({ lateMs }) => lateMs)))),
  );
  metrics.gauge(
    'tailrace_consumer_retention_used_ratio',
    byTopic((lags) => highest(lags.flatMap(({ retentionUsed }) => retentionUsed ?? []))),
  );
  metrics.gauge(
    'tailrace_consumer_assigned_partitions',
    byTopic((lags) => lags.length),
  );
  metrics.gauge(
    'tailrace_consumer_paused_partitions',
    byTopic((lags) => lags.filter(({ isPaused }) => isPaused).length),
  );
  metrics.pages.partitions.add('tailrace_partition_lag_seconds', function* () {
    for (const { topic, partition, lateMs } of consumption.lags()) {
      if (lateMs !== undefined)
        yield { labels: { topic, partition: String(partition) }, value: lateMs / 1_000 };
    }
  });
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}

function highest(values: readonly number[]): number | undefined {
  return values.length > 0 ? Math.max(...values) : undefined;
}
