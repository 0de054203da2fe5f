import assert from 'node:assert/strict';
import test from 'node:test';
import Type from 'typebox';
import { readSettings } from './read.ts';
import { tracingSettings, type TracingSettings } from './tracing.ts';

function read(env: Record<string, string>): TracingSettings | undefined {
  return readSettings(env, Type.Object({ tracing: tracingSettings() })).tracing;
}

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

test('tracing is off without an endpoint, and where a variable turns it off', () => {
  assert.equal(read({}), undefined);
  assert.equal(read({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' }), undefined);
  assert.equal(read({ ...endpoint, OTEL_SDK_DISABLED: 'true' }), undefined);
  assert.equal(read({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }), undefined);
  assert.equal(read({ OTEL_EXPORTER_OTLP_ENDPOINT: '' }), undefined);
});

test('an endpoint alone turns it on, with the defaults of OpenTelemetry', () => {
  assert.deepEqual(read(endpoint), {
    url: 'http://collector:4318/v1/traces',
    protocol: 'http/protobuf',
    headers: {},
    timeoutMs: 10_000,
    sampler: 'parentbased_always_on',
    samplerRatio: 1,
    resource: {},
    maxQueuedSpans: 2_048,
    exportEveryMs: 5_000,
  });
});

test('the endpoint for traces is used as it is, and the other one gets a path', () => {
  const url = (env: Record<string, string>): string | undefined => read(env)?.url;
  assert.equal(url({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c/otel/?a=1' }), 'https://c/otel/v1/traces?a=1');
  assert.equal(
    url({ ...endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://c/spans' }),
    'https://c/spans',
  );
});

test('headers and attributes are decoded, and the more specific variable counts', () => {
  const settings = read({
    ...endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a%3D%2C, x-tenant = one ,',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-tenant=two',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=one,k8s.pod.name=pod-1',
    OTEL_SERVICE_NAME: 'two',
  });
  assert.deepEqual(settings?.headers, { authorization: 'Bearer a=,', 'x-tenant': 'two' });
  assert.deepEqual(settings.resource, { 'service.name': 'two', 'k8s.pod.name': 'pod-1' });
});

test('an invalid variable is reported with how to fix it, and a secret is not shown', () => {
  const cases: [env: Record<string, string>, message: RegExp][] = [
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }, /must be a full URL with http or https/],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /grpc is not supported\. Set it to http\/protobuf/],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'udp' }, /must be http\/protobuf or http\/json/],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, /OTEL_TRACES_EXPORTER: not supported\. Set it to otlp/],
    [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, /must be one of always_on/],
    [{ OTEL_TRACES_SAMPLER_ARG: '1.5' }, /must be a number from 0 to 1/],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'a' }, /must be names and values such as a=1/],
    [{ OTEL_EXPORTER_OTLP_TIMEOUT: '10s' }, /must be a whole number of milliseconds/],
    ...['s3cret', 'x y=s3cret', 'x=s3cret%0d%0a', 'x=s3cret%'].map(
      (text): [Record<string, string>, RegExp] => [
        { OTEL_EXPORTER_OTLP_HEADERS: text },
        /^OTEL_EXPORTER_OTLP_HEADERS: invalid value \(not shown\); must be names and values/,
      ],
    ),
  ];
  for (const [env, message] of cases) {
    assert.throws(
      () => read({ ...endpoint, ...env }),
      (error: Error) => message.test(error.message) && !error.message.includes('s3cret'),
      JSON.stringify(env),
    );
  }
});

test('what another program of the environment uses is no problem where tracing is off', () => {
  assert.equal(read({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_EXPORTER: 'console' }), undefined);
});

test('a share of the traces is a number', () => {
  for (const [text, ratio] of [
    ['0', 0],
    ['.5', 0.5],
    ['0.001', 0.001],
    ['1.0', 1],
  ] as const) {
    assert.equal(read({ ...endpoint, OTEL_TRACES_SAMPLER_ARG: text })?.samplerRatio, ratio);
  }
});
