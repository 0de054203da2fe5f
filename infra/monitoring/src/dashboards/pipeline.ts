/** The way of events through ingest, router and delivery, with a reason at each exit. */
import {
  lines,
  percentiles,
  quantileOf,
  rates,
  shareOf,
  problems,
  stat,
  type Dashboard,
  type Panel,
  type Single,
} from './dashboard.ts';

/** A gauge for each topic. No value while it is unknown. */
function byTopic(panel: Single): Panel {
  return lines({ ...panel, legend: '{{topic}}' });
}

const lag = 'tailrace_consumer_lag_seconds';

export const pipeline: Dashboard = {
  name: 'pipeline',
  title: 'Pipeline',
  description: 'Received, accepted, routed, created, attempted, ended: how many, how old, and why not.',
  rows: [
    {
      title: 'Are events late or lost?',
      panels: [
        stat({
          title: 'Calls stored',
          description:
            'The share of calls in the last 5 min that Kafka has, or that were rejected as invalid; the others were answered with an error.',
          unit: 'percentunit',
          runbook: 'TailraceIngestErrorBudgetBurn',
          thresholds: { good: 'high', warning: 0.999, critical: 0.9 },
          expr: shareOf(
            'sum(increase(tailrace_ingest_calls_received_total[5m])) - (sum(increase(tailrace_ingest_calls_refused_total[5m])) or on() vector(0))',
            'sum(increase(tailrace_ingest_calls_received_total[5m]))',
            'tailrace_ingest_calls_received_total',
          ),
        }),
        stat({
          title: 'Router: oldest unfinished',
          description: 'Age of the oldest record of events that is not routed.',
          unit: 's',
          runbook: 'TailraceNotConsuming',
          thresholds: { good: 'low', warning: 10, critical: 60 },
          expr: `max(${lag}{topic=~".*events"})`,
        }),
        stat({
          title: 'Delivery: oldest unfinished',
          description: 'Age of the oldest record of deliveries whose first attempt is not over.',
          unit: 's',
          runbook: 'TailraceNotConsuming',
          thresholds: { good: 'low', warning: 10, critical: 60 },
          expr: `max(${lag}{topic=~".*deliveries"})`,
        }),
        stat({
          title: 'Retry topics: latest head',
          description: 'How late the first record of the latest retry topic is.',
          unit: 's',
          runbook: 'TailraceTiersLate',
          thresholds: { good: 'low', warning: 30, critical: 120 },
          expr: `max(${lag}{topic=~".*deliveries\\\\.retry\\\\..+"})`,
        }),
        stat({
          title: 'Retention used',
          description:
            'Age of the oldest unfinished record as a share of the retention of its topic. At 100 % Kafka deletes it.',
          unit: 'percentunit',
          runbook: 'TailraceRetentionHalfUsed',
          thresholds: { good: 'low', warning: 0.25, critical: 0.5 },
          expr: 'max(tailrace_consumer_retention_used_ratio)',
        }),
        problems({
          title: 'Missing partitions',
          description: 'Partitions that retry topics, the replay topic or the dead letters lack.',
          runbook: 'TailraceUnequalPartitions',
          expr: 'max(tailrace_missing_partitions)',
        }),
      ],
    },
    {
      title: 'Ingest',
      panels: [
        rates({
          title: 'Calls',
          description: 'Per second. Received = accepted + invalid + refused.',
          runbook: 'TailraceNothingArrives',
          of: {
            received: 'tailrace_ingest_calls_received_total',
            accepted: 'tailrace_ingest_calls_total',
            invalid: 'tailrace_ingest_rejected_total',
            refused: 'tailrace_ingest_calls_refused_total',
          },
        }),
        rates({
          title: 'Requests refused, by error',
          description:
            'Per second, by error code. overloaded: out of memory for requests. kafka-unavailable: no acknowledgement in time.',
          runbook: 'TailraceIngestErrorBudgetBurn',
          of: { '{{code}}': 'tailrace_ingest_refused_requests_total' },
        }),
        percentiles({
          title: 'Duration of a request',
          description: 'From the request to its response, including the acknowledgement of Kafka.',
          runbook: 'TailraceIngestErrorBudgetBurn',
          metric: 'tailrace_ingest_request_duration_seconds',
        }),
      ],
    },
    {
      title: 'Router',
      panels: [
        rates({
          title: 'Events',
          description: 'Per second. Received = routed + repeated + rejected.',
          runbook: 'TailraceNothingArrives',
          of: {
            received: 'tailrace_router_events_received_total',
            routed: 'tailrace_events_routed_total',
            repeated: 'tailrace_events_duplicate_total',
            'rejected: {{code}}': 'tailrace_events_rejected_total',
          },
        }),
        rates({
          title: 'Deliveries',
          description: 'Per second. Considered = created + filtered.',
          runbook: 'TailraceNotConsuming',
          of: {
            considered: 'tailrace_deliveries_considered_total',
            created: 'tailrace_deliveries_created_total',
            'filtered: {{reason}}': 'tailrace_deliveries_filtered_total',
          },
        }),
        percentiles({
          title: 'Age at routing',
          description: 'From the acceptance of an event until its deliveries are written.',
          runbook: 'TailraceNotConsuming',
          metric: 'tailrace_routing_delay_seconds',
        }),
      ],
    },
    {
      title: 'Delivery',
      panels: [
        rates({
          title: 'Attempts',
          description: 'Per second, by outcome.',
          runbook: 'TailraceDestinationFailing',
          of: { '{{outcome}}': 'tailrace_delivery_attempts_total' },
        }),
        rates({
          title: 'Deliveries ended',
          description: 'Per second. Over a long time, created + replayed = delivered + dead.',
          runbook: 'TailraceDeadLettersRising',
          of: {
            '{{outcome}}': 'tailrace_deliveries_ended_total',
            replayed: 'tailrace_deliveries_replayed_total',
          },
        }),
        rates({
          title: 'Dead letters by reason',
          description: 'Per second, by reason.',
          runbook: 'TailraceDeadLettersRising',
          of: { '{{reason}}': 'tailrace_dead_letters_total' },
        }),
        rates({
          title: 'Waiting without an attempt',
          description:
            'Per second: written to a retry topic because a breaker is open, a lane is full, an earlier event of the user waits, or the destination is paused.',
          runbook: 'TailraceBreakerOpen',
          of: {
            parked: 'tailrace_deliveries_parked_total',
            deferred: 'tailrace_deliveries_put_off_total',
            'behind another': 'tailrace_deliveries_behind_total',
            paused: 'tailrace_deliveries_paused_total',
          },
        }),
        rates({
          title: 'First attempts by what held them back',
          description: 'Per second. none: nothing of the receiver, so they count in the objective of 30 s.',
          runbook: 'TailraceFirstAttemptErrorBudgetBurn',
          of: { '{{held_by}}': 'tailrace_delivery_first_attempt_delay_seconds_count' },
        }),
        {
          title: 'Age at delivery',
          description: 'From the acceptance of an event to its delivery, by the first or a later attempt.',
          kind: 'lines',
          unit: 's',
          runbook: 'TailraceFirstAttemptErrorBudgetBurn',
          queries: ['first', 'later'].flatMap((attempt) =>
            [0.5, 0.99].map((quantile) => ({
              expr: quantileOf(quantile, 'tailrace_delivery_age_seconds', `{attempt="${attempt}"}`),
              legend: `${attempt}, p${String(quantile * 100)}`,
            })),
          ),
        },
        percentiles({
          title: 'Lateness of retries',
          description: 'From the time that a retry was due to its start.',
          runbook: 'TailraceTiersLate',
          metric: 'tailrace_delivery_retry_lateness_seconds',
        }),
        percentiles({
          title: 'Duration of an attempt',
          description: 'From the start of an attempt to the last answer of its URLs.',
          runbook: 'TailraceDestinationFailing',
          metric: 'tailrace_delivery_attempt_duration_seconds',
        }),
        {
          title: 'Deliveries in memory',
          description:
            'Being attempted and waiting for their turn, each against its limit, over all replicas.',
          kind: 'lines',
          unit: 'short',
          runbook: 'TailraceFirstAttemptErrorBudgetBurn',
          queries: [
            { expr: 'sum(tailrace_deliveries_in_flight)', legend: 'in flight' },
            { expr: 'sum(tailrace_deliveries_in_flight_limit)', legend: 'limit in flight' },
            { expr: 'sum(tailrace_deliveries_queued)', legend: 'queued' },
            { expr: 'sum(tailrace_deliveries_queued_limit)', legend: 'limit queued' },
            { expr: 'sum(tailrace_deliveries_waiting)', legend: 'read ahead, not due' },
          ],
        },
      ],
    },
    {
      title: 'Topics',
      panels: [
        byTopic({
          title: 'Lag in seconds',
          description:
            'Age of the oldest unfinished record; of a retry topic, how late its first record is. No line while it is unknown.',
          unit: 's',
          runbook: 'TailraceNotConsuming',
          expr: `max by (topic) (${lag})`,
        }),
        byTopic({
          title: 'Lag in records',
          description: 'Records that are not finished; in a retry topic, those waiting to be due.',
          unit: 'short',
          runbook: 'TailraceNotConsuming',
          expr: 'sum by (topic) (tailrace_consumer_lag_records)',
        }),
        byTopic({
          title: 'Retention used by topic',
          description: 'Age of the oldest unfinished record as a share of the retention.',
          unit: 'percentunit',
          runbook: 'TailraceRetentionHalfUsed',
          expr: 'max by (topic) (tailrace_consumer_retention_used_ratio)',
        }),
      ],
    },
  ],
};
