/** Are users hurt, and by whom? The dashboard to open first. */
import { lines, orZero, quantileOf, shareOf, stat, type Dashboard } from './dashboard.ts';

const responses = 'tailrace_ingest_responses_total';
const firstAttempts = 'tailrace_delivery_first_attempt_delay_seconds';
const onTime = `${firstAttempts}_bucket{held_by="none", le=~"30(\\\\.0)?"}`;
const alertsFiring = 'ALERTS{alertstate="firing", alertname=~"Tailrace.+"}';

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
            1,
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
            1,
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
        stat({
          title: 'Records expired unread',
          description:
            'Records that Kafka deleted in the last 24 h before they were read. Each one is a lost event.',
          unit: 'short',
          runbook: 'TailraceRecordsExpiredUnread',
          thresholds: { good: 'low', critical: 1 },
          expr: orZero('sum(increase(tailrace_consumer_expired_records_total[24h]))'),
        }),
        stat({
          title: 'Alerts that page',
          description: 'Critical alerts that fire now: Tailrace, its Kafka or its deployment hurts users.',
          unit: 'short',
          runbook: 'TailraceComponentGone',
          thresholds: { good: 'low', critical: 1 },
          expr: orZero(`count(${alertsFiring.replace('}', ', severity="critical"}')})`),
        }),
        stat({
          title: 'Destinations with an open breaker',
          description:
            'Destinations whose receiver is down, so that their deliveries wait. The receiver is the cause; other destinations are not affected.',
          unit: 'short',
          runbook: 'TailraceBreakerOpen',
          thresholds: { good: 'low', critical: 1 },
          expr: orZero('count(count by (destination_id) (tailrace_destination_breaker_open_seconds > 0))'),
        }),
        {
          title: 'By whom: alerts',
          description:
            'Every alert that fires, with the topic, service or destination that it names. Without a destination_id, the cause is Tailrace, Kafka or the deployment.',
          kind: 'table',
          unit: 'none',
          runbook: 'TailraceNotConsuming',
          width: 12,
          noValue: 'none',
          queries: [
            {
              expr: orZero(
                `count by (alertname, severity, topic, tailrace_component, destination_id) (${alertsFiring})`,
              ),
            },
          ],
        },
        {
          title: 'By whom: receivers',
          description: 'The ten destinations with the most failed attempts in the last 30 min, and how many.',
          kind: 'table',
          unit: 'short',
          runbook: 'TailraceDestinationFailing',
          width: 12,
          noValue: 'none',
          queries: [
            {
              expr: orZero(
                'topk(10, sum by (destination_id) (increase(tailrace_destination_attempts_total{outcome!="delivered"}[30m])) > 0)',
              ),
            },
          ],
        },
      ],
    },
    {
      title: 'Flow',
      panels: [
        {
          title: 'Events and deliveries',
          description:
            'Per second: calls that ingest accepted, events that were routed, deliveries that were created, delivered and became dead letters. Accepted and routed are equal where no producer writes to Kafka directly.',
          kind: 'lines',
          unit: 'ops',
          runbook: 'TailraceNothingArrives',
          queries: [
            { expr: orZero('sum(rate(tailrace_ingest_calls_total[$__rate_interval]))'), legend: 'accepted' },
            { expr: orZero('sum(rate(tailrace_events_routed_total[$__rate_interval]))'), legend: 'routed' },
            {
              expr: orZero('sum(rate(tailrace_deliveries_created_total[$__rate_interval]))'),
              legend: 'created',
            },
            {
              expr: orZero('sum by (outcome) (rate(tailrace_deliveries_ended_total[$__rate_interval]))'),
              legend: '{{outcome}}',
            },
          ],
        },
        {
          title: 'Age at the first attempt',
          description:
            'From the acceptance of an event to the first attempt of its delivery, where nothing of the receiver held it back. The objective is 30 s for 99 %.',
          kind: 'lines',
          unit: 's',
          runbook: 'TailraceFirstAttemptErrorBudgetBurn',
          queries: [
            { expr: quantileOf(0.5, firstAttempts, '{held_by="none"}'), legend: 'p50' },
            { expr: quantileOf(0.99, firstAttempts, '{held_by="none"}'), legend: 'p99' },
          ],
        },
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
        {
          title: 'Use of the budget: ingest answers 99.9 %',
          description:
            'How many times faster than sustainable the error budget is used. 14.4 over 1 h or 6 over 6 h pages, 1 over 3 d is a ticket.',
          kind: 'lines',
          unit: 'none',
          runbook: 'TailraceIngestErrorBudgetBurn',
          width: 12,
          queries: ['1h', '6h', '3d'].map((window) => ({
            expr: orZero(
              `sum(tailrace:ingest_errors:increase${window}) / (sum(tailrace:ingest_requests:increase${window}) > 0) / 0.001`,
            ),
            legend: window,
          })),
        },
        {
          title: 'Use of the budget: first attempt within 30 s, 99 %',
          description:
            'How many times faster than sustainable the error budget is used. 14.4 over 1 h or 6 over 6 h pages, 1 over 3 d is a ticket.',
          kind: 'lines',
          unit: 'none',
          runbook: 'TailraceFirstAttemptErrorBudgetBurn',
          width: 12,
          queries: ['1h', '6h', '3d'].map((window) => ({
            expr: orZero(
              `sum(tailrace:first_attempt_late:increase${window}) / (sum(tailrace:first_attempts:increase${window}) > 0) / 0.01`,
            ),
            legend: window,
          })),
        },
      ],
    },
  ],
};
