/** The metrics of ingest: what was asked of it, what became of it, and how full it is. */
import type { ErrorCode } from '@tailrace/errors';
import type { EventType } from '@tailrace/events';
import type { Publisher } from '@tailrace/kafka';
import { buckets, type Metrics } from '@tailrace/service';
import type { MemoryBudget } from './memory.ts';

export interface IngestObserver {
  /** A call that Kafka has. */
  accepted(type: EventType): void;
  /** A call of a batch that was set aside. */
  rejected(code: ErrorCode): void;
  /** A request that was answered with an error, and nothing of it taken. */
  refused(code: ErrorCode): void;
  /** A request that was answered. `route` is one of the routes' names. */
  answered(route: string, durationMs: number): void;
  /** The body of a request, as it came. */
  received(bytes: number): void;
}

export function ingestObserver(
  metrics: Metrics,
  {
    publisher,
    memory,
  }: {
    readonly publisher: Pick<Publisher, 'bufferedBytes'>;
    readonly memory: Pick<MemoryBudget, 'heldBytes'>;
  },
): IngestObserver {
  const accepted = metrics.counter('tailrace_ingest_calls_total', 'Calls that Kafka has acknowledged.', [
    'type',
  ]);
  const rejected = metrics.counter(
    'tailrace_ingest_rejected_total',
    'Calls of otherwise good batches that were set aside in events.rejected.',
    ['code'],
  );
  const refused = metrics.counter(
    'tailrace_ingest_refused_requests_total',
    'Requests answered with an error.',
    ['code'],
  );
  const durations = metrics.histogram(
    'tailrace_ingest_request_duration_seconds',
    'From the request to its answer, the acknowledgement of Kafka included.',
    { buckets: buckets.requestSeconds, labels: ['route'] },
  );
  const received = metrics.counter('tailrace_ingest_received_bytes_total', 'Bytes of bodies, as they came.');
  metrics.gauge('tailrace_ingest_buffered_bytes', 'Bytes that wait for the acknowledgement of Kafka.', {
    read: () => publisher.bufferedBytes,
  });
  metrics.gauge(
    'tailrace_ingest_held_bytes',
    'Memory that requests hold, from their first byte to their answer; beyond TAILRACE_INGEST_BUFFER they are refused.',
    { read: () => memory.heldBytes },
  );
  return {
    accepted(type) {
      accepted.inc({ type });
    },
    rejected(code) {
      rejected.inc({ code });
    },
    refused(code) {
      refused.inc({ code });
    },
    answered(route, durationMs) {
      durations.observe({ route }, durationMs / 1_000);
    },
    received(bytes) {
      received.inc(bytes);
    },
  };
}
