/** Metrics of control: requests, and the state of the history. */
import { buckets, counter, gauge, histogram, metricsOf } from '../metric.ts';

const route = { bound: 'the paths of the OpenAPI document, and `none`; at most 90' } as const;

export const controlMetrics = metricsOf(
  { services: ['control'] },
  {
    tailrace_control_requests_total: counter('requests', {
      labels: {
        route,
        method: { bound: 'the methods of the route' },
        status: { values: ['2xx', '3xx', '4xx', '5xx'] },
      },
      help: 'Requests that were answered.',
    }),
    tailrace_control_request_duration_seconds: histogram('seconds', {
      labels: { route },
      buckets: buckets.request,
      help: 'From the request to its answer, including Kafka.',
    }),
    tailrace_destinations_disabled_total: counter('destinations', {
      help: 'Destinations that were disabled because of their `disableAfter`.',
    }),
    tailrace_notification_messages_total: counter('messages', {
      labels: {
        channel: { values: ['destination', 'webhook', 'email'] },
        outcome: { values: ['sent', 'failed'] },
      },
      help: 'Messages of notifications, after their retries.',
    }),
    tailrace_notifications_failing: gauge('notifications', {
      help: 'Enabled notifications whose latest message failed.',
    }),
    tailrace_history_available: gauge('boolean', {
      help: '1 while the history can be queried, else 0.',
    }),
    tailrace_history_lag_records: gauge('records', {
      help: 'Records of its topics that the history has not read yet.',
    }),
    tailrace_history_lag_seconds: gauge('seconds', {
      help: 'Age of the oldest record that the history has not read yet; 0 without one, absent while unknown.',
    }),
    tailrace_history_bytes: gauge('bytes', {
      help: 'Disk space that the history uses.',
    }),
  },
);
