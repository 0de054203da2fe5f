/** Spans of OpenTelemetry. Its modules are loaded by `openTracing`, which is called only where tracing is on. */
import type { TracingOptions } from './options.ts';
import type { Tracing } from './sdk.ts';

export { samplerNames, type TracingOptions } from './options.ts';
export { readTraceparent, traceFields, validTraceparent, type TraceParent } from './traceparent.ts';
export type { Attributes, Span, Tracing } from './sdk.ts';

export async function openTracing(options: TracingOptions): Promise<Tracing> {
  const { startTracing } = await import('./sdk.ts');
  return startTracing(options);
}
