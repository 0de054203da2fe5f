/** The Prometheus metrics of one process: those of the service, of Node and of the process. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { createPages, type MetricsPages } from './metrics-page.ts';

/**
 * Names follow `tailrace_<noun>_<unit>_total` for counters and end in the base unit otherwise (`_seconds`,
 * `_bytes`). Labels come from closed sets: never a user id, a URL or any value that a caller chooses. Metrics for each
 * destination, source or partition are on separate pages, under other names.
 */
export interface Metrics {
  /** `read`, called at each scrape, returns all values. Without it, the caller increments the counter. */
  counter<Label extends string = never>(
    name: string,
    help: string,
    labels?: readonly Label[],
    read?: Read<Label>,
  ): Counter<Label>;
  /** `read`, called at each scrape, returns all values. Without it, the caller sets the gauge. */
  gauge<Label extends string = never>(
    name: string,
    help: string,
    options?: {
      readonly labels?: readonly Label[];
      readonly read?: Read<Label>;
    },
  ): Gauge<Label>;
  histogram<Label extends string = never>(
    name: string,
    help: string,
    options: { readonly buckets: readonly number[]; readonly labels?: readonly Label[] },
  ): Histogram<Label>;
  /** The pages with metrics for each destination, source or partition. */
  readonly pages: MetricsPages;
  readonly contentType: string;
  /** The text of a scrape of `/metrics`. */
  expose(): Promise<string>;
}

type Read<Label extends string> = () => number | readonly Sample<Label>[];

/** One value of a counter or gauge with labels. */
export interface Sample<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

/** Histogram buckets, in seconds. */
export const buckets = {
  /** Work inside one process and exchanges with a broker: 1 ms to 10 s. */
  requestSeconds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  /** From the acceptance of an event to its delivery, retries included: 5 ms to the 4 h of the retry window. */
  eventAgeSeconds: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300, 1_800, 3_600, 7_200, 14_400],
} as const;

/** Creates a separate registry, so that two services in one test do not share counts. */
export function createMetrics(options: { readonly processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry();
  if (options.processMetrics ?? true) collectDefaultMetrics({ register: registry });
  const common = { registers: [registry] };
  return {
    counter: (name, help, labels = [], read) =>
      new Counter({
        ...common,
        name,
        help,
        labelNames: labels,
        ...(read && {
          collect() {
            const found = read();
            this.reset();
            if (typeof found === 'number') this.inc(found);
            else for (const { labels, value } of found) this.inc(labels, value);
          },
        }),
      }),
    gauge: (name, help, { labels = [], read } = {}) =>
      new Gauge({
        ...common,
        name,
        help,
        labelNames: labels,
        ...(read && {
          collect() {
            const found = read();
            if (typeof found === 'number') {
              this.set(found);
              return;
            }
            this.reset();
            for (const { labels, value } of found) this.set(labels, value);
          },
        }),
      }),
    histogram: (name, help, { buckets, labels = [] }) =>
      new Histogram({ ...common, name, help, buckets: [...buckets], labelNames: labels }),
    pages: createPages(),
    contentType: registry.contentType,
    expose: () => registry.metrics(),
  };
}

/** A callback for `connectKafka` that counts skipped batches. */
export function countUnreadable(
  metrics: Metrics,
): (batch: { readonly topic: string; readonly reason: string }) => void {
  const help = 'Batches of records that could not be read and were skipped, by topic and reason.';
  const skipped = metrics.counter('tailrace_unreadable_batches_total', help, ['topic', 'reason']);
  return ({ topic, reason }) => {
    skipped.inc({ topic, reason });
  };
}

/** Registers the lag metrics of a consuming service: by topic, and by partition on the partitions page. */
export function watchLag(
  metrics: Metrics,
  consumption: {
    readonly partitions: readonly {
      readonly topic: string;
      readonly partition: number;
      readonly lag: number;
    }[];
  },
): void {
  const what = 'Records between what is finished and the end';
  const byTopic = (combine: (lags: number, lag: number) => number) => () => {
    const lags = new Map<string, number>();
    for (const { topic, lag } of consumption.partitions) lags.set(topic, combine(lags.get(topic) ?? 0, lag));
    return Array.from(lags, ([topic, value]) => ({ labels: { topic }, value }));
  };
  metrics.gauge(
    'tailrace_consumer_lag_records',
    `${what} of the partitions that this replica owns; in a retry tier, those waiting to be due.`,
    { labels: ['topic'], read: byTopic((lags, lag) => lags + lag) },
  );
  metrics.gauge('tailrace_consumer_lag_max_records', `${what} of the partition with the most of them.`, {
    labels: ['topic'],
    read: byTopic(Math.max),
  });
  metrics.pages.partitions.add({
    name: 'tailrace_partition_lag_records',
    help: `${what} of the partition.`,
    type: 'gauge',
    *samples() {
      for (const { topic, partition, lag } of consumption.partitions) {
        yield { labels: { topic, partition: String(partition) }, value: lag };
      }
    },
  });
}
