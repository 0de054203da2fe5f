/** The spans of an event, from ingest, router and delivery to a collector. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { sequence, status } from '../support/receivers/answers.ts';
import { startCollector, type CollectedSpan, type Collector } from '../support/receivers/collector.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { startPipeline, type Connection, type Pipeline } from '../support/processes/pipeline.ts';
import { headerOf, watchTopic } from '../support/kafka/topics.ts';

let collector: Collector;
let pipeline: Pipeline;
const opened = new AsyncDisposableStack();

before(async () => {
  collector = opened.use(await startCollector());
  pipeline = opened.use(
    await startPipeline({
      cluster: new MemoryCluster(),
      retrySchedule: '100ms,100ms',
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/otel/`,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=s3%20cret',
        OTEL_BSP_SCHEDULE_DELAY: '20',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      },
    }),
  );
});
after(() => opened.disposeAsync());

interface Caller {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceparent: string;
}

function newCaller(flags = '01'): Caller {
  const traceId = randomBytes(16).toString('hex');
  const spanId = randomBytes(8).toString('hex');
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

/** Sends a call in the trace of the caller. Resolves with its messageId. */
async function send({ writeKey }: Connection, traceparent: string): Promise<string> {
  const messageId = randomBytes(8).toString('hex');
  const response = await fetch(`${pipeline.ingestUrl}/v1/track?not=recorded`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${writeKey}:`)}`, traceparent },
    body: JSON.stringify({
      messageId,
      userId: 'user-content',
      event: 'event-content',
      properties: { a: 'b-content' },
    }),
  });
  assert.equal(response.status, 200, await response.text());
  return messageId;
}

function only(spans: readonly CollectedSpan[], service: string): CollectedSpan {
  const [span, ...others] = spans.filter((each) => each.service === service);
  assert.ok(span && others.length === 0, `one span of ${service}`);
  return span;
}

test('an event has a span for its request, its routing and each attempt, and the receiver gets that of the attempt', async () => {
  await using receiver = await startReceiver({ answer: sequence(status(503), status(200)) });
  const url = `${receiver.url}/hook?token=query-content`;
  const connection = await pipeline.connect({ webhooks: [{ url }], traceparent: true });
  const caller = newCaller();
  const messageId = await send(connection, caller.traceparent);

  const spans = await collector.trace(caller.traceId, 4);
  assert.equal(spans.length, 4);
  const request = only(spans, 'tailrace-ingest');
  const route = only(spans, 'tailrace-router');
  const [first, retry] = spans.filter(({ service }) => service === 'tailrace-delivery');
  assert.ok(first && retry);

  assert.equal(request.name, 'POST /v1/track');
  assert.equal(request.parentSpanId, caller.spanId);
  assert.equal(request.attributes['http.route'], '/v1/track');
  assert.equal(request.attributes['http.response.status_code'], 200);

  assert.equal(route.name, `route ${pipeline.names.events}`);
  assert.equal(route.parentSpanId, request.spanId);
  assert.equal(route.attributes['messaging.system'], 'kafka');
  assert.equal(route.attributes['tailrace.event.id'], messageId);
  assert.equal(route.attributes['tailrace.outcome'], 'routed');
  assert.equal(route.attributes['tailrace.deliveries'], 1);

  assert.equal(first.name, 'attempt');
  assert.equal(first.parentSpanId, route.spanId);
  assert.deepEqual(first.links, []);
  assert.equal(first.attributes['http.request.method'], 'POST');
  assert.equal(first.attributes['http.response.status_code'], 503);
  assert.equal(first.attributes['tailrace.outcome'], 'retry');
  assert.equal(first.attributes['url.full'], `${receiver.url}/hook`);
  assert.equal(first.attributes['server.port'], receiver.port);
  assert.equal(first.failed, true);

  assert.equal(retry.parentSpanId, route.spanId, 'a retry is beside the first attempt');
  assert.deepEqual(retry.links, [first.spanId], 'a retry has a link to the first attempt');
  assert.equal(retry.attributes['http.request.resend_count'], 1);
  assert.equal(retry.attributes['tailrace.outcome'], 'delivered');
  assert.equal(retry.failed, false);
  assert.ok(retry.startedAt > first.endedAt);

  const received = await receiver.waitFor(2);
  assert.deepEqual(
    received.map(({ headers }) => headers['traceparent']),
    [first, retry].map(({ spanId }) => `00-${caller.traceId}-${spanId}-01`),
  );
  const line = await pipeline.delivery.log.find(
    ({ msg, ...fields }) => msg === 'attempt' && fields['eventId'] === messageId,
  );
  assert.equal(line['trace_id'], caller.traceId);
  assert.equal(line['span_id'], first.spanId);

  for (const { json } of spans) assert.doesNotMatch(json, /content|not=recorded|s3.cret/);
  const exported = collector.requests[0];
  assert.equal(exported?.path, '/otel/v1/traces');
  assert.equal(exported.headers['x-api-key'], 's3 cret');
  assert.match(String(exported.body), /"deployment.environment.name"/);
});

