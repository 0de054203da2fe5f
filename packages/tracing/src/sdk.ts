/** Tracing with the SDK of OpenTelemetry. Only index.ts imports this file, and only where tracing is on. */
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
import type { Attributes, NewSpan, Span, SpanKind, Tracing } from './tracing.ts';

export async function startTracing(options: TracingOptions): Promise<Tracing> {
  return traceTo(await openExporter(options), options);
}

/** Tracing with any exporter. */
export function traceTo(
  exporter: SpanExporter,
  options: Pick<
    TracingOptions,
    'sampler' | 'samplerRatio' | 'resource' | 'maxQueuedSpans' | 'exportEveryMs' | 'timeoutMs' | 'onFailure'
  >,
): Tracing {
  const queue = new ExportQueue(exporter, options);
  const provider = new TracerProvider({
    sampler: samplers[options.sampler](options.samplerRatio),
    resource: resourceFromAttributes({ ...options.resource }),
    spanLimits: { attributeValueLengthLimit: maxAttributeLength },
    spanProcessors: [queue],
  });
  const tracer = provider.getTracer('tailrace');
  return {
    start: (span) => new StartedSpan(startSpan(tracer, span)),
    get droppedSpans() {
      return queue.dropped;
    },
    close: (timeoutMs) => queue.close(timeoutMs),
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

class StartedSpan implements Span {
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
