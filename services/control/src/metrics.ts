/** The metrics of control: requests, and the state of the history. */
import type { Metrics } from '@tailrace/service';
import type { History } from './history/index.ts';

/** Two metrics: a histogram by route, method and status would have thousands of buckets. */
export function createRequestMetrics(metrics: Metrics) {
  return {
    requests: metrics.counter('tailrace_control_requests_total'),
    durations: metrics.histogram('tailrace_control_request_duration_seconds'),
  };
}

/** Gauges that are read at each scrape. */
export function createHistoryMetrics(metrics: Metrics, history: Pick<History, 'status'>): void {
  metrics.gauge('tailrace_history_available', () =>
    history.status.unavailableBecause === undefined ? 1 : 0,
  );
  metrics.gauge('tailrace_history_lag_records', () => history.status.behind);
  metrics.gauge('tailrace_history_lag_seconds', () => {
    const { lagMs } = history.status;
    return lagMs === undefined ? undefined : lagMs / 1_000;
  });
  metrics.gauge('tailrace_history_bytes', () => history.status.bytes);
}
