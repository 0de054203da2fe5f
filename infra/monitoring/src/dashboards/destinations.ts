/** Answers of the receivers, by destination. */
import { lines, orZero, problems, rates, stat, table, type Dashboard, type Panel } from './dashboard.ts';

const chosen = 'destination_id=~"$destination"';
const attempts = 'tailrace_destination_attempts_total';

/** The destinations with the most of a counter, a second. */
function mostOf(metric: string, matchers = ''): string {
  const selector = `${metric}{${[chosen, matchers].filter((one) => one !== '').join(', ')}}`;
  return orZero(`topk(10, sum by (destination_id) (rate(${selector}[$__rate_interval])) > 0)`);
}

interface OfMetric extends Pick<Panel, 'title' | 'description' | 'runbook'> {
  readonly metric: string;
}

/** A counter per second. */
function counted({ metric, ...panel }: OfMetric): Panel {
  return lines({ ...panel, unit: 'ops', expr: mostOf(metric), legend: '{{destination_id}}' });
}

/** The mean of a histogram of seconds, of the ten destinations with the highest one. */
function mean({ metric, ...panel }: OfMetric): Panel {
  const [sum, count] = ['sum', 'count'].map(
    (part) => `sum by (destination_id) (rate(${metric}_${part}{${chosen}}[$__rate_interval]))`,
  );
  const expr = orZero(`topk(10, ${sum} / (${count} > 0))`);
  return lines({ ...panel, unit: 's', expr, legend: '{{destination_id}}' });
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
        problems({
          title: 'Open breakers',
          description: 'Chosen destinations with an open circuit breaker: their receiver is down.',
          runbook: 'TailraceBreakerOpen',
          expr: orZero(
            `count(count by (destination_id) (tailrace_destination_breaker_open_seconds{${chosen}} > 0))`,
          ),
        }),
        stat({
          title: 'Attempts delivered',
          description:
            'The share of attempts to the chosen destinations in the last 5 min that were delivered.',
          unit: 'percentunit',
          runbook: 'TailraceDestinationFailing',
          thresholds: { good: 'high', warning: 0.99, critical: 0.5 },
          noValue: 'no attempts',
          expr:
            `(sum(increase(${attempts}{${chosen}, outcome="delivered"}[5m])) or on() vector(0)) ` +
            `/ (sum(increase(${attempts}{${chosen}}[5m])) > 0) or on() vector(1)`,
        }),
        stat({
          title: 'Dead letters',
          description:
            'Dead letters of the chosen destinations in the last 24 h. They are kept for 30 days and can be replayed.',
          unit: 'short',
          runbook: 'TailraceDeadLettersRising',
          thresholds: { good: 'low', warning: 1, critical: 1000 },
          expr: orZero(`sum(increase(tailrace_destination_dead_letters_total{${chosen}}[24h]))`),
        }),
        table({
          title: 'Breakers open longest',
          description:
            'Since when the circuit breaker of a destination is open. After 30 min there is a ticket.',
          unit: 'dtdurations',
          runbook: 'TailraceBreakerOpen',
          width: 6,
          expr: `topk(10, max by (destination_id) (tailrace_destination_breaker_open_seconds{${chosen}}) > 0)`,
        }),
        table({
          title: 'Failed attempts by reason',
          description: 'Of the last 30 min, by destination and reason: what the receiver answered.',
          unit: 'short',
          runbook: 'TailraceDestinationFailing',
          width: 6,
          expr: `topk(20, sum by (destination_id, reason) (increase(${attempts}{${chosen}, outcome!="delivered"}[30m])) > 0)`,
        }),
      ],
    },
    {
      title: 'Attempts',
      panels: [
        rates({
          title: 'Attempts by outcome',
          description: 'Per second, of the chosen destinations together.',
          runbook: 'TailraceDestinationFailing',
          of: { '{{outcome}}': `${attempts}{${chosen}}` },
        }),
        lines({
          title: 'Failed attempts',
          description: 'Per second, the ten destinations with the most.',
          unit: 'ops',
          runbook: 'TailraceDestinationFailing',
          expr: mostOf(attempts, 'outcome!="delivered"'),
          legend: '{{destination_id}}',
        }),
        mean({
          title: 'Duration of an attempt',
          description: 'The mean, of the ten slowest destinations. A slow receiver fills only its own lane.',
          runbook: 'TailraceDestinationFailing',
          metric: 'tailrace_destination_attempt_duration_seconds',
        }),
        mean({
          title: 'Age at delivery',
          description:
            'The mean from the acceptance of an event to its delivery, of the ten oldest destinations. Retries are included.',
          runbook: 'TailraceBreakerOpen',
          metric: 'tailrace_destination_delivery_age_seconds',
        }),
        counted({
          title: 'Deliveries created',
          description: 'Per second, the ten destinations with the most.',
          runbook: 'TailraceDestinationFailing',
          metric: 'tailrace_destination_deliveries_created_total',
        }),
        counted({
          title: 'Dead letters by destination',
          description: 'Per second, the ten destinations with the most.',
          runbook: 'TailraceDeadLettersRising',
          metric: 'tailrace_destination_dead_letters_total',
        }),
      ],
    },
    {
      title: 'Pending deliveries',
      panels: [
        counted({
          title: 'Parked',
          description:
            'Per second: deliveries written to a retry topic without an attempt, because the breaker is open.',
          runbook: 'TailraceBreakerOpen',
          metric: 'tailrace_destination_parked_total',
        }),
        counted({
          title: 'Deferred',
          description:
            'Per second: deliveries written to a retry topic without an attempt, because the receiver does not keep up.',
          runbook: 'TailraceDestinationFailing',
          metric: 'tailrace_destination_deferred_total',
        }),
        counted({
          title: 'Behind an earlier event of the user',
          description:
            'Per second: deliveries of ordered destinations that wait for an earlier one of their user.',
          runbook: 'TailraceDestinationFailing',
          metric: 'tailrace_destination_behind_total',
        }),
      ],
    },
  ],
};
