/** The Kafka client and the processes: here, and only here, lines are pods. */
import {
  lines,
  orZero,
  problems,
  stat,
  table,
  type Dashboard,
  type Panel,
  type Single,
} from './dashboard.ts';

/** One line for each pod. */
function byPod(panel: Single): Panel {
  return lines({ ...panel, legend: '{{tailrace_component}} {{pod}}' });
}

const pods = 'tailrace_component, pod, instance';

export const runtime: Dashboard = {
  name: 'runtime',
  title: 'Kafka client and runtime',
  description: 'Requests to Kafka, consumer groups, processes and versions.',
  rows: [
    {
      title: 'Does Kafka or a process hurt users?',
      panels: [
        stat({
          title: 'Requests to Kafka that succeed',
          description: 'In the last 5 min, over all services. Below 99 %, brokers are down, slow or refuse.',
          unit: 'percentunit',
          runbook: 'TailraceNotConsuming',
          thresholds: { good: 'high', warning: 0.99, critical: 0.9 },
          expr: 'sum(increase(tailrace_kafka_requests_total{outcome="ok"}[5m])) / (sum(increase(tailrace_kafka_requests_total[5m])) > 0)',
        }),
        stat({
          title: 'Oldest configuration',
          description: 'The longest time since a replica last knew that its configuration is current.',
          unit: 's',
          runbook: 'TailraceConfigurationStale',
          thresholds: { good: 'low', warning: 60, critical: 300 },
          expr: 'max(tailrace_config_age_seconds)',
        }),
        stat({
          title: 'Wrong clocks',
          description: 'The largest difference between the clock of a replica and that of Prometheus.',
          unit: 's',
          runbook: 'TailraceClockWrong',
          thresholds: { good: 'low', warning: 1, critical: 5 },
          expr: 'max(abs(tailrace_clock_seconds - timestamp(tailrace_clock_seconds)))',
        }),
        stat({
          title: 'Rebalances',
          description:
            'In the last 15 min, of the group with the most. More than twenty, for 20 min, is a ticket.',
          unit: 'short',
          runbook: 'TailraceRebalanceStorm',
          thresholds: { good: 'low', warning: 8, critical: 20 },
          expr: orZero('max(increase(tailrace_consumer_rebalances_total[15m]))'),
        }),
        problems({
          title: 'Replicas that do not answer',
          description: 'Scrape targets of Tailrace whose last scrape failed.',
          runbook: 'TailraceTargetDown',
          expr: orZero('count(up{tailrace_component!=""} == 0)'),
        }),
        stat({
          title: 'Versions',
          description: 'Different versions that run now. More than one for an hour is a ticket.',
          unit: 'short',
          runbook: 'TailraceVersionsMixed',
          thresholds: { good: 'low', warning: 2, critical: 3 },
          expr: 'count(count by (version, revision) (tailrace_build_info))',
        }),
        stat({
          title: 'History behind',
          description: 'Age of the oldest record that the history of control has not read.',
          unit: 's',
          runbook: 'TailraceHistoryBehind',
          thresholds: { good: 'low', warning: 60, critical: 300 },
          expr: 'max(tailrace_history_lag_seconds)',
        }),
      ],
    },
    {
      title: 'Kafka client',
      panels: [
        lines({
          title: 'Failed requests to Kafka',
          description: 'Per second, by API.',
          unit: 'reqps',
          runbook: 'TailraceNotConsuming',
          expr: orZero('sum by (api) (rate(tailrace_kafka_requests_total{outcome!="ok"}[$__rate_interval]))'),
          legend: '{{api}}',
        }),
        lines({
          title: 'Duration of requests to Kafka, p99',
          description: 'By API. Fetches wait for records, so only the others show a slow broker.',
          unit: 's',
          runbook: 'TailraceNotConsuming',
          expr: orZero(
            'histogram_quantile(0.99, sum by (le, api) (rate(tailrace_kafka_request_duration_seconds_bucket[$__rate_interval]))) >= 0',
          ),
          legend: '{{api}}',
        }),
        byPod({
          title: 'Records waiting for acknowledgement',
          description: 'Records in the queue of the publisher. It grows where brokers are slow.',
          unit: 'short',
          runbook: 'TailraceIngestErrorBudgetBurn',
          expr: `sum by (${pods}) (tailrace_publisher_queued_records)`,
        }),
        byPod({
          title: 'Bytes waiting for acknowledgement',
          description: 'Bytes in the queue of the publisher.',
          unit: 'bytes',
          runbook: 'TailraceIngestErrorBudgetBurn',
          expr: `sum by (${pods}) (tailrace_publisher_queued_bytes)`,
        }),
        byPod({
          title: 'Time without work',
          description:
            'The share of time in which a rebalance stopped the replica, or it owned no partition.',
          unit: 'percentunit',
          runbook: 'TailraceRebalanceStorm',
          expr: `sum by (${pods}) (rate(tailrace_consumer_without_work_seconds_total[$__rate_interval]))`,
        }),
        byPod({
          title: 'Failed commits',
          description: 'Per second. What was finished since the last commit is repeated after a restart.',
          unit: 'ops',
          runbook: 'TailraceRebalanceStorm',
          expr: `sum by (${pods}) (rate(tailrace_kafka_commit_failures_total[$__rate_interval]))`,
        }),
        byPod({
          title: 'Finished and not committed',
          description:
            'For how long the oldest finished work has waited for its commit. From 2 s on nothing new is started.',
          unit: 's',
          runbook: 'TailraceNotConsuming',
          expr: `max by (${pods}) (tailrace_consumer_uncommitted_seconds)`,
        }),
        byPod({
          title: 'Refused by Kafka',
          description:
            'Per second: commits of a replica that was removed from its group, and records with the time of a wrong clock.',
          unit: 'ops',
          runbook: 'TailraceReplicaRefused',
          expr: `sum by (${pods}) (rate(tailrace_kafka_refusals_total[$__rate_interval]))`,
        }),
        byPod({
          title: 'Partitions owned',
          description:
            'Over all topics. A replica without any does no work: there are more replicas than partitions.',
          unit: 'short',
          runbook: 'TailraceNotConsuming',
          expr: `sum by (${pods}) (tailrace_consumer_assigned_partitions)`,
        }),
        byPod({
          title: 'Partitions paused',
          description: 'Partitions that are not read now, because the memory for deliveries is full.',
          unit: 'short',
          runbook: 'TailraceFirstAttemptErrorBudgetBurn',
          expr: `sum by (${pods}) (tailrace_consumer_paused_partitions)`,
        }),
        lines({
          title: 'Batches that could not be read',
          description: 'Per second, by topic and reason. They are skipped.',
          unit: 'ops',
          runbook: 'TailraceRecordsExpiredUnread',
          expr: orZero('sum by (topic, reason) (rate(tailrace_unreadable_batches_total[$__rate_interval]))'),
          legend: '{{topic}} {{reason}}',
        }),
      ],
    },
    {
      title: 'Processes',
      panels: [
        byPod({
          title: 'Event loop busy',
          description:
            'The share of time in which the process computes. Above 90 % it is the bottleneck: add replicas.',
          unit: 'percentunit',
          runbook: 'TailraceFirstAttemptErrorBudgetBurn',
          expr: `sum by (${pods}) (rate(tailrace_event_loop_busy_seconds_total[$__rate_interval]))`,
        }),
        byPod({
          title: 'Resident memory',
          description: 'Each service stays below 250 MB, ingest below 512 MB under attack.',
          unit: 'bytes',
          runbook: 'TailraceTargetDown',
          expr: `max by (${pods}) (process_resident_memory_bytes{tailrace_component!=""})`,
        }),
        byPod({
          title: 'CPU',
          description: 'Cores used, all threads together.',
          unit: 'none',
          runbook: 'TailraceFirstAttemptErrorBudgetBurn',
          expr: `sum by (${pods}) (rate(process_cpu_seconds_total{tailrace_component!=""}[$__rate_interval]))`,
        }),
        byPod({
          title: 'Memory that requests hold',
          description: 'Of ingest. At TAILRACE_INGEST_BUFFER, requests are answered with 503.',
          unit: 'bytes',
          runbook: 'TailraceIngestErrorBudgetBurn',
          expr: `sum by (${pods}) (tailrace_ingest_held_bytes)`,
        }),
        table({
          title: 'Checks that fail',
          description: 'By service and check: what /readyz would report at a start.',
          unit: 'short',
          runbook: 'TailraceConfigurationStale',
          expr: 'count by (tailrace_component, check) (tailrace_check_ok == 0)',
        }),
        {
          title: 'Replicas by version',
          description: 'Replicas of each service by version and revision.',
          kind: 'table',
          unit: 'short',
          runbook: 'TailraceVersionsMixed',
          queries: [{ expr: 'count by (tailrace_component, version, revision) (tailrace_build_info)' }],
        },
      ],
    },
  ],
};
