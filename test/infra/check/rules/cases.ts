/**
 * One or more cases for every alert: a healthy release in which one thing goes wrong for a while. Each case shows that the
 * alert is silent before, fires in time, is the only one, and resolves.
 */
import { components, healthyRelease, identity, ofPod, podSeries, type Component } from './release.ts';
import { absent, level, rate, rightClock, varying, type SeriesTimelines, type Timeline } from './timeline.ts';

export interface AlertCase {
  /** The trouble, as the end of "fires when …". */
  readonly when: string;
  readonly alert: string;
  /** Labels of the alert besides the identity of the release. */
  readonly labels?: Readonly<Record<string, string>>;
  /** For an alert with several windows or severities. */
  readonly rule?: Readonly<Record<string, string>>;
  /** Other rules that fire when this one does: alert, and labels of the rule. */
  readonly also?: readonly Pick<AlertCase, 'alert' | 'labels' | 'rule'>[];
  readonly everyMinutes?: number;
  /** Minutes between two evaluations, where nothing changes quickly. Default: `everyMinutes`. */
  readonly evaluatedEveryMinutes?: number;
  /** Minutes before the trouble. */
  readonly healthy: number;
  /** Minutes of trouble after which the alert is still silent. */
  readonly silentAfter: number;
  /** Minutes of trouble after which the alert fires. */
  readonly firesAfter: number;
  /** Minutes after the trouble, which ends when the alert has fired, until no alert fires. */
  readonly resolvesAfter: number;
  /** The series that differ, from the minute of the trouble until it ends. */
  readonly trouble: (from: number, to: number) => SeriesTimelines;
  /** Default: all series of a second release, which stays healthy. */
  readonly beside?: SeriesTimelines;
}

type Label = Readonly<Record<string, string>>;

/** A series of the pod `<component>-0`. */
function of(component: Component, name: string, labels: Label, timeline: Timeline): SeriesTimelines {
  return ofPod({ component, name: `${component}-0` }, [[name, labels, timeline]]);
}

/** A gauge with another value, or none, during the trouble. */
function gauge(healthy: Timeline, ill: Timeline): (from: number, to: number) => Timeline {
  return (from, to) => (minute) => (minute >= from && minute < to ? ill(minute - from) : healthy(minute));
}

/** A counter with another rate during the trouble. */
function counter(healthy: number, ill: number): (from: number, to: number) => Timeline {
  return (from, to) => (minute) =>
    healthy * minute + (ill - healthy) * Math.max(0, Math.min(minute, to) - from);
}

const always = (value: number): Timeline => level(value);
const events = 'tailrace.events';
const tier = 'tailrace.deliveries.retry.10s';
const day = 24 * 60;
/** A second release in the same namespace. */
const neighbourRelease = { ...identity, tailrace_release: 'other' };

/** Of 600 requests a minute, `bad` end with 503. */
function failingRequests(bad: number): AlertCase['trouble'] {
  return (from, to) => ({
    ...of(
      'ingest',
      'tailrace_ingest_responses_total',
      { route: 'track', status: '200' },
      counter(600, 600 - bad)(from, to),
    ),
    ...of(
      'ingest',
      'tailrace_ingest_responses_total',
      { route: 'track', status: '503' },
      counter(0, bad)(from, to),
    ),
  });
}

/** Of 600 first attempts a minute that nothing holds back, `late` begin after more than 30 s. */
function lateAttempts(late: number): AlertCase['trouble'] {
  const delay = 'tailrace_delivery_first_attempt_delay_seconds_bucket';
  return (from, to) =>
    of('delivery', delay, { held_by: 'none', le: '30' }, counter(600, 600 - late)(from, to));
}

