/** Overload: slow, endless, too many and too fast senders are bounded, and other clients are served. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyConfiguration } from '@tailrace/config';
import { sharedBroker } from '../support/kafka/broker.ts';
import {
  assertAccepted,
  call,
  connectRaw,
  outcomeOf,
  sendTo,
  startIngest,
  type Ingest,
  type RawConnection,
} from '../support/processes/ingest.ts';
import { eventually } from '@tailrace/testing';
import { openKafka } from '../support/kafka/kafka-client.ts';
import type { Environment } from '../support/processes/process.ts';
import { createTopics, uniquePrefix } from '../support/kafka/topics.ts';

const { brokers } = await sharedBroker();
const prefix = uniquePrefix();
{
  await using kafka = openKafka(brokers);
  const names = await createTopics(kafka, prefix, { partitions: 1, retryScheduleMs: [1_000] });
  const source = { id: 'web', writeKeys: ['wk_web'], enabled: true };
  await applyConfiguration(kafka, names.config, { sources: [source], destinations: [] });
}

const start = (env: Environment): Promise<Ingest> => startIngest(brokers, prefix, env);
const head = `POST /v1/track HTTP/1.1\r\nauthorization: Basic ${btoa('wk_web:')}\r\n`;

/** Writes `bytes` every 50 ms until the other side closes; resolves with what it answered, and how much it took. */
async function pour(
  connection: RawConnection,
  bytes: string,
): Promise<{ readonly answer: string; readonly written: number }> {
  let written = 0;
  while (!connection.closed) {
    connection.write(bytes);
    written += bytes.length;
    await sleep(bytes.length > 1_000 ? 0 : 50);
  }
  return { answer: await connection.received, written };
}

test('requests with slow headers or a slow body time out, and others are served meanwhile', async () => {
  await using ingest = await start({ TAILRACE_INGEST_REQUEST_TIMEOUT: '1s' });
  await using slowHeaders = await connectRaw(ingest.url);
  await using slowBody = await connectRaw(ingest.url);
  await using silentBody = await connectRaw(ingest.url);
  slowHeaders.write(head);
  slowBody.write(`${head}transfer-encoding: chunked\r\n\r\n`);
  silentBody.write(`${head}content-length: 100\r\n\r\n{`);
  const poured = Promise.all([
    pour(slowHeaders, 'x-more: 1\r\n'),
    pour(slowBody, '1\r\n \r\n'),
    silentBody.received.then((answer) => ({ answer })),
  ]);
  assertAccepted(await sendTo({ url: ingest.url, path: '/v1/track', body: call() }));
  for (const { answer } of await poured) assert.deepEqual(outcomeOf(answer), [408, 'request-timeout']);
});

test('an endless body is refused soon after its limit', async () => {
  await using ingest = await start({});
  const chunk = 'x'.repeat(16 * 1024);
  for (const [path, code, limit] of [
    ['/v1/track', 'call-too-large', 32 * 1024],
    ['/v1/batch', 'batch-too-large', 500 * 1024],
    ['/v1/m', 'batch-too-large', 500 * 1024],
  ] as const) {
    await using connection = await connectRaw(ingest.url);
    connection.write(`${head.replace('/v1/track', path)}transfer-encoding: chunked\r\n\r\n`);
    const { answer, written } = await pour(connection, `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    // A sender that continues to write may get a reset before it reads the response.
    if (answer !== '') assert.deepEqual(outcomeOf(answer), [413, code]);
    // Beyond a mebibyte that is forgotten lies only what the sockets' buffers hold.
    assert.ok(written < limit + 16 * 2 ** 20, `${path} took ${written} bytes`);
  }
  await using declared = await connectRaw(ingest.url);
  declared.write(`${head}content-length: 1000000000\r\n\r\n`);
  assert.deepEqual(outcomeOf(await declared.received), [413, 'call-too-large']);
  const metrics = await (await fetch(`${ingest.probesUrl}/metrics`)).text();
  for (const code of ['call-too-large', 'batch-too-large']) {
    assert.match(metrics, new RegExp(`^tailrace_ingest_refused_requests_total{code="${code}"} 2$`, 'm'));
  }
});

test('a body slightly above the limit is read to its end, so that its sender sees the error', async () => {
  await using ingest = await start({});
  const body = { batch: [call({ properties: { padding: 'x'.repeat(800 * 1024) } })] };
  for (let repetition = 0; repetition < 10; repetition++) {
    const answer = await sendTo({ url: ingest.url, path: '/v1/batch', body });
    assert.deepEqual([answer.status, answer.json['code']], [413, 'batch-too-large']);
    assert.notEqual(answer.headers['connection'], 'close');
  }
});

test('headers beyond 16 KB and malformed HTTP are refused', async () => {
  await using ingest = await start({});
  for (const bytes of [
    `${head}x-large: ${'x'.repeat(17 * 1024)}\r\n\r\n`,
    `${head}${'x-many: 1\r\n'.repeat(2_000)}\r\n`,
    `${head}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}`,
    `${head}content-length: two\r\n\r\n{}`,
    'POST /v1/track HTTP/9.9\r\n\r\n',
  ]) {
    await using connection = await connectRaw(ingest.url);
    connection.write(bytes);
    assert.deepEqual(outcomeOf(await connection.received), [400, 'malformed-request']);
  }
});

test('bodies that are still arriving share one limit, and a further request gets 503 with Retry-After', async () => {
  await using ingest = await start({ TAILRACE_INGEST_BUFFER: '190KB' });
  const body = JSON.stringify(call({ properties: { padding: 'x'.repeat(30 * 1024) } }));
  const whole = `${head}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;
  const opened = new AsyncDisposableStack();
  const waiting: RawConnection[] = [];
  for (let count = 0; count < 3; count++) {
    const connection = opened.use(await connectRaw(ingest.url));
    connection.write(whole.slice(0, -1));
    waiting.push(connection);
  }
  // Only once all three have arrived is a fourth too many.
  const refused = await eventually(
    () => sendTo({ url: ingest.url, path: '/v1/track', bytes: body }),
    ({ status }) => status === 503,
  );
  assert.equal(refused.json['code'], 'overloaded');
  assert.equal(refused.headers['retry-after'], '1');
  assertAccepted(await sendTo({ url: ingest.url, path: '/v1/track', body: call() }));
  for (const connection of waiting) {
    connection.write('}');
    assert.match(await connection.received, /^HTTP\/1\.1 200 OK\r\n/);
  }
  assertAccepted(await sendTo({ url: ingest.url, path: '/v1/track', bytes: body }));
  await opened.disposeAsync();
});

test('connections beyond the limit are closed, and existing ones continue', async () => {
  await using ingest = await start({ TAILRACE_INGEST_MAX_CONNECTIONS: '3' });
  const opened = new AsyncDisposableStack();
  const first = opened.use(await connectRaw(ingest.url));
  for (let count = 0; count < 2; count++) opened.use(await connectRaw(ingest.url));
  const fourth = opened.use(await connectRaw(ingest.url));
  assert.equal(await fourth.received, '');
  const body = JSON.stringify(call());
  first.write(`${head}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
  assert.match(await first.received, /^HTTP\/1\.1 200 OK\r\n/);
  await opened.disposeAsync();
});
