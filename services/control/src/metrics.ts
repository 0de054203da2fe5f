/** Control's metrics beside those of its requests, which the server counts. */
import type { Metrics } from '@tailrace/service';
import type { History } from './history/index.ts';

/** Gauges that are read at each scrape. */
export function watchHistory(metrics: Metrics, history: Pick<History, 'status'>): void {
  metrics.gauge('tailrace_history_available', '1 where what happened can be looked up, else 0.', {
    read: () => (history.status.unavailableBecause === undefined ? 1 : 0),
  });
  metrics.gauge('tailrace_history_lag_records', 'Records of its topics that the history has not read yet.', {
    read: () => history.status.behind,
  });
  metrics.gauge('tailrace_history_bytes', 'What the history takes of the disk.', {
    read: () => history.status.bytes,
  });
}
