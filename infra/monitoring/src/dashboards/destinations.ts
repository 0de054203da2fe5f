/** Answers of the receivers, by destination. */
import { lines, orZero, stat, type Dashboard, type Panel } from './dashboard.ts';

const chosen = 'destination_id=~"$destination"';
const attempts = 'tailrace_destination_attempts_total';

/** The destinations with the most of a counter, a second. */
function mostOf(metric: string, matchers = ''): string {
  const selector = `${metric}{${[chosen, matchers].filter((one) => one !== '').join(', ')}}`;
  return orZero(`topk(10, sum by (destination_id) (rate(${selector}[$__rate_interval])) > 0)`);
}

function counted(panel: Pick<Panel, 'title' | 'description' | 'runbook'>, metric: string): Panel {
  return {
    ...panel,
    kind: 'lines',
    unit: 'ops',
    queries: [{ expr: mostOf(metric), legend: '{{destination_id}}' }],
  };
}

export const destinations: Dashboard = {
  name: 'destinations',
  title: 'Destinations',
  description: 'The answers of receivers, and the deliveries that wait for them.',
  variables: [{ name: 'destination', title: 'Destination', metric: attempts, label: 'destination_id' }],
  rows: [
    {
      title: 'Which receivers are hurt?',
      panels: [
        stat({
          title: 'Open breakers',
          description: 'Chosen destinations with an open circuit breaker: their receiver is down.',
          unit: 'short',
          runbook: 'TailraceBreakerOpen',
          thresholds: { good: 'low', critical: 1 },
          expr: orZero(
            `count(count by (destination_id) (tailrace_destination_breaker_open_seconds{${chosen}} > 0))`,
          ),
        }),
        {
          title: 'Attempts delivered',
          description:
            'The share of attempts to the chosen destinations in the last 5 min that were delivered.',
          kind: 'stat',
          unit: 'percentunit',
          runbook: 'TailraceDestinationFailing',
          thresholds: { good: 'high', warning: 0.99, critical: 0.5 },
          noValue: 'no attempts',
          queries: [
            {
              expr:
                `(sum(increase(${attempts}{${chosen}, outcome="delivered"}[5m])) or on() vector(0)) ` +
                `/ (sum(increase(${attempts}{${chosen}}[5m])) > 0) or on() vector(1)`,
            },
          ],
        },
        {
          title: 'Dead letters',
          description:
            'Dead letters of the chosen destinations in the last 24 h. They are kept for 30 days and can be replayed.',
          kind: 'stat',
          unit: 'short',
          runbook: 'TailraceDeadLettersRising',
          thresholds: { good: 'low', warning: 1, critical: 1000 },
          queries: [
            { expr: orZero(`sum(increase(tailrace_destination_dead_letters_total{${chosen}}[24h]))`) },
          ],
        },
        {
          title: 'Breakers open longest',
          description:
            'Since when the circuit breaker of a destination is open. After 30 min there is a ticket.',
          kind: 'table',
          unit: 'dtdurations',
          runbook: 'TailraceBreakerOpen',
          width: 6,
          noValue: 'none',
          queries: [
            {
              expr: orZero(
                `topk(10, max by (destination_id) (tailrace_destination_breaker_open_seconds{${chosen}}) > 0)`,
              ),
            },
          ],
        },
        {
          title: 'Failed attempts by reason',
          description: 'Of the last 30 min, by destination and reason: what the receiver answered.',
          kind: 'table',
          unit: 'short',
          runbook: 'TailraceDestinationFailing',
          width: 6,
          noValue: 'none',
          queries: [
            {
              expr: orZero(
                `topk(20, sum by (destination_id, reason) (increase(${attempts}{${chosen}, outcome!="delivered"}[30m])) > 0)`,
              ),
            },
          ],
        },
      ],
    },
    {
      title: 'Attempts',
      panels: [
        lines({
          title: 'Attempts by outcome',
          description: 'Per second, of the chosen destinations together.',
          unit: 'ops',
          runbook: 'TailraceDestinationFailing',
          expr: orZero(`sum by (outcome) (rate(${attempts}{${chosen}}[$__rate_interval]))`),
          legend: '{{outcome}}',
        }),
        lines({
          title: 'Failed attempts',
          description: 'Per second, the ten destinations with the most.',
          unit: 'ops',
          runbook: 'TailraceDestinationFailing',
          expr: mostOf(attempts, 'outcome!="delivered"'),
          legend: '{{destination_id}}',
        }),
        lines({
          title: 'Duration of an attempt',
          description: 'The mean, of the ten slowest destinations. A slow receiver fills only its own lane.',
          unit: 's',
          runbook: 'TailraceDestinationFailing',
          expr: orZero(
            `topk(10, sum by (destination_id) (rate(tailrace_destination_attempt_duration_seconds_sum{${chosen}}[$__rate_interval])) ` +
              `/ (sum by (destination_id) (rate(tailrace_destination_attempt_duration_seconds_count{${chosen}}[$__rate_interval])) > 0))`,
          ),
          legend: '{{destination_id}}',
        }),
        lines({
          title: 'Age at delivery',
          description:
            'The mean from the acceptance of an event to its delivery, of the ten oldest destinations. Retries are included.',
          unit: 's',
          runbook: 'TailraceBreakerOpen',
          expr: orZero(
            `topk(10, sum by (destination_id) (rate(tailrace_destination_delivery_age_seconds_sum{${chosen}}[$__rate_interval])) ` +
              `/ (sum by (destination_id) (rate(tailrace_destination_delivery_age_seconds_count{${chosen}}[$__rate_interval])) > 0))`,
          ),
          legend: '{{destination_id}}',
        }),
        counted(
          {
            title: 'Deliveries created',
            description: 'Per second, the ten destinations with the most.',
            runbook: 'TailraceDestinationFailing',
          },
          'tailrace_destination_deliveries_created_total',
        ),
        counted(
          {
            title: 'Dead letters by destination',
            description: 'Per second, the ten destinations with the most.',
            runbook: 'TailraceDeadLettersRising',
          },
          'tailrace_destination_dead_letters_total',
        ),
      ],
    },
    {
      title: 'Pending deliveries',
      panels: [
        counted(
          {
            title: 'Parked',
            description:
              'Per second: deliveries written to a retry topic without an attempt, because the breaker is open.',
            runbook: 'TailraceBreakerOpen',
          },
          'tailrace_destination_parked_total',
        ),
        counted(
          {
            title: 'Deferred',
            description:
              'Per second: deliveries written to a retry topic without an attempt, because the receiver does not keep up.',
            runbook: 'TailraceDestinationFailing',
          },
          'tailrace_destination_deferred_total',
        ),
        counted(
          {
            title: 'Behind an earlier event of the user',
            description:
              'Per second: deliveries of ordered destinations that wait for an earlier one of their user.',
            runbook: 'TailraceDestinationFailing',
          },
          'tailrace_destination_behind_total',
        ),
      ],
    },
  ],
};
