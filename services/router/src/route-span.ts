/** The span of a record of `events`, by the semantic conventions of OpenTelemetry for messaging. */
import type { TailraceEvent } from '@tailrace/events';
import type { ConsumedRecord } from '@tailrace/kafka';
import { validTraceparent, type Span, type Tracing } from '@tailrace/tracing';

type Origin = Pick<ConsumedRecord, 'topic' | 'partition' | 'offset' | 'headers'>;

/** The `traceparent` of a record, or undefined where it has none that is valid. */
export function recordTraceparent({ headers }: Pick<ConsumedRecord, 'headers'>): string | undefined {
  const header = headers['traceparent'];
  return header && validTraceparent(header.toString('latin1'));
}

export function startRouteSpan(tracing: Tracing, record: Origin): Span {
  const { topic, partition, offset } = record;
  return tracing.start({
    name: `route ${topic}`,
    kind: 'consumer',
    parent: recordTraceparent(record),
    attributes: {
      'messaging.system': 'kafka',
      'messaging.operation.name': 'route',
      'messaging.operation.type': 'process',
      'messaging.destination.name': topic,
      'messaging.destination.partition.id': String(partition),
      'messaging.kafka.offset': offset,
    },
  });
}

/** Ids, and no content. */
export function setEvent(span: Span, event: TailraceEvent, sourceId: string): void {
  span.set({
    'tailrace.source.id': sourceId,
    'tailrace.event.id': event.messageId,
    'tailrace.event.type': event.type,
  });
}

export function endDuplicate(span: Span): void {
  span.set({ 'tailrace.outcome': 'duplicate' });
  span.end();
}

export function endRouted(span: Span, deliveries: number): void {
  span.set({ 'tailrace.outcome': 'routed', 'tailrace.deliveries': deliveries });
  span.end();
}

export function endRejected(span: Span, code: string): void {
  span.set({ 'tailrace.outcome': 'rejected', 'error.type': code });
  span.fail(code);
  span.end();
}
