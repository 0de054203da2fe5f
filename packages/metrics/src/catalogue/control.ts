/** Metrics of control: requests, and the state of the history. */
import { buckets, type MetricSpec } from '../metric.ts';

const services = ['control'] as const;

const route = { bound: 'the paths of the OpenAPI document, and `none`; at most 80' } as const;

export const controlMetrics = {
  tailrace_control_requests_total: {
    type: 'counter',
    unit: 'requests',
    labels: {
      route,
      method: { bound: 'the methods of the route' },
      status: { values: ['2xx', '3xx', '4xx', '5xx'] },
    },
    services,
    help: 'Requests that were answered.',
  },
  tailrace_control_request_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: { route },
    buckets: buckets.request,
    services,
    help: 'From the request to its answer, including Kafka.',
  },
  tailrace_history_available: {
    type: 'gauge',
    unit: 'boolean',
    services,
    help: '1 while the history can be queried, else 0.',
  },
  tailrace_history_lag_records: {
    type: 'gauge',
    unit: 'records',
    services,
    help: 'Records of its topics that the history has not read yet.',
  },
  tailrace_history_lag_seconds: {
    type: 'gauge',
    unit: 'seconds',
    services,
    help: 'Age of the oldest record that the history has not read yet; 0 without one, absent while unknown.',
  },
  tailrace_history_bytes: {
    type: 'gauge',
    unit: 'bytes',
    services,
    help: 'Disk space that the history uses.',
  },
} as const satisfies Record<string, MetricSpec>;
