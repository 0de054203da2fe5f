/** Are users hurt, and by whom? The dashboard to open first. */
import {
  lines,
  orZero,
  percentiles,
  shareOf,
  problems,
  rates,
  stat,
  table,
  type Dashboard,
  type Panel,
} from './dashboard.ts';

const responses = 'tailrace_ingest_responses_total';
const firstAttempts = 'tailrace_delivery_first_attempt_delay_seconds';
const onTime = `${firstAttempts}_bucket{held_by="none", le=~"30(\\\\.0)?"}`;
const alertsFiring = 'ALERTS{alertstate="firing", alertname=~"Tailrace.+"}';

interface Objective extends Pick<Panel, 'title' | 'runbook'> {
  /** Recorded series of the requests that miss the objective, and of all. */
  readonly bad: string;
  readonly all: string;
  readonly allowed: number;
}

function budget({ bad, all, allowed, ...panel }: Objective): Panel {
  return {
    ...panel,
    description:
      'How many times faster than sustainable the error budget is used. 14.4 over 1 h or 6 over 6 h pages, 1 over 3 d is a ticket.',
    kind: 'lines',
    unit: 'none',
    width: 12,
    queries: ['1h', '6h', '3d'].map((window) => ({
      expr: orZero(
        `sum(tailrace:${bad}:increase${window}) / (sum(tailrace:${all}:increase${window}) > 0) / ${allowed}`,
      ),
      legend: window,
    })),
  };
}

export const overview: Dashboard = {
  name: 'overview',
  title: 'Overview',
  description: 'Whether users are hurt, and by whom: by Tailrace, by Kafka or by a receiver.',
  rows: [
    {
      title: 'Are users hurt, and by whom?',
      panels: [
        stat({
          title: 'Requests answered',
          description:
            'The share of requests to ingest in the last 5 min that were not answered with 5xx. Below 99.9 %, clients are hurt: they must send their events again.',
          unit: 'percentunit',
          runbook: 'TailraceIngestErrorBudgetBurn',
          thresholds: { good: 'high', warning: 0.999, critical: 0.986 },
          expr: shareOf(
            `sum(increase(${responses}[5m])) - (sum(increase(${responses}{status=~"5.."}[5m])) or on() vector(0))`,
            `sum(increase(${responses}[5m]))`,
            responses,
          ),
        }),
        stat({
          title: 'First attempts within 30 s',
          description:
            'The share of first attempts in the last 5 min that began within 30 s of the acceptance, without those that a receiver held back. Below 99 %, receivers get their events late because of Tailrace or Kafka.',
          unit: 'percentunit',
          runbook: 'TailraceFirstAttemptErrorBudgetBurn',
          thresholds: { good: 'high', warning: 0.99, critical: 0.856 },
          expr: shareOf(
            `sum(increase(${onTime}[5m]))`,
            `sum(increase(${firstAttempts}_count{held_by="none"}[5m]))`,
            `${firstAttempts}_count`,
          ),
        }),
        stat({
          title: 'Oldest unfinished event',
          description:
            'The age of the oldest record of events and deliveries that is not finished. Above a minute, the pipeline stalls or does not keep up. No value while a service does not know it.',
          unit: 's',
          runbook: 'TailraceNotConsuming',
          thresholds: { good: 'low', warning: 10, critical: 60 },
          expr: 'max(tailrace_consumer_lag_seconds{topic=~".*(events|deliveries)"})',
        }),
        problems({
          title: 'Records expired unread',
          description:
            'Records that Kafka deleted in the last 24 h before they were read. Each one is a lost event.',
          runbook: 'TailraceRecordsExpiredUnread',
          expr: orZero('sum(increase(tailrace_consumer_expired_records_total[24h]))'),
        }),
        problems({
          title: 'Alerts that page',
          description: 'Critical alerts that fire now: Tailrace, its Kafka or its deployment hurts users.',
          runbook: 'TailraceComponentGone',
          expr: orZero(`count(${alertsFiring.replace('}', ', severity="critical"}')})`),
        }),
        problems({
          title: 'Destinations with an open breaker',
          description:
            'Destinations whose receiver is down, so that their deliveries wait. The receiver is the cause; other destinations are not affected.',
          runbook: 'TailraceBreakerOpen',
          expr: orZero('count(count by (destination_id) (tailrace_destination_breaker_open_seconds > 0))'),
        }),
        table({
          title: 'By whom: alerts',
          description:
            'Every alert that fires, with the topic, service or destination that it names. Without a destination_id, the cause is Tailrace, Kafka or the deployment.',
          unit: 'none',
          runbook: 'TailraceNotConsuming',
          width: 12,
          expr: `count by (alertname, severity, topic, tailrace_component, destination_id) (${alertsFiring})`,
        }),
        table({
          title: 'By whom: receivers',
          description: 'The ten destinations with the most failed attempts in the last 30 min, and how many.',
          unit: 'short',
          runbook: 'TailraceDestinationFailing',
          width: 12,
          expr: 'topk(10, sum by (destination_id) (increase(tailrace_destination_attempts_total{outcome!="delivered"}[30m])) > 0)',
        }),
      ],
    },
    {
      title: 'Flow',
      panels: [
        rates({
          title: 'Events and deliveries',
          description:
            'Per second: calls that ingest accepted, events that were routed, deliveries that were created, delivered and became dead letters. Accepted and routed are equal where no producer writes to Kafka directly.',
          runbook: 'TailraceNothingArrives',
          of: {
            accepted: 'tailrace_ingest_calls_total',
            routed: 'tailrace_events_routed_total',
            created: 'tailrace_deliveries_created_total',
            '{{outcome}}': 'tailrace_deliveries_ended_total',
          },
        }),
        percentiles({
          title: 'Age at the first attempt',
          description:
            'From the acceptance of an event to the first attempt of its delivery, where nothing of the receiver held it back. The objective is 30 s for 99 %.',
          runbook: 'TailraceFirstAttemptErrorBudgetBurn',
          metric: firstAttempts,
          matchers: '{held_by="none"}',
        }),
        lines({
          title: 'Responses of ingest',
          description:
            'Per second and by status. 429: a source exceeds its rate limit. 503: Kafka or memory is short.',
          unit: 'reqps',
          runbook: 'TailraceIngestErrorBudgetBurn',
          expr: orZero(`sum by (status) (rate(${responses}[$__rate_interval]))`),
          legend: '{{status}}',
        }),
      ],
    },
    {
      title: 'Objectives',
      panels: [
        budget({
          title: 'Use of the budget: ingest answers 99.9 %',
          runbook: 'TailraceIngestErrorBudgetBurn',
          bad: 'ingest_errors',
          all: 'ingest_requests',
          allowed: 0.001,
        }),
        budget({
          title: 'Use of the budget: first attempt within 30 s, 99 %',
          runbook: 'TailraceFirstAttemptErrorBudgetBurn',
          bad: 'first_attempt_late',
          all: 'first_attempts',
          allowed: 0.01,
        }),
      ],
    },
  ],
};
