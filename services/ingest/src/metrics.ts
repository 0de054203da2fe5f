/** The metrics of ingest. */
import type { Publisher } from '@tailrace/kafka';
import { buckets, type Metrics } from '@tailrace/service';
import type { MemoryBudget } from './memory/budget.ts';

export type IngestMetrics = ReturnType<typeof createIngestMetrics>;

export function createIngestMetrics(
  metrics: Metrics,
  state: {
    readonly publisher: Pick<Publisher, 'bufferedBytes'>;
    readonly memory: Pick<MemoryBudget, 'heldBytes'>;
  },
) {
  metrics.gauge('tailrace_ingest_buffered_bytes', 'Bytes that wait for the acknowledgement of Kafka.', {
    read: () => state.publisher.bufferedBytes,
  });
  metrics.gauge(
    'tailrace_ingest_held_bytes',
    'Memory that requests hold, from their first byte to their response. Above TAILRACE_INGEST_BUFFER, requests are refused.',
    { read: () => state.memory.heldBytes },
  );
  return {
    acceptedCalls: metrics.counter('tailrace_ingest_calls_total', 'Calls that Kafka has acknowledged.', [
      'type',
    ]),
    rejectedCalls: metrics.counter(
      'tailrace_ingest_rejected_total',
      'Invalid calls of accepted batches, written to events.rejected.',
      ['code'],
    ),
    refusedRequests: metrics.counter(
      'tailrace_ingest_refused_requests_total',
      'Requests answered with an error.',
      ['code'],
    ),
    /** `route` is the name of a route. */
    requestDuration: metrics.histogram(
      'tailrace_ingest_request_duration_seconds',
      'From the request to its response, including the acknowledgement of Kafka.',
      { buckets: buckets.requestSeconds, labels: ['route'] },
    ),
    /** Before decompression. */
    receivedBytes: metrics.counter(
      'tailrace_ingest_received_bytes_total',
      'Bytes of request bodies, as received.',
    ),
  };
}
