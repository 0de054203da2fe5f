/** Tracing as the services see it. They hold it as `Tracing | undefined`: undefined where tracing is off. */
import type { TraceParent } from './traceparent.ts';

export type SpanKind = 'server' | 'client' | 'consumer';

/** An attribute without a value is left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface NewSpan {
  /** From a closed set. */
  readonly name: string;
  readonly kind: SpanKind;
  /** A header `traceparent`. A new trace starts where it is missing or invalid. */
  readonly parent: string | undefined;
  /** A span of the same trace that this one continues, by its id. */
  readonly continues?: string | undefined;
  readonly attributes: Attributes;
}

/** Nothing of a span throws or waits. */
export interface Span extends TraceParent {
  /** The header `traceparent` of what this span causes. */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  event(name: string, attributes: Attributes): void;
  /** Marks the span as failed. */
  fail(reason: string): void;
  end(): void;
}

export interface Tracing {
  start(span: NewSpan): Span;
  /** Spans that were not exported since the start: the queue was full, or the collector did not take them. */
  readonly droppedSpans: number;
  /** Exports what is queued. Resolves after `timeoutMs` at the latest; what is left then is dropped. */
  close(timeoutMs: number): Promise<void>;
}