/** The counters of what enters the release. */
function ofEntries(release: Label, load: Timeline): SeriesTimelines {
  const counters = {
    ingest: 'tailrace_ingest_calls_received_total',
    router: 'tailrace_router_events_received_total',
  } as const;
  return Object.assign(
    {},
    ...Object.entries(counters).map(([component, name]) =>
      ofPod({ component: component as Component, name: `${component}-0` }, [[name, {}, load]], release),
    ),
  ) as SeriesTimelines;
}

/**
 * Begins on a Sunday without any event. The weekdays are busy from 8 to 20, and the second Monday is a holiday. Each day has
 * three failed requests, also the days without any other. The trouble is at noon of the next day.
 */
function nothingArrives(from: number, to: number): SeriesTimelines {
  const loadUnless = (isOver: (minute: number) => boolean): Timeline =>
    varying((minute) => {
      const today = Math.floor(minute / day);
      const hour = Math.floor((minute % day) / 60);
      if (isOver(minute) || today % 7 === 0) return 0;
      if (today === 8) return minute % 600 === 0 ? 1 : 0;
      return hour >= 8 && hour < 20 ? 600 : 5;
    });
  const load = loadUnless(() => false);
  const all = components.map((component) =>
    ofPod({ component, name: `${component}-0` }, podSeries(component, load)),
  );
  const failures: Timeline = (minute) => 3 * Math.floor((minute + day / 2) / day);
  return {
    ...(Object.assign({}, ...all) as SeriesTimelines),
    ...of('ingest', 'tailrace_ingest_responses_total', { route: 'track', status: '503' }, failures),
    ...ofEntries(
      identity,
      loadUnless((minute) => minute >= from && minute < to),
    ),
  };
}

function budgetBurn(
  alert: string,
  what: string,
  trouble: (share: number) => AlertCase['trouble'],
  budget: number,
): AlertCase[] {
  const rule = (long_window: string): Label => ({ long_window });
  return [
    {
      when: `${what} at 50 times the budget, for minutes`,
      alert,
      rule: rule('1h'),
      healthy: 6 * 60,
      silentAfter: 12,
      firesAfter: 24,
      resolvesAfter: 12,
      trouble: trouble(50 * budget),
    },
    {
      when: `${what} at 10 times the budget, for hours`,
      alert,
      rule: rule('6h'),
      also: [{ alert, rule: rule('3d') }],
      everyMinutes: 2,
      evaluatedEveryMinutes: 4,
      healthy: 8 * 60,
      silentAfter: 100,
      firesAfter: 5 * 60,
      // The long window of the ticket still counts it, and so do its last six hours.
      resolvesAfter: 7 * 60,
      trouble: trouble(10 * budget),
    },
    {
      when: `${what} at 1.5 times the budget, for days`,
      alert,
      rule: rule('3d'),
      everyMinutes: 4,
      evaluatedEveryMinutes: 12,
      healthy: day,
      silentAfter: 1.9 * day,
      firesAfter: 2.2 * day,
      resolvesAfter: 3 * 60,
      trouble: trouble(1.5 * budget),
    },
  ];
}

