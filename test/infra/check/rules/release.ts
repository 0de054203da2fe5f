/** The series of a release of Tailrace whose parts all work, as Prometheus has them after scraping its pods. */
import { level, rate, rightClock, type SeriesTimelines, type Timeline } from './timeline.ts';

export type Labels = Readonly<Record<string, string>>;

/** The identity of the release under test; other labels of its targets are added by `targetLabels`. */
export const identity = { cluster: 'eu-1', namespace: 'shop', tailrace_release: 'acme' } as const;

/** `name{labels}` with labels in a fixed order. */
export function seriesName(name: string, labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return `${name}{${pairs.join(',')}}`;
}

export type Component = 'ingest' | 'router' | 'delivery' | 'control';
export const components: readonly Component[] = ['ingest', 'router', 'delivery', 'control'];

/** The series of one pod: a metric with its own labels, and its values. */
export type PodSeries = readonly (readonly [name: string, labels: Labels, timeline: Timeline])[];

export interface Pod {
  readonly component: Component;
  readonly name: string;
  /** Requests, events and deliveries a minute; default 600. */
  readonly perMinute?: (minute: number) => number;
}

/** With the labels that the scrape configuration sets on every target. */
export function ofPod(
  { component, name }: Pod,
  series: PodSeries,
  release: Labels = identity,
): SeriesTimelines {
  const target = {
    ...release,
    tailrace_component: component,
    pod: name,
    instance: `${name}:9464`,
    job: component,
  };
  return Object.fromEntries(
    series.map(([metric, labels, timeline]) => [seriesName(metric, { ...target, ...labels }), timeline]),
  );
}

const none = level(0);
const topics = {
  events: 'tailrace.events',
  deliveries: 'tailrace.deliveries',
  tier: 'tailrace.deliveries.retry.10s',
};

/** What a healthy pod exposes, with a load of `load` (a counter). */
export function podSeries(component: Component, load: Timeline = rate(600)): PodSeries {
  const shared: PodSeries = [
    ['up', {}, level(1)],
    ['tailrace_build_info', { version: '1.0.0', revision: 'abc' }, level(1)],
    ['tailrace_config_age_seconds', {}, level(2)],
    ['tailrace_clock_seconds', {}, rightClock],
  ];
  switch (component) {
    case 'ingest': {
      return [
        ...shared,
        ['tailrace_ingest_responses_total', { route: 'track', status: '200' }, load],
        ['tailrace_ingest_responses_total', { route: 'track', status: '429' }, none],
        ['tailrace_ingest_responses_total', { route: 'track', status: '503' }, none],
        ['tailrace_ingest_calls_received_total', {}, load],
      ];
    }
    case 'router': {
      return [
        ...shared,
        ...consumption([topics.events]),
        ['tailrace_router_events_received_total', {}, load],
      ];
    }
    case 'delivery': {
      return [
        ...shared,
        ...consumption([topics.deliveries, topics.tier]),
        ['tailrace_missing_partitions', {}, none],
        ['tailrace_egress_proxy_open_seconds', {}, none],
        ...(['none', 'breaker'] as const).flatMap((held_by): PodSeries => {
          const delays = held_by === 'none' ? load : none;
          return [
            ['tailrace_delivery_first_attempt_delay_seconds_bucket', { held_by, le: '30' }, delays],
            ['tailrace_delivery_first_attempt_delay_seconds_count', { held_by }, delays],
          ];
        }),
        [
          'tailrace_destination_attempts_total',
          { destination_id: 'crm', outcome: 'delivered', reason: '' },
          load,
        ],
        [
          'tailrace_destination_attempts_total',
          { destination_id: 'crm', outcome: 'retry', reason: 'timeout' },
          none,
        ],
        ['tailrace_destination_breaker_open_seconds', { destination_id: 'crm' }, none],
        ['tailrace_destination_dead_letters_total', { destination_id: 'crm', reason: 'client-error' }, none],
      ];
    }
    case 'control': {
      return [...shared, ['tailrace_history_lag_seconds', {}, level(1)]];
    }
  }
}

function consumption(names: readonly string[]): PodSeries {
  return [
    ...names.flatMap((topic): PodSeries => [
      ['tailrace_consumer_lag_seconds', { topic }, none],
      ['tailrace_consumer_assigned_partitions', { topic }, level(6)],
      ['tailrace_consumer_retention_used_ratio', { topic }, none],
      ['tailrace_consumer_expired_records_total', { topic }, none],
    ]),
    ['tailrace_consumer_rebalances_total', {}, level(1)],
    ['tailrace_consumer_without_work_seconds_total', {}, level(1)],
  ];
}

/** One pod of each component, all healthy. */
export function healthyRelease(release: Labels = identity): SeriesTimelines {
  return Object.assign(
    {},
    ...components.map((component) =>
      ofPod({ component, name: `${component}-0` }, podSeries(component), release),
    ),
  ) as SeriesTimelines;
}
