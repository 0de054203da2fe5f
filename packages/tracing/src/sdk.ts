/**
 * Tracing with the SDK of OpenTelemetry. Only index.ts loads this file, and only where tracing is on. Services hold it as
 * `Tracing | undefined`.
 */
import {
  ROOT_CONTEXT,
  SpanKind as Kinds,
  SpanStatusCode,
  TraceFlags,
  trace,
  type Span as SdkSpan,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import { ExportQueue } from './export-queue.ts';
import type { SamplerName, TracingOptions } from './options.ts';
import { formatTraceparent, readTraceparent, type TraceParent } from './traceparent.ts';

type SpanKind = 'server' | 'client' | 'consumer';

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

export async function startTracing(options: TracingOptions): Promise<Tracing> {
  return traceTo(await openExporter(options), options);
}

export type Tracing = ReturnType<typeof traceTo>;

/** Tracing with any exporter. */
export function traceTo(
  exporter: SpanExporter,
  options: Pick<
    TracingOptions,
    'sampler' | 'samplerRatio' | 'resource' | 'maxQueuedSpans' | 'exportEveryMs' | 'timeoutMs' | 'onFailure'
  >,
) {
  const queue = new ExportQueue(exporter, options);
  const provider = new TracerProvider({
    sampler: samplers[options.sampler](options.samplerRatio),
    resource: resourceFromAttributes({ ...options.resource }),
    spanLimits: { attributeValueLengthLimit: maxAttributeLength },
    spanProcessors: [queue],
  });
  const tracer = provider.getTracer('tailrace');
  return {
    start: (span: NewSpan): Span => new Span(startSpan(tracer, span)),
    /** Spans that were not exported since the start: the queue was full, or the collector did not take them. */
    get droppedSpans(): number {
      return queue.dropped;
    },
    /** Exports what is queued. Resolves after `timeoutMs` at the latest; what is left then is dropped. */
    close: (timeoutMs: number): Promise<void> => queue.close(timeoutMs),
  };
}

/** Ids from outside may have any length. */
const maxAttributeLength = 1_024;

/** Only the module of the protocol in use is loaded. */
async function openExporter({ url, protocol, headers, timeoutMs }: TracingOptions): Promise<SpanExporter> {
  const config = { url, headers: { ...headers }, timeoutMillis: timeoutMs };
  switch (protocol) {
    case 'http/protobuf': {
      const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
      return new OTLPTraceExporter(config);
    }
    case 'http/json': {
      const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
      return new OTLPTraceExporter(config);
    }
  }
}

/** `parentbased_…` decides only where a trace begins, and otherwise does as the caller did. */
const samplers: Readonly<Record<SamplerName, (ratio: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (ratio) => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
};

const kinds: Readonly<Record<SpanKind, Kinds>> = {
  server: Kinds.SERVER,
  client: Kinds.CLIENT,
  consumer: Kinds.CONSUMER,
};

/** The id is a header of a record that any producer may have written. */
const validSpanId = /^(?!0{16})[\da-f]{16}$/;

function startSpan(tracer: Tracer, { name, kind, parent, continues, attributes }: NewSpan): SdkSpan {
  const remote = readTraceparent(parent);
  const context = remote ? trace.setSpanContext(ROOT_CONTEXT, contextOf(remote)) : ROOT_CONTEXT;
  const links =
    remote && continues !== undefined && validSpanId.test(continues)
      ? [{ context: contextOf({ ...remote, spanId: continues }) }]
      : [];
  return tracer.startSpan(name, { kind: kinds[kind], attributes, links }, context);
}

function contextOf({ traceId, spanId, sampled }: TraceParent): SpanContext {
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return { traceId, spanId, traceFlags, isRemote: true };
}

/** Nothing of a span throws or waits. */
export class Span implements TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
  readonly #span: SdkSpan;

  constructor(span: SdkSpan) {
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.traceId = traceId;
    this.spanId = spanId;
    this.sampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
    this.#span = span;
  }

  /** The header `traceparent` of what this span causes. */
  get traceparent(): string {
    return formatTraceparent(this);
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  event(name: string, attributes: Attributes): void {
    this.#span.addEvent(name, attributes);
  }

  fail(reason: string): void {
    this.#span.setStatus({ code: SpanStatusCode.ERROR, message: reason });
  }

  end(): void {
    this.#span.end();
  }
}
