/** A collector of spans: OTLP over HTTP in JSON, on loopback. */
import { collect, type Collected } from '@tailrace/testing';
import { status } from './answers.ts';
import { startReceiver, type ReceivedRequest } from './receiver.ts';

export interface CollectedSpan {
  /** `service.name` of its process. */
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  /** The ids of the spans that it has a link to. */
  readonly links: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly {
    readonly name: string;
    readonly attributes: Readonly<Record<string, unknown>>;
  }[];
  /** Whether its status is an error. */
  readonly failed: boolean;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** As it was sent. */
  readonly json: string;
}

export interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly spans: Collected<CollectedSpan>;
  readonly requests: readonly ReceivedRequest[];
  /** The spans of a trace, when there are `count` of them; in the order of their start. */
  trace(traceId: string, count: number): Promise<readonly CollectedSpan[]>;
}

export async function startCollector(): Promise<Collector> {
  const spans = collect<CollectedSpan>(
    'the collector',
    ({ service, name, json }) => `${service} ${name} ${json}`,
  );
  const receiver = await startReceiver({
    answer(request) {
      for (const span of spansOf(request.json() as Export)) spans.add(span);
      return status(200);
    },
  });
  return {
    url: receiver.url,
    spans,
    requests: receiver.requests,
    async trace(traceId, count) {
      const ofTrace = (all: readonly CollectedSpan[]) => all.filter((span) => span.traceId === traceId);
      const found = ofTrace(await spans.waitFor((all) => ofTrace(all).length >= count));
      return found.sort((one, other) => one.startedAt - other.startedAt);
    },
    [Symbol.asyncDispose]: () => receiver.close(),
  };
}

/** The parts of `ExportTraceServiceRequest` that the tests look at. */
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[];
  }[];
}

interface ExportedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly links?: readonly { readonly spanId: string }[];
  readonly events?: readonly { readonly name: string; readonly attributes: readonly Attribute[] }[];
  readonly status?: { readonly code?: number };
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

function spansOf({ resourceSpans }: Export): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        service: String(valuesOf(resource.attributes)['service.name']),
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        links: (span.links ?? []).map(({ spanId }) => spanId),
        attributes: valuesOf(span.attributes),
        events: (span.events ?? []).map(({ name, attributes }) => ({
          name,
          attributes: valuesOf(attributes),
        })),
        failed: span.status?.code === 2,
        startedAt: Number(span.startTimeUnixNano) / 1e6,
        endedAt: Number(span.endTimeUnixNano) / 1e6,
        json: JSON.stringify(span),
      })),
    ),
  );
}

/** An integer may be a string, as JSON of Protobuf allows. */
function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value: { intValue, ...value } }) => [
      key,
      intValue === undefined ? Object.values(value)[0] : Number(intValue),
    ]),
  );
}
