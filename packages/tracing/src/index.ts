/** Spans of OpenTelemetry. Its modules are loaded by `openTracing`, which is called only where tracing is on. */
import type { TracingOptions } from './options.ts';
import type { Tracing } from './tracing.ts';

export type { TracingOptions, SamplerName } from './options.ts';
export { samplerNames } from './options.ts';
export {
  formatTraceparent,
  readTraceparent,
  traceFields,
  validTraceparent,
  type TraceParent,
} from './traceparent.ts';
export type { Attributes, NewSpan, Span, SpanKind, Tracing } from './tracing.ts';

export async function openTracing(options: TracingOptions): Promise<Tracing> {
  const { startTracing } = await import('./sdk.ts');
  return startTracing(options);
}
