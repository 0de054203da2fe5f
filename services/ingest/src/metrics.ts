/** The metrics of ingest. */
import type { Publisher } from '@tailrace/kafka';
import type { Metrics } from '@tailrace/service';
import type { MemoryBudget } from './memory/budget.ts';

export type IngestMetrics = ReturnType<typeof createIngestMetrics>;

export function createIngestMetrics(
  metrics: Metrics,
  state: {
    readonly publisher: Pick<Publisher, 'bufferedBytes'>;
    readonly memory: Pick<MemoryBudget, 'heldBytes'>;
  },
) {
  metrics.gauge('tailrace_ingest_buffered_bytes', () => state.publisher.bufferedBytes);
  metrics.gauge('tailrace_ingest_held_bytes', () => state.memory.heldBytes);
  return {
    receivedCalls: metrics.counter('tailrace_ingest_calls_received_total'),
    acceptedCalls: metrics.counter('tailrace_ingest_calls_total'),
    rejectedCalls: metrics.counter('tailrace_ingest_rejected_total'),
    refusedCalls: metrics.counter('tailrace_ingest_calls_refused_total'),
    responses: metrics.counter('tailrace_ingest_responses_total'),
    refusedRequests: metrics.counter('tailrace_ingest_refused_requests_total'),
    requestDuration: metrics.histogram('tailrace_ingest_request_duration_seconds'),
    receivedBytes: metrics.counter('tailrace_ingest_received_bytes_total'),
  };
}
