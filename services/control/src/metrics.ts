/** The metrics of control: requests, and the state of the history. */
import type { History } from '@tailrace/history';
import type { Metrics } from '@tailrace/service';
import type { FastifyInstance } from 'fastify';

/** Counts each response. Two metrics: a histogram by route, method and status would have thousands of buckets. */
export function countResponses(app: FastifyInstance, metrics: Metrics): void {
  const requests = metrics.counter('tailrace_control_requests_total');
  const durations = metrics.histogram('tailrace_control_request_duration_seconds');
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const { statusCode, elapsedTime } = reply;
    // For an unknown path the client chooses the method, which would make an unbounded label.
    const method = route === 'none' ? 'any' : request.method;
    requests.inc({ route, method, status: statusClass(statusCode) });
    durations.of({ route }).observe(elapsedTime / 1_000);
    done();
  });
}

/** A status of another class would be a defect. */
function statusClass(status: number): '2xx' | '3xx' | '4xx' | '5xx' {
  if (status >= 500 || status < 200) return '5xx';
  if (status >= 400) return '4xx';
  return status >= 300 ? '3xx' : '2xx';
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