export const alertCases: readonly AlertCase[] = [
  ...budgetBurn(
    'TailraceIngestErrorBudgetBurn',
    'ingest answers with 503',
    (share) => failingRequests(600 * share),
    0.001,
  ),
  ...budgetBurn(
    'TailraceFirstAttemptErrorBudgetBurn',
    'first attempts are late',
    (share) => lateAttempts(600 * share),
    0.01,
  ),
  {
    when: 'Kafka deletes one record before it is read',
    alert: 'TailraceRecordsExpiredUnread',
    labels: { topic: events },
    healthy: 30,
    silentAfter: 0,
    firesAfter: 3,
    resolvesAfter: 65,
    trouble: (from, to) =>
      of(
        'router',
        'tailrace_consumer_expired_records_total',
        { topic: events },
        counter(0, 1)(from, Math.min(to, from + 1)),
      ),
  },
  {
    when: 'the same record of events stays the oldest unfinished one',
    alert: 'TailraceNotConsuming',
    labels: { topic: events },
    healthy: 30,
    silentAfter: 3,
    firesAfter: 12,
    resolvesAfter: 2,
    trouble: (from, to) =>
      of(
        'router',
        'tailrace_consumer_lag_seconds',
        { topic: events },
        gauge(always(0), (minute) => 60 * minute)(from, to),
      ),
  },
  {
    when: 'no replica owns a partition of deliveries',
    alert: 'TailraceNotConsuming',
    labels: { topic: 'tailrace.deliveries' },
    healthy: 30,
    silentAfter: 2,
    firesAfter: 5,
    resolvesAfter: 2,
    trouble: (from, to) => ({
      ...of(
        'delivery',
        'tailrace_consumer_assigned_partitions',
        { topic: 'tailrace.deliveries' },
        gauge(always(6), always(0))(from, to),
      ),
      ...of(
        'delivery',
        'tailrace_consumer_lag_seconds',
        { topic: 'tailrace.deliveries' },
        gauge(always(0), absent)(from, to),
      ),
    }),
  },
  {
    when: 'the head of a retry topic is 5 min late',
    alert: 'TailraceTiersLate',
    labels: { topic: tier },
    healthy: 30,
    silentAfter: 8,
    firesAfter: 12,
    resolvesAfter: 2,
    trouble: (from, to) =>
      of(
        'delivery',
        'tailrace_consumer_lag_seconds',
        { topic: tier },
        gauge(always(0), always(300))(from, to),
      ),
  },
  {
    when: 'a retry topic lacks partitions',
    alert: 'TailraceUnequalPartitions',
    healthy: 30,
    silentAfter: 8,
    firesAfter: 12,
    resolvesAfter: 2,
    trouble: (from, to) =>
      of('delivery', 'tailrace_missing_partitions', {}, gauge(always(0), always(3))(from, to)),
  },
  {
    when: 'the egress proxy is down for minutes',
    alert: 'TailraceEgressProxyDown',
    healthy: 30,
    silentAfter: 2,
    firesAfter: 5,
    resolvesAfter: 2,
    trouble: (from, to) =>
      of(
        'delivery',
        'tailrace_egress_proxy_open_seconds',
        {},
        gauge(always(0), (minute) => 60 * minute)(from, to),
      ),
  },
  {
    when: 'nothing arrives on a weekday, but not on a quiet Sunday, nor on the holiday after it',
    alert: 'TailraceNothingArrives',
    labels: { entry: 'ingest' },
    also: [{ alert: 'TailraceNothingArrives', labels: { entry: 'router' } }],
    everyMinutes: 4,
    evaluatedEveryMinutes: 12,
    healthy: 9 * day + 12 * 60,
    silentAfter: 24,
    firesAfter: 60,
    resolvesAfter: 12,
    trouble: nothingArrives,
    beside: ofEntries(neighbourRelease, rate(600)),
  },
  {
    when: 'the oldest record has used 60 % of its retention',
    alert: 'TailraceRetentionHalfUsed',
    labels: { topic: events },
    healthy: 30,
    silentAfter: 3,
    firesAfter: 7,
    resolvesAfter: 2,
    trouble: (from, to) =>
      of(
        'router',
        'tailrace_consumer_retention_used_ratio',
        { topic: events },
        gauge(always(0), always(0.6))(from, to),
      ),
  },
  {
    when: 'the oldest record has used 90 % of its retention',
    alert: 'TailraceRetentionNearlyUsed',
    labels: { topic: events },
    also: [{ alert: 'TailraceRetentionHalfUsed', labels: { topic: events } }],
    healthy: 30,
    silentAfter: 3,
    firesAfter: 7,
    resolvesAfter: 2,
    trouble: (from, to) =>
      of(
        'router',
        'tailrace_consumer_retention_used_ratio',
        { topic: events },
        gauge(always(0), always(0.9))(from, to),
      ),
  },
  ...components.map((component): AlertCase => ({
    when: `the configuration of ${component} grows old`,
    alert: 'TailraceConfigurationStale',
    labels: { tailrace_component: component },
    healthy: 30,
    silentAfter: 8,
    firesAfter: 12,
    resolvesAfter: 2,
    trouble: (from, to) =>
      of(component, 'tailrace_config_age_seconds', {}, gauge(always(2), (minute) => 60 * minute)(from, to)),
  })),
  {
    when: 'a group rebalances twice a minute',
    alert: 'TailraceRebalanceStorm',
    labels: { tailrace_component: 'delivery' },
    healthy: 60,
    silentAfter: 25,
    firesAfter: 35,
    resolvesAfter: 12,
    trouble: (from, to) => of('delivery', 'tailrace_consumer_rebalances_total', {}, counter(0, 2)(from, to)),
  },
  {
    when: 'a group is without work for half of the time',
    alert: 'TailraceRebalanceStorm',
    labels: { tailrace_component: 'router' },
    healthy: 60,
    silentAfter: 15,
    firesAfter: 30,
    resolvesAfter: 12,
    trouble: (from, to) =>
      of('router', 'tailrace_consumer_without_work_seconds_total', {}, counter(0, 30)(from, to)),
  },
  ...(['commits', 'clock'] as const).map((cause): AlertCase => ({
    when: `Kafka refuses a replica for its ${cause}`,
    alert: 'TailraceReplicaRefused',
    labels: { tailrace_component: 'delivery', pod: 'delivery-0', cause },
    healthy: 30,
    silentAfter: 0,
    firesAfter: 2,
    resolvesAfter: 17,
    trouble: (from, to) =>
      of('delivery', 'tailrace_kafka_refusals_total', { cause }, counter(0, 30)(from, to)),
  })),
  ...[10, -10].map((ahead): AlertCase => ({
    when: `the clock of a replica is ${ahead} s ahead`,
    alert: 'TailraceClockWrong',
    labels: { tailrace_component: 'control', pod: 'control-0' },
    healthy: 30,
    silentAfter: 3,
    firesAfter: 7,
    resolvesAfter: 2,
    trouble: (from, to) =>
      of(
        'control',
        'tailrace_clock_seconds',
        {},
        gauge(rightClock, (since) => 60 * (from + since) + ahead)(from, to),
      ),
  })),
  {
    when: 'the history is 10 min behind',
    alert: 'TailraceHistoryBehind',
    healthy: 30,
    silentAfter: 13,
    firesAfter: 17,
    resolvesAfter: 2,
    trouble: (from, to) =>
      of('control', 'tailrace_history_lag_seconds', {}, gauge(always(1), always(600))(from, to)),
  },
  {
    when: 'the history is not available',
    alert: 'TailraceHistoryBehind',
    healthy: 30,
    silentAfter: 13,
    firesAfter: 17,
    resolvesAfter: 2,
    trouble: (from, to) =>
      of('control', 'tailrace_history_available', {}, gauge(always(1), always(0))(from, to)),
  },
  {
    when: 'one replica stays on another version',
    alert: 'TailraceVersionsMixed',
    healthy: 30,
    silentAfter: 58,
    firesAfter: 62,
    resolvesAfter: 2,
    trouble: (from, to) =>
      of(
        'router',
        'tailrace_build_info',
        { version: '1.1.0', revision: 'def' },
        gauge(absent, always(1))(from, to),
      ),
  },
  {
    when: 'one of two replicas does not answer scrapes',
    alert: 'TailraceTargetDown',
    labels: { tailrace_component: 'ingest', pod: 'ingest-1', instance: 'ingest-1:9464' },
    healthy: 30,
    silentAfter: 8,
    firesAfter: 12,
    resolvesAfter: 2,
    trouble: (from, to) =>
      ofPod({ component: 'ingest', name: 'ingest-1' }, [['up', {}, gauge(always(1), always(0))(from, to)]]),
  },
  {
    when: 'the only replica of control has disappeared',
    alert: 'TailraceComponentGone',
    labels: { tailrace_component: 'control' },
    healthy: 30,
    silentAfter: 3,
    firesAfter: 7,
    resolvesAfter: 2,
    trouble: (from, to) => gonePod('control', from, to),
  },
  {
    when: 'the only replica of router does not answer',
    alert: 'TailraceComponentGone',
    labels: { tailrace_component: 'router' },
    healthy: 30,
    silentAfter: 3,
    firesAfter: 8,
    resolvesAfter: 2,
    trouble: (from, to) => ({
      ...gonePod('router', from, to),
      ...of('router', 'up', {}, gauge(always(1), always(0))(from, to)),
    }),
  },
  {
    when: 'the breaker of a destination is open for more than 30 min',
    alert: 'TailraceBreakerOpen',
    labels: { destination_id: 'crm' },
    healthy: 30,
    silentAfter: 28,
    firesAfter: 33,
    resolvesAfter: 2,
    trouble: (from, to) =>
      of(
        'delivery',
        'tailrace_destination_breaker_open_seconds',
        { destination_id: 'crm' },
        gauge(always(0), (minute) => 60 * minute)(from, to),
      ),
  },
  {
    when: 'a receiver fails four fifths of its requests',
    alert: 'TailraceDestinationFailing',
    labels: { destination_id: 'crm' },
    healthy: 60,
    silentAfter: 40,
    firesAfter: 56,
    resolvesAfter: 20,
    trouble: (from, to) => ({
      ...of(
        'delivery',
        attempts,
        { destination_id: 'crm', outcome: 'delivered', reason: '' },
        counter(600, 120)(from, to),
      ),
      ...of(
        'delivery',
        attempts,
        { destination_id: 'crm', outcome: 'retry', reason: 'timeout' },
        counter(0, 480)(from, to),
      ),
    }),
  },
  {
    when: 'a destination gets its first dead letters, in one scrape',
    alert: 'TailraceDeadLettersRising',
    labels: { destination_id: 'crm' },
    everyMinutes: 1,
    healthy: 120,
    silentAfter: 8,
    firesAfter: 12,
    resolvesAfter: 60,
    trouble: (from) =>
      of('delivery', deadLetters, { destination_id: 'crm', reason: 'client-error' }, (minute) =>
        minute < from ? undefined : 500,
      ),
  },
  {
    when: 'a destination gets many more dead letters than usual',
    alert: 'TailraceDeadLettersRising',
    labels: { destination_id: 'crm' },
    everyMinutes: 4,
    evaluatedEveryMinutes: 12,
    healthy: 1.5 * day,
    silentAfter: 12,
    firesAfter: 60,
    resolvesAfter: 80,
    trouble: (from, to) =>
      of(
        'delivery',
        deadLetters,
        { destination_id: 'crm', reason: 'client-error' },
        counter(0.1, 10)(from, to),
      ),
  },
];

const attempts = 'tailrace_destination_attempts_total';
const deadLetters = 'tailrace_destination_dead_letters_total';

/** All series of the only pod of a component end, and begin again when the trouble is over. */
function gonePod(component: Component, from: number, to: number): SeriesTimelines {
  const healthy = podSeries(component);
  return ofPod(
    { component, name: `${component}-0` },
    healthy.map(([name, labels, timeline]) => [name, labels, gauge(timeline, absent)(from, to)]),
  );
}

const neighbour = healthyRelease(neighbourRelease);

/** All series of a case: its release, and a healthy one beside it, for which no alert may fire. */
export function seriesOf(one: AlertCase): SeriesTimelines {
  const { healthy, firesAfter, trouble, everyMinutes = 1, beside = neighbour } = one;
  return { ...beside, ...healthyRelease(), ...trouble(healthy, healthy + firesAfter + everyMinutes) };
}
