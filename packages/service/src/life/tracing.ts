/** Tracing of a service: its resource, its metric, and its failures in the log. */
import { randomUUID } from 'node:crypto';
import { openTracing, type Tracing } from '@tailrace/tracing';
import type { Log } from '../log/log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { TracingSettings } from '../settings/tracing.ts';

/** Failed exports share a line in this time. */
const failureLineEveryMs = 60_000;

/** Undefined where tracing is off: then no module of OpenTelemetry is loaded. */
export async function startServiceTracing(
  service: string,
  settings: TracingSettings | undefined,
  { log, metrics }: { readonly log: Pick<Log, 'warn'>; readonly metrics: Metrics },
): Promise<Tracing | undefined> {
  const opened: { tracing?: Tracing } = {};
  metrics.counter('tailrace_spans_dropped_total', () => opened.tracing?.droppedSpans ?? 0);
  if (!settings) return undefined;
  let spansSince = 0;
  let lastLineAt = -Infinity;
  opened.tracing = await openTracing({
    ...settings,
    resource: {
      'service.name': `tailrace-${service}`,
      'service.instance.id': randomUUID(),
      ...settings.resource,
    },
    onFailure({ message }, spans) {
      spansSince += spans;
      if (performance.now() - lastLineAt < failureLineEveryMs) return;
      log.warn({ spans: spansSince, problem: message.slice(0, 200) }, 'spans not exported');
      lastLineAt = performance.now();
      spansSince = 0;
    },
  });
  return opened.tracing;
}
