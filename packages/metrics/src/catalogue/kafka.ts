/** Metrics of the Kafka client: requests, publishers and consumers. */
import { buckets, counter, gauge, histogram, metricsOf, services } from '../metric.ts';

/** The requests of the client, by Kafka's names. `Connect` opens a connection. Other requests count as `other`. */
const kafkaApis = [
  'Connect',
  'ApiVersions',
  'Metadata',
  'Produce',
  'InitProducerId',
  'AddPartitionsToTxn',
  'EndTxn',
  'Fetch',
  'ListOffsets',
  'OffsetCommit',
  'OffsetFetch',
  'FindCoordinator',
  'JoinGroup',
  'SyncGroup',
  'Heartbeat',
  'LeaveGroup',
  'other',
] as const;

const outcome = { values: ['ok', 'error', 'timeout', 'disconnected'] } as const;

const topic = { bound: 'the topics of this installation that the service reads, at most 20' } as const;
const consumers = ['router', 'delivery'] as const;

export const kafkaMetrics = {
  ...metricsOf(
    { services },
    {
      tailrace_kafka_requests_total: counter('requests', {
        labels: { api: { values: kafkaApis }, outcome },
        help: 'Requests to brokers, by outcome: answered, answered with an error, not answered in time, or ended with its connection.',
      }),
      tailrace_kafka_request_duration_seconds: histogram('seconds', {
        labels: { api: { values: kafkaApis } },
        buckets: buckets.exchange,
        help: 'From a request to its outcome. A fetch waits up to half a second for records, and a join for all members.',
      }),
      tailrace_kafka_refusals_total: counter('requests', {
        labels: { cause: { values: ['commits', 'clock'] } },
        help: 'Requests that Kafka refused of this replica: commits, because it was removed from its consumer group, and records, because of the time of its clock.',
      }),
      tailrace_publisher_queued_records: gauge('records', {
        help: 'Records that wait for the acknowledgement of Kafka.',
      }),
      tailrace_publisher_queued_bytes: gauge('bytes', {
        help: 'Bytes of the records that wait for the acknowledgement of Kafka.',
      }),
      tailrace_unreadable_batches_total: counter('batches', {
        labels: {
          topic: { bound: 'the topics of this installation, at most 30' },
          reason: { values: ['undecodable', 'too-large-decoded'] },
        },
        help: 'Batches of records that could not be read and were skipped, by topic and reason.',
      }),
    },
  ),
  ...metricsOf(
    { services: consumers },
    {
      tailrace_kafka_commit_failures_total: counter('requests', {
        help: 'Commits of offsets that failed; a later commit includes what they held. A rebalance may refuse some.',
      }),
      tailrace_consumer_uncommitted_seconds: gauge('seconds', {
        help: 'For how long the oldest finished work has waited for its commit; 0 if all is committed. From TAILRACE_COMMITS_LATE_AFTER on nothing new is started.',
      }),
      tailrace_consumer_lag_records: gauge('records', {
        labels: { topic },
        help: 'Records between what is finished and the end of the partitions that this replica owns; in a retry tier, those waiting to be due.',
      }),
      tailrace_consumer_lag_max_records: gauge('records', {
        labels: { topic },
        help: 'Records between what is finished and the end of the partition with the most of them.',
      }),
      tailrace_consumer_lag_seconds: gauge('seconds', {
        labels: { topic },
        help: 'Age of the oldest unfinished record of the owned partitions; in a retry tier, how late it is. 0 without one, absent while unknown.',
      }),
      tailrace_consumer_assigned_partitions: gauge('partitions', {
        labels: { topic },
        help: 'Partitions that this replica owns.',
      }),
      tailrace_consumer_paused_partitions: gauge('partitions', {
        labels: { topic },
        help: 'Owned partitions that are not read now, because enough of their records is in memory, or their topic is paused.',
      }),
      tailrace_consumer_rebalances_total: counter('rebalances', {
        help: 'Rebalances of the consumer group that this replica took part in, without its first join.',
      }),
      tailrace_consumer_without_work_seconds_total: counter('seconds', {
        help: 'Time in which the replica read nothing, because its consumer group was rebalancing, it was not in the group, or it did not know yet where to begin.',
      }),
      tailrace_consumer_retention_used_ratio: gauge('ratio', {
        labels: { topic },
        help: 'How much of the retention of its topic the oldest unfinished record has used: its age as a share of retention.ms, or the bytes from it to the end of its partition as a share of retention.bytes, whichever is more; at 1 Kafka deletes it. The bytes are estimated from the records that were read last. Absent while unknown, and without a limit.',
      }),
      tailrace_consumer_expired_records_total: counter('records', {
        labels: { topic },
        help: 'Records that Kafka deleted before they were read.',
      }),
    },
  ),
  ...metricsOf(
    { services: consumers, page: '/metrics/partitions' },
    {
      tailrace_partition_lag_seconds: gauge('seconds', {
        labels: { topic, partition: { bound: 'the partitions that the replica owns' } },
        help: 'Age of the oldest unfinished record of the partition; in a retry tier, how late it is. 0 without one, absent while unknown.',
      }),
      tailrace_partition_lag_records: gauge('records', {
        labels: { topic, partition: { bound: 'the partitions that the replica owns' } },
        help: 'Records between what is finished and the end of the partition.',
      }),
    },
  ),
};
