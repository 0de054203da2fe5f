/** Days in the life of a release in which no alert may fire, or only tickets. */
import type { AlertCase } from './cases.ts';
import { components, healthyRelease, ofPod, podSeries, type Component } from './release.ts';
import {
  absent,
  during,
  level,
  rate,
  steps,
  varying,
  type SeriesTimelines,
  type Timeline,
} from './timeline.ts';

interface SilentScenario {
  readonly title: string;
  readonly minutes: number;
  readonly series: SeriesTimelines;
  /** The alerts at the end. Default: no alert ever fires. */
  readonly alerts?: readonly Pick<AlertCase, 'alert' | 'rule' | 'labels'>[];
}

export const scenarios: readonly SilentScenario[] = [
  {
    title: 'has no alert on a fresh install, while its pods start and its first requests fail',
    minutes: 12 * 60,
    series: freshInstall(),
  },
  {
    title: 'has no alert through a rolling restart of six replicas of each service with a new version',
    minutes: 3 * 60,
    series: rollingRestart(6),
  },
  {
    title: 'has no alert while sources exceed their rate limits, which ingest answers with 429',
    minutes: 3 * 60,
    series: {
      ...healthyRelease(),
      ...pod('ingest', 'tailrace_ingest_responses_total', { route: 'track', status: '429' }, rate(600)),
    },
  },
  {
    title: 'has no alert when a few requests of a quiet hour fail: ten bad ones are the least number',
    minutes: 3 * 60,
    series: {
      ...healthyRelease(),
      ...pod('ingest', 'tailrace_ingest_responses_total', { route: 'track', status: '200' }, rate(0.1)),
      ...pod(
        'ingest',
        'tailrace_ingest_responses_total',
        { route: 'track', status: '503' },
        steps([0, 0], [60, 4], [120, 9]),
      ),
    },
  },
  {
    title:
      'has only a ticket that names the destination while a receiver is down and its deliveries are late',
    minutes: 3 * 60,
    series: deadReceiver(),
    alerts: [{ alert: 'TailraceBreakerOpen', labels: { destination_id: 'crm' } }],
  },
];

type Label = Readonly<Record<string, string>>;

function pod(component: Component, name: string, labels: Label, timeline: Timeline): SeriesTimelines {
  return ofPod({ component, name: `${component}-0` }, [[name, labels, timeline]]);
}

/** Pods are created at minute 10, are scraped without success first, and wait for their topics. */
function freshInstall(): SeriesTimelines {
  const created = 10;
  const ready = 20;
  const load = varying((minute) => (minute < 60 ? 0 : 2));
  const all = components.map((component) =>
    ofPod(
      { component, name: `${component}-0` },
      podSeries(component, load).map(([name, labels, timeline]) => {
        const from = name.startsWith('tailrace_consumer_') ? ready : created + 2;
        return [
          name,
          labels,
          name === 'up' ? steps([created, 0], [created + 2, 1]) : during(from, Infinity, timeline),
        ];
      }),
    ),
  );
  return {
    ...(Object.assign({}, ...all) as SeriesTimelines),
    ...pod(
      'ingest',
      'tailrace_ingest_responses_total',
      { route: 'track', status: '503' },
      steps([12, 0], [70, 3]),
    ),
    ...pod('control', 'tailrace_history_lag_seconds', {}, steps([12, 30], [14, 1])),
    // No destination exists at first.
    ...pod(
      'delivery',
      'tailrace_destination_breaker_open_seconds',
      { destination_id: 'crm' },
      steps([100, 0]),
    ),
    ...pod(
      'delivery',
      'tailrace_destination_dead_letters_total',
      { destination_id: 'crm', reason: 'client-error' },
      steps([200, 1], [240, 3]),
    ),
  };
}

/** Every 2 min a pod of each service is replaced by one with the next version. A rebalance follows when it leaves and when its replacement joins. */
function rollingRestart(replicas: number): SeriesTimelines {
  const begin = 60;
  const perPod = 2;
  const series: SeriesTimelines[] = [];
  for (const component of components) {
    for (let index = 0; index < replicas; index += 1) {
      const replaced = begin + index * perPod;
      const [before, after] = [podSeries(component), podSeries(component, rate(500))];
      // Each of the pods that live at a rebalance counts it.
      const rebalances =
        (born: number): Timeline =>
        (minute) =>
          2 *
          Math.max(
            0,
            Math.min(Math.floor((minute + born - begin) / perPod), replicas) -
              Math.max(0, Math.floor((born - begin) / perPod)),
          );
      series.push(
        ofPod(
          { component, name: `${component}-old-${String(index)}` },
          before.map(([name, labels, timeline]) => [
            name,
            labels,
            during(0, replaced + 1, name === 'tailrace_consumer_rebalances_total' ? rebalances(0) : timeline),
          ]),
        ),
        ofPod(
          { component, name: `${component}-new-${String(index)}` },
          after.map(([name, labels, timeline]) => {
            const version = name === 'tailrace_build_info' ? { version: '1.1.0', revision: 'def' } : labels;
            const values = name === 'up' ? steps([0, 0], [1, 1]) : timeline;
            const counted = name === 'tailrace_consumer_rebalances_total' ? rebalances(replaced) : values;
            return [name, version, during(name === 'up' ? replaced : replaced + 1, Infinity, counted)];
          }),
        ),
      );
    }
  }
  return Object.assign({}, ...series) as SeriesTimelines;
}

/** The receiver has been down for two hours; all its deliveries are held back by the breaker and late. */
function deadReceiver(): SeriesTimelines {
  const down = 60;
  const since =
    (perMinute: number): Timeline =>
    (minute) =>
      perMinute * Math.max(0, minute - down);
  const delay = 'tailrace_delivery_first_attempt_delay_seconds';
  const crm = { destination_id: 'crm' };
  return {
    ...healthyRelease(),
    ...pod('delivery', `${delay}_count`, { held_by: 'breaker' }, since(1)),
    ...pod('delivery', `${delay}_bucket`, { held_by: 'breaker', le: '30' }, level(0)),
    ...pod(
      'delivery',
      'tailrace_destination_breaker_open_seconds',
      crm,
      (minute) => 60 * Math.max(0, minute - down),
    ),
    ...pod(
      'delivery',
      'tailrace_destination_attempts_total',
      { ...crm, outcome: 'delivered', reason: '' },
      (minute) => 600 * Math.min(minute, down),
    ),
    ...pod(
      'delivery',
      'tailrace_destination_attempts_total',
      { ...crm, outcome: 'retry', reason: 'timeout' },
      since(1),
    ),
    ...pod('delivery', 'tailrace_destination_dead_letters_total', { ...crm, reason: 'circuit-open' }, absent),
  };
}
