/** Metrics of ingest. funnel.ts says how they add up. */
import {
  callTypes,
  each,
  errorCodes,
  eventTypes,
  ingestCodes,
  ingestRoutes,
  ingestStatuses,
  refusedCallCodes,
} from '../label-values.ts';
import { buckets, counter, gauge, histogram, metricsOf } from '../metric.ts';

export const ingestMetrics = metricsOf(
  { services: ['ingest'] },
  {
    tailrace_ingest_calls_received_total: counter('calls', {
      help: 'Calls of an enabled source whose request could be read, each call of a batch by itself.',
    }),
    tailrace_ingest_calls_total: counter('calls', {
      labels: { type: { values: eventTypes } },
      combinations: each('type', callTypes),
      help: 'Calls that Kafka has acknowledged.',
    }),
    tailrace_ingest_rejected_total: counter('calls', {
      labels: { code: { values: ['invalid-call', 'call-too-large'] } },
      help: 'Invalid calls of accepted batches, written to events.rejected.',
    }),
    tailrace_ingest_calls_refused_total: counter('calls', {
      labels: { code: { values: errorCodes } },
      combinations: each('code', refusedCallCodes),
      help: 'Calls that were read and answered with an error. The sender still owns them.',
    }),
    tailrace_ingest_refused_requests_total: counter('requests', {
      labels: { code: { values: errorCodes } },
      combinations: each('code', ingestCodes),
      help: 'Requests answered with an error.',
    }),
    tailrace_ingest_responses_total: counter('requests', {
      labels: {
        route: { values: ingestRoutes },
        status: { bound: 'the statuses of ingest, at most 15' },
      },
      combinations: [
        ...ingestRoutes
          .filter((route) => route !== 'preflight' && route !== 'none')
          .flatMap((route) => ingestStatuses.map((status) => ({ route, status })))
          .filter(({ status }) => status !== '204' && status !== '404'),
        ...['204', '400', '500', '503'].map((status) => ({ route: 'preflight', status })),
        ...['400', '404', '408', '431', '500', '503'].map((status) => ({ route: 'none', status })),
      ],
      help: 'Responses, by the name of the route and the HTTP status.',
    }),
    tailrace_ingest_request_duration_seconds: histogram('seconds', {
      labels: { route: { values: ingestRoutes } },
      buckets: buckets.request,
      help: 'From the request to its response, including the acknowledgement of Kafka.',
    }),
    tailrace_ingest_received_bytes_total: counter('bytes', {
      help: 'Bytes of request bodies, as received, before decompression.',
    }),
    tailrace_ingest_buffered_bytes: gauge('bytes', {
      help: 'Bytes that wait for the acknowledgement of Kafka.',
    }),
    tailrace_ingest_held_bytes: gauge('bytes', {
      help: 'Memory that requests hold, from their first byte to their response. Above TAILRACE_INGEST_BUFFER, requests are refused.',
    }),
  },
);
