/** The metrics of control: requests, and the state of the history. */
import { buckets, type Metrics } from '@tailrace/service';
import type { History } from './history/index.ts';

/** Two metrics: a histogram by route, method and status would have thousands of buckets. */
export function createRequestMetrics(metrics: Metrics) {
  return {
    requests: metrics.counter('tailrace_control_requests_total', 'Requests that were answered.', [
      ...(['route', 'method', 'status'] as const),
    ]),
    durations: metrics.histogram(
      'tailrace_control_request_duration_seconds',
      'From the request to its answer, including Kafka.',
      { buckets: buckets.requestSeconds, labels: ['route'] },
    ),
  };
}

/** Gauges that are read at each scrape. */
export function createHistoryMetrics(metrics: Metrics, history: Pick<History, 'status'>): void {
  metrics.gauge('tailrace_history_available', '1 while the history can be queried, else 0.', {
    read: () => (history.status.unavailableBecause === undefined ? 1 : 0),
  });
  metrics.gauge('tailrace_history_lag_records', 'Records of its topics that the history has not read yet.', {
    read: () => history.status.behind,
  });
  metrics.gauge('tailrace_history_bytes', 'Disk space that the history uses.', {
    read: () => history.status.bytes,
  });
}
