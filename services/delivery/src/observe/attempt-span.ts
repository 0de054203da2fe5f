/**
 * The spans of a delivery. Each attempt has one, all of them beside each other under the span of the routing: a retry four hours
 * later has a link to the first attempt, and is not inside of it.
 */
import type { DeadReason } from '@tailrace/metrics';
import type { AttemptRecord } from '@tailrace/records';
import type { Attributes, Span, Tracing } from '@tailrace/tracing';
import type { Target } from '@tailrace/webhook';
import type { Received } from '../delivery.ts';

/** By the semantic conventions of OpenTelemetry for HTTP clients. URLs are without their query, as in the log. */
export function startAttemptSpan(tracing: Tracing, job: Received, targets: readonly Target[]): Span {
  const { attempt, traceparent, firstAttemptSpan } = job.delivery;
  const methods = new Set(targets.map(({ method }) => method));
  return tracing.start({
    name: 'attempt',
    kind: 'client',
    parent: traceparent,
    continues: firstAttemptSpan,
    attributes: {
      ...deliveryAttributes(job),
      ...(targets.length === 1 && targets[0] && urlAttributes(targets[0])),
      // Several URLs may have different ones.
      'http.request.method': methods.size === 1 ? targets[0]?.method : undefined,
      'http.request.resend_count': attempt > 0 ? attempt : undefined,
    },
  });
}

export function endAttemptSpan(span: Span, { outcome, reason, urls }: AttemptRecord): void {
  const [only, ...others] = urls;
  if (only && others.length === 0) span.set({ 'http.response.status_code': only.status });
  else {
    for (const { url, status, reason } of urls) {
      span.event('answer', { 'url.full': url, 'http.response.status_code': status, 'error.type': reason });
    }
  }
  span.set({ 'tailrace.outcome': outcome, 'error.type': reason });
  if (outcome === 'dead') span.event('dead letter', { 'tailrace.reason': reason });
  if (outcome !== 'delivered') span.fail(reason ?? outcome);
  span.end();
}

/** For a delivery that became a dead letter without an attempt, so that its trace shows how it ended. */
export function traceDeadLetter(tracing: Tracing, job: Received, reason: DeadReason): Span {
  const { traceparent, firstAttemptSpan } = job.delivery;
  const span = tracing.start({
    name: 'dead letter',
    kind: 'consumer',
    parent: traceparent,
    continues: firstAttemptSpan,
    attributes: { ...deliveryAttributes(job), 'tailrace.outcome': 'dead', 'error.type': reason },
  });
  span.fail(reason);
  span.end();
  return span;
}

/** Ids, and no content. */
function deliveryAttributes({ work, delivery }: Received): Attributes {
  return {
    'tailrace.delivery.id': delivery.deliveryId,
    'tailrace.destination.id': delivery.destinationId,
    'tailrace.source.id': delivery.sourceId,
    'tailrace.event.id': delivery.eventId,
    'messaging.system': 'kafka',
    'messaging.destination.name': work.topic,
    'messaging.destination.partition.id': String(work.partition),
    'messaging.kafka.offset': work.offset,
  };
}

function urlAttributes({ origin, shownUrl }: Target): Attributes {
  const { hostname, port, protocol } = new URL(origin);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  return {
    'server.address': hostname,
    'server.port': port === '' ? defaultPort : Number(port),
    'url.full': shownUrl,
  };
}
