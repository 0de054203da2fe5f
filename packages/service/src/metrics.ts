/** Prometheus metrics of one process: what a service counts, and what Node and the process say of themselves. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * Names follow `tailrace_<noun>_<unit>_total` for counters and end in the base unit otherwise (`_seconds`,
 * `_bytes`). Labels come from closed sets: never a user id, a URL or anything a caller chooses.
 */
export interface Metrics {
  counter<Label extends string = never>(
    name: string,
    help: string,
    labels?: readonly Label[],
  ): Counter<Label>;
  /** `read` is called at each scrape, and says all that is to be shown; without it the gauge is set by hand. */
  gauge<Label extends string = never>(
    name: string,
    help: string,
    options?: {
      readonly labels?: readonly Label[];
      readonly read?: () => number | readonly Sample<Label>[];
    },
  ): Gauge<Label>;
  histogram<Label extends string = never>(
    name: string,
    help: string,
    options: { readonly buckets: readonly number[]; readonly labels?: readonly Label[] },
  ): Histogram<Label>;
  /** The text of a scrape. */
  expose(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** One value of a gauge with labels. */
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

/** A registry of its own, so that two services in one test do not share counts. */
export function createMetrics(options: { readonly processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry();
  if (options.processMetrics ?? true) collectDefaultMetrics({ register: registry });
  const common = { registers: [registry] };
  return {
    counter: (name, help, labels = []) => new Counter({ ...common, name, help, labelNames: labels }),
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
    expose: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}

/** What to give `connectKafka`, so that batches which a service skips are counted. */
export function countUnreadable(
  metrics: Metrics,
): (batch: { readonly topic: string; readonly reason: string }) => void {
  const help = 'Batches of records that could not be read and were skipped, by topic and reason.';
  const skipped = metrics.counter('tailrace_unreadable_batches_total', help, ['topic', 'reason']);
  return ({ topic, reason }) => {
    skipped.inc({ topic, reason });
  };
}

/** The lag of a service that consumes, by the same name in all of them. */
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
  const help =
    'Records between what is finished and the end of the partition; in a retry tier, those waiting to be due.';
  metrics.gauge('tailrace_consumer_lag_records', help, {
    labels: ['topic', 'partition'],
    read: () =>
      consumption.partitions.map(({ topic, partition, lag }) => ({
        labels: { topic, partition: String(partition) },
        value: lag,
      })),
  });
}