test('a receiver gets no traceparent unless its destination asks for it', async () => {
  await using receiver = await startReceiver();
  const connection = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  await send(connection, newCaller().traceparent);
  const [request] = await receiver.waitFor(1);
  assert.equal(request?.headers['traceparent'], undefined);
});

test('an attempt that ends in a dead letter says so, and its log line has the trace', async () => {
  await using receiver = await startReceiver({ answer: () => status(410) });
  const connection = await pipeline.connect({ webhooks: [{ url: receiver.url, method: 'PUT' }] });
  const caller = newCaller();
  const messageId = await send(connection, caller.traceparent);
  const attempt = only(await collector.trace(caller.traceId, 3), 'tailrace-delivery');
  assert.equal(attempt.failed, true);
  assert.equal(attempt.attributes['http.request.method'], 'PUT');
  assert.deepEqual(attempt.events, [
    { name: 'dead letter', attributes: { 'tailrace.reason': 'client-error' } },
  ]);
  const line = await pipeline.delivery.log.find(
    ({ msg, ...fields }) => msg === 'dead letter' && fields['eventId'] === messageId,
  );
  assert.equal(line['trace_id'], caller.traceId);
  assert.equal(line['span_id'], attempt.spanId);
});

test('a delivery that ends without an attempt has a span that says why', async () => {
  const connection = await pipeline.connect([{ webhooks: [{ url: 'http://127.0.0.1:9' }] }]);
  const caller = newCaller();
  await pipeline.kafka.publisher().publish({
    topic: pipeline.names.deliveries,
    key: 'gone/ada',
    value: '{}',
    headers: {
      'delivery-id': 'd-1',
      'event-id': 'e-1',
      type: 'track',
      'destination-id': 'gone',
      'source-id': connection.sourceId,
      traceparent: caller.traceparent,
    },
  });
  const [span] = await collector.trace(caller.traceId, 1);
  assert.equal(span?.name, 'dead letter');
  assert.equal(span.parentSpanId, caller.spanId);
  assert.equal(span.attributes['error.type'], 'destination-deleted');
});

