/**
 * The settings of tracing: the standard variables of OpenTelemetry, with its meanings and its units (times are milliseconds
 * without a unit). In one thing they differ: tracing is off unless an endpoint is set, because a service without a collector
 * must not send spans to a port where there is none.
 */
import { TailraceError } from '@tailrace/errors';
import { samplerNames, type TracingOptions } from '@tailrace/tracing';
import Type from 'typebox';
import { httpUrl } from './kinds.ts';

/** `resource` has `service.name` only where a variable sets it. */
export type TracingSettings = Omit<TracingOptions, 'onFailure'>;

const pairsForm = 'names and values such as a=1,b=2, with other characters percent-encoded';
const milliseconds = { minimum: 1, maximum: 3_600_000, form: 'a whole number of milliseconds' };
const protocols = ['http/protobuf', 'http/json', 'grpc'];

/** Undefined where tracing is off. */
export function tracingSettings() {
  const variables = Type.Object({
    endpoint: Type.Optional(
      httpUrl({
        env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
        description:
          'Collector that spans are sent to; `/v1/traces` is added to its path. Tracing is off without it and without OTEL_EXPORTER_OTLP_TRACES_ENDPOINT.',
      }),
    ),
    tracesEndpoint: Type.Optional(
      httpUrl({
        env: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
        description: 'The full URL that spans are sent to, in place of OTEL_EXPORTER_OTLP_ENDPOINT.',
      }),
    ),
    headers: headers('OTEL_EXPORTER_OTLP_HEADERS', 'Headers of the requests to the collector.'),
    tracesHeaders: headers(
      'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
      'Further headers, which replace those of the same name.',
    ),
    protocol: Type.Enum(protocols, {
      env: 'OTEL_EXPORTER_OTLP_PROTOCOL',
      default: 'http/protobuf',
      form: 'http/protobuf or http/json',
      description: 'How spans are sent. gRPC is not supported.',
    }),
    timeoutMs: Type.Integer({
      env: 'OTEL_EXPORTER_OTLP_TIMEOUT',
      ...milliseconds,
      default: 10_000,
      description: 'Time limit of one export, its retries included.',
    }),
    exporter: Type.String({
      env: 'OTEL_TRACES_EXPORTER',
      form: 'otlp or none',
      default: 'otlp',
      description: 'With `none` tracing is off.',
    }),
    isDisabled: Type.Boolean({
      env: 'OTEL_SDK_DISABLED',
      default: false,
      description: 'With `true` tracing is off.',
    }),
    sampler: Type.Enum([...samplerNames], {
      env: 'OTEL_TRACES_SAMPLER',
      default: 'parentbased_always_on',
      description:
        'Which traces are recorded. With `parentbased_…` the caller decides where it sent a `traceparent`.',
    }),
    samplerRatio: Type.Decode(
      Type.String({
        env: 'OTEL_TRACES_SAMPLER_ARG',
        pattern: '^(0?\\.\\d{1,9}|0|1|1\\.0{1,9})$',
        form: 'a number from 0 to 1',
        default: '1',
        description: 'The share of traces that the ratio samplers record.',
      }),
      Number,
    ),
    serviceName: Type.Optional(
      Type.String({
        env: 'OTEL_SERVICE_NAME',
        description: 'Name of the service in the traces; by default `tailrace-ingest` and so on.',
      }),
    ),
    resource: Type.Optional(
      Type.Decode(
        Type.String({
          env: 'OTEL_RESOURCE_ATTRIBUTES',
          form: pairsForm,
          description: 'Attributes of the process in the traces.',
        }),
        (list) => readPairs('OTEL_RESOURCE_ATTRIBUTES', list),
      ),
    ),
    maxQueuedSpans: Type.Integer({
      env: 'OTEL_BSP_MAX_QUEUE_SIZE',
      minimum: 1,
      maximum: 100_000,
      default: 2_048,
      description: 'Spans that wait for their export, about 2 KB each; further ones are dropped and counted.',
    }),
    exportEveryMs: Type.Integer({
      env: 'OTEL_BSP_SCHEDULE_DELAY',
      ...milliseconds,
      default: 5_000,
      description: 'Time between two exports.',
    }),
  });
  return Type.Decode(variables, (values): TracingSettings | undefined => {
    const { endpoint, tracesEndpoint, exporter, isDisabled, protocol } = values;
    const url = tracesEndpoint ?? (endpoint === undefined ? undefined : tracesUrl(endpoint));
    if (isDisabled || url === undefined || exporter === 'none') return undefined;
    const problems: string[] = [];
    if (exporter !== 'otlp') {
      problems.push('OTEL_TRACES_EXPORTER: not supported. Set it to otlp, or to none to turn tracing off.');
    }
    if (protocol === 'grpc') {
      problems.push(
        'OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not supported. Set it to http/protobuf, and the endpoint to the ' +
          'port of the collector for HTTP, which usually is 4318.',
      );
    }
    if (problems.length > 0) throw new TailraceError('invalid-settings', problems.join('\n'));
    const { timeoutMs, sampler, samplerRatio, maxQueuedSpans, exportEveryMs, serviceName } = values;
    return {
      url,
      timeoutMs,
      sampler,
      samplerRatio,
      maxQueuedSpans,
      exportEveryMs,
      protocol: protocol === 'http/json' ? protocol : 'http/protobuf',
      headers: { ...values.headers, ...values.tracesHeaders },
      resource: { ...values.resource, ...(serviceName !== undefined && { 'service.name': serviceName }) },
    };
  });
}

/** Query and fragment of the endpoint are kept, as the specification asks. */
function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url.href;
}

/** Secret, because headers are credentials. */
function headers(env: string, description: string) {
  const text = Type.String({ env, description, form: pairsForm, writeOnly: true });
  return Type.Optional(
    Type.Decode(text, (list) => {
      const pairs = readPairs(env, list);
      for (const [name, value] of Object.entries(pairs)) {
        const isValid = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name) && /^[\t\x20-\x7e]*$/.test(value);
        if (!isValid) throw invalidPairs(env);
      }
      return pairs;
    }),
  );
}

/** Names and values in the form of W3C Baggage: `a=1,b=2`, percent-encoded. */
function readPairs(env: string, list: string): Readonly<Record<string, string>> {
  const entries = list
    .split(',')
    .filter((item) => item.trim() !== '')
    .map((item) => {
      const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(item) ?? [];
      if (name === undefined || value === undefined) throw invalidPairs(env);
      try {
        return [decodeURIComponent(name), decodeURIComponent(value)] as const;
      } catch {
        throw invalidPairs(env);
      }
    });
  return Object.fromEntries(entries);
}

function invalidPairs(env: string): TailraceError {
  return new TailraceError('invalid-settings', `${env}: invalid value (not shown); must be ${pairsForm}`);
}
