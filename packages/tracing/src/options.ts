/** The options of tracing. The settings `OTEL_*` become these in packages/service. */

export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof samplerNames)[number];

export interface TracingOptions {
  /** The full URL that spans are sent to. */
  readonly url: string;
  readonly protocol: 'http/protobuf' | 'http/json';
  /** Of the requests to `url`. May be credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** For one export, its retries included. */
  readonly timeoutMs: number;
  readonly sampler: SamplerName;
  /** The share of traces that the ratio samplers record, from 0 to 1. */
  readonly samplerRatio: number;
  /** Attributes of the process, `service.name` among them. */
  readonly resource: Readonly<Record<string, string>>;
  /** Spans that wait for their export. Further ones are dropped. */
  readonly maxQueuedSpans: number;
  /** Time between two exports, where there is no full batch. */
  readonly exportEveryMs: number;
  /** Called with each failed export. */
  readonly onFailure: (error: Error, spans: number) => void;
}