describe('an event of a direct producer', () => {
  const publish = async ({ sourceId }: Connection, traceparent: string, value: string): Promise<void> => {
    const headers = { 'source-id': sourceId, traceparent };
    await pipeline.kafka.publisher().publish({ topic: pipeline.names.events, key: 'ada', value, headers });
  };
  const track = JSON.stringify({ type: 'track', userId: 'ada', event: 'Tested' });

  test('continues the trace of its header', async () => {
    await using receiver = await startReceiver();
    const connection = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
    const caller = newCaller();
    await publish(connection, caller.traceparent, track);
    const spans = await collector.trace(caller.traceId, 2);
    assert.equal(only(spans, 'tailrace-router').parentSpanId, caller.spanId);
    assert.equal(only(spans, 'tailrace-delivery').parentSpanId, only(spans, 'tailrace-router').spanId);
  });

  test('that is rejected has a span with the error code', async () => {
    const connection = await pipeline.connect({ webhooks: [{ url: 'http://127.0.0.1:9' }] });
    const caller = newCaller();
    await publish(connection, caller.traceparent, 'not JSON');
    const [span] = await collector.trace(caller.traceId, 1);
    assert.equal(span?.attributes['error.type'], 'malformed-json');
    assert.equal(span.failed, true);
  });

  test('begins a trace where its header is hostile, and is delivered', async () => {
    await using receiver = await startReceiver();
    const connection = await pipeline.connect({ webhooks: [{ url: receiver.url }], traceparent: true });
    await publish(connection, `00-${'a'.repeat(10_000)}\r\nx-injected: yes`, track);
    const [request] = await receiver.waitFor(1);
    assert.match(request?.headers['traceparent'] ?? '', /^00-[\da-f]{32}-[\da-f]{16}-01$/);
    assert.equal(request?.headers['x-injected'], undefined);
  });
});

test('a call with an invalid traceparent is accepted, and begins a trace', async () => {
  await using receiver = await startReceiver();
  const connection = await pipeline.connect({ webhooks: [{ url: receiver.url }], traceparent: true });
  const valid = newCaller();
  const invalid = [
    '',
    'junk',
    'a'.repeat(10_000),
    valid.traceparent.replace(/^00/, 'ff'),
    `00-${'0'.repeat(32)}-${valid.spanId}-01`,
    `00-${valid.traceId}-${'0'.repeat(16)}-01`,
  ];
  for (const traceparent of invalid) await send(connection, traceparent);
  const requests = await receiver.waitFor(invalid.length);
  const traces = new Set(requests.map(({ headers }) => headers['traceparent']?.slice(3, 35)));
  assert.equal(traces.size, invalid.length);
  assert.ok(!traces.has(valid.traceId));
});

test('a caller that does not record its trace is followed: no spans, and the receiver gets the flag', async () => {
  await using receiver = await startReceiver();
  const connection = await pipeline.connect({ webhooks: [{ url: receiver.url }], traceparent: true });
  const [unsampled, sampled] = [newCaller('00'), newCaller()];
  await send(connection, unsampled.traceparent);
  await send(connection, sampled.traceparent);
  const requests = await receiver.waitFor(2);
  const traceparents = requests.map(({ headers }) => headers['traceparent'] ?? '');
  assert.equal(
    traceparents.filter((text) => text.startsWith(`00-${unsampled.traceId}-`) && text.endsWith('-00')).length,
    1,
  );
  await collector.trace(sampled.traceId, 3);
  assert.ok(!collector.spans.items.some(({ traceId }) => traceId === unsampled.traceId));
});

test('the events of a batch share the span of their request', async () => {
  await using events = await watchTopic(pipeline.kafka, pipeline.names.events);
  const connection = await pipeline.connect({ webhooks: [{ url: 'http://127.0.0.1:9' }] });
  const caller = newCaller();
  const messageIds = [randomBytes(8).toString('hex'), randomBytes(8).toString('hex')];
  const response = await fetch(`${pipeline.ingestUrl}/v1/batch`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${connection.writeKey}:`)}`, traceparent: caller.traceparent },
    body: JSON.stringify({
      batch: messageIds.map((messageId) => ({ type: 'track', userId: 'ada', event: 'Tested', messageId })),
    }),
  });
  assert.equal(response.status, 200);
  // The spans of the router may arrive before it.
  const request = await collector.spans.find(
    ({ traceId, service }) => traceId === caller.traceId && service === 'tailrace-ingest',
  );
  const ofBatch = await events.waitFor(
    (records) =>
      records.filter((record) => headerOf(record, 'source-id') === connection.sourceId).length === 2,
  );
  for (const record of ofBatch.filter((record) => headerOf(record, 'source-id') === connection.sourceId)) {
    assert.equal(headerOf(record, 'traceparent'), `00-${caller.traceId}-${request.spanId}-01`);
  }
});
