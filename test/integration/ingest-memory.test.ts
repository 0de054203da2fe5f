/** Memory attacks: ingest stays within its memory limit, and serves other clients. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { applyConfiguration } from '@tailrace/config';
import { sharedBroker } from '../support/kafka/broker.ts';
import {
  flood,
  openMany,
  outcomesOf,
  peakResidentBytes,
  type Outcomes,
  type RawRequest,
} from '../support/processes/flood.ts';
import {
  assertAccepted,
  assertRefused,
  call,
  connectRaw,
  outcomeOf,
  sendTo,
  startIngest,
  type Ingest,
} from '../support/processes/ingest.ts';
import { eventually } from '@tailrace/testing';
import { openKafka } from '../support/kafka/kafka-client.ts';
import { createTopics, uniquePrefix } from '../support/kafka/topics.ts';

const { brokers } = await sharedBroker();
const prefix = uniquePrefix();
{
  await using kafka = openKafka(brokers);
  const names = await createTopics(kafka, prefix, { partitions: 2, retryScheduleMs: [1_000] });
  const sources = ['web', 'other'].map((id) => ({ id, writeKeys: [`wk_${id}`], enabled: true }));
  await applyConfiguration(kafka, names.config, { sources, destinations: [] });
}

/** The goal for the resident memory of the process, for any input. */
const maxResidentBytes = 512 * 2 ** 20;

const basic = (key: string): string => `Basic ${btoa(`${key}:`)}`;

/** `head`, then `item` as often as fits into 500 KB, then `tail`. */
function filled(head: string, item: string, tail: string): string {
  return (
    head +
    item.repeat(Math.floor((500 * 1024 - head.length - item.length - tail.length) / item.length)) +
    tail
  );
}

const manyObjects = filled('{"batch":[],"x":[{}', ',{}', ']}');
const manyObjectsOfKey = (key: string): string =>
  filled(`{"writeKey":"${key}","batch":[],"x":[{}`, ',{}', ']}');
const goodCall = '{"type":"track","userId":"ada","event":"e"}';

const attacks: Readonly<Record<string, RawRequest & { readonly count: number }>> = {
  'a wrong key in the header, inflating': {
    count: 100,
    path: '/v1/batch',
    headers: { authorization: basic('wk_wrong'), 'content-encoding': 'gzip' },
    body: gzipSync(manyObjects),
  },
  'a wrong key in the body, inflating': {
    count: 150,
    path: '/v1/batch',
    headers: { 'content-encoding': 'gzip' },
    body: gzipSync(manyObjectsOfKey('wk_wrong')),
  },
  'a wrong key in the body, as it is': { count: 150, path: '/v1/batch', body: manyObjectsOfKey('wk_wrong') },
  'a good key and a batch of nothing': {
    count: 150,
    path: '/v1/batch',
    headers: { authorization: basic('wk_web'), 'content-encoding': 'gzip' },
    body: gzipSync(manyObjects),
  },
  'a good key, one good call, and as many objects as fit beside it': {
    count: 60,
    path: '/v1/batch',
    headers: { authorization: basic('wk_web'), 'content-encoding': 'gzip' },
    body: gzipSync(filled(`{"batch":[${goodCall}],"x":[1e1,{}`, ',{}', ']}')),
  },
};

async function assertServing(ingest: Ingest): Promise<void> {
  assertAccepted(await sendTo({ url: ingest.url, path: '/v1/track', body: call() }));
}

function assertOnly(outcomes: Outcomes, allowed: readonly number[]): void {
  const others = Object.keys(outcomes).filter((status) => !allowed.includes(Number(status)));
  assert.deepEqual(others, [], JSON.stringify(outcomes));
}

for (const [name, { count, ...request }] of Object.entries(attacks)) {
  test(`${count} requests at the same time with ${name}: ingest keeps its memory limit and continues to serve`, async (t) => {
    await using ingest = await startIngest(brokers, prefix);
    const outcomes = await flood(ingest.url, count, request);
    t.diagnostic(
      `${JSON.stringify(outcomes)}, ${(peakResidentBytes(ingest.process.pid ?? 0) ?? 0) >> 20} MB resident`,
    );
    // On a slow machine the last have not arrived within a minute.
    assertOnly(outcomes, [200, 401, 408, 503]);
    await assertSound(ingest);
  });
}

/** Asserts that \`ingest\` runs, has kept its memory, and serves. */
async function assertSound(ingest: Ingest): Promise<void> {
  const peak = peakResidentBytes(ingest.process.pid ?? 0);
  if (peak !== undefined) assert.ok(peak <= maxResidentBytes, `${peak} bytes were resident`);
  await assertServing(ingest);
}

async function heldBytes(ingest: Ingest): Promise<number> {
  const metrics = await (await fetch(`${ingest.probesUrl}/metrics`)).text();
  return Number(/^tailrace_ingest_held_bytes (\S+)$/m.exec(metrics)?.[1]);
}

const head = `POST /v1/batch HTTP/1.1\r\nauthorization: ${basic('wk_web')}\r\n`;

test('a wrong key of Basic auth is refused before the body is received', async () => {
  await using ingest = await startIngest(brokers, prefix);
  await using connection = await connectRaw(ingest.url);
  connection.write(
    `POST /v1/batch HTTP/1.1\r\nauthorization: ${basic('wk_wrong')}\r\ncontent-length: 400000\r\n\r\n{`,
  );
  // The connection stays for the rest, and is closed where none comes.
  assert.deepEqual(outcomeOf(await connection.received), [401, 'unknown-write-key']);

  await using sending = await connectRaw(ingest.url);
  const body = 'x'.repeat(400_000);
  const refused = `POST /v1/batch HTTP/1.1\r\nauthorization: ${basic('wk_wrong')}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const good = JSON.stringify({ batch: [call()] });
  sending.write(`${refused}${head}connection: close\r\ncontent-length: ${good.length}\r\n\r\n${good}`);
  const statuses = (await sending.received).match(/HTTP\/1\.1 \d{3}/g);
  assert.deepEqual(statuses, ['HTTP/1.1 401', 'HTTP/1.1 200']);
});

test('a body in chunks of one byte takes no more memory than its bytes', async () => {
  await using ingest = await startIngest(brokers, prefix);
  const connections = await openMany(ingest.url, 5);
  for (const connection of connections) {
    connection.write(`${head}transfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(100_000)}`);
  }
  const held = await eventually(
    () => heldBytes(ingest),
    (bytes) => bytes >= 5 * 100_000,
  );
  assert.ok(held <= 5 * (4 * 100_000 + 10_000), `${held} bytes are held`);
  await Promise.all(connections.map((connection) => connection[Symbol.asyncDispose]()));
  await heldNothing(ingest);
  await assertSound(ingest);
});

async function heldNothing(ingest: Ingest): Promise<void> {
  await eventually(
    () => heldBytes(ingest),
    (bytes) => bytes === 0,
  );
}

test('the connection of a client that pipelines thousands of requests is closed, and others are served', async () => {
  await using ingest = await startIngest(brokers, prefix);
  const few = await connectRaw(ingest.url);
  few.write('GET /v1/nothing HTTP/1.1\r\n\r\n'.repeat(7));
  few.write('GET /v1/nothing HTTP/1.1\r\nconnection: close\r\n\r\n');
  assert.equal((await few.received).match(/HTTP\/1\.1 404/g)?.length, 8);

  const connections = await openMany(ingest.url, 500);
  for (const connection of connections) connection.write('GET / HTTP/1.1\r\n\r\n'.repeat(3_500));
  await outcomesOf(connections);
  await heldNothing(ingest);
  await assertSound(ingest);
});

test('requests with an Expect header are bounded like all others', async () => {
  await using ingest = await startIngest(brokers, prefix);
  const connections = await openMany(ingest.url, 100);
  const first = 'POST /v1/track HTTP/1.1\r\ncontent-length: 9\r\n\r\n';
  for (const connection of connections) {
    connection.write(first + 'POST / HTTP/1.1\r\nexpect: x\r\n\r\n'.repeat(6_000));
  }
  await outcomesOf(connections);
  await heldNothing(ingest);
  await assertSound(ingest);
});

test('more headers than a hundred are refused', async () => {
  await using ingest = await startIngest(brokers, prefix);
  const headers = (count: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, '1']));
  assertAccepted(await sendTo({ url: ingest.url, path: '/v1/track', body: call(), headers: headers(90) }));
  const refused = await sendTo({ url: ingest.url, path: '/v1/track', body: call(), headers: headers(101) });
  assertRefused(refused, 400, 'malformed-request');
});

test('disconnects during a body free all memory of the request', async () => {
  await using ingest = await startIngest(brokers, prefix, { TAILRACE_INGEST_BUFFER: '2MB' });
  const connections = await openMany(ingest.url, 300);
  for (const connection of connections) connection.write(`${head}content-length: 100000\r\n\r\n{"batch":[`);
  await eventually(
    () => heldBytes(ingest),
    (bytes) => bytes > 1_000_000,
  );
  const refused = await sendTo({ url: ingest.url, path: '/v1/track', body: call() });
  assertRefused(refused, 503, 'overloaded');
  assert.equal(refused.headers['retry-after'], '1');
  await Promise.all(connections.map((connection) => connection[Symbol.asyncDispose]()));
  await heldNothing(ingest);
  await assertSound(ingest);
});

test('a source that fills its share of the memory leaves memory for other sources', async () => {
  await using ingest = await startIngest(brokers, prefix, { TAILRACE_INGEST_BUFFER: '2MB' });
  const connections = await openMany(ingest.url, 300);
  for (const connection of connections) connection.write(`${head}content-length: 100000\r\n\r\n{"batch":[`);
  await eventually(
    () => sendTo({ url: ingest.url, path: '/v1/track', body: call() }),
    ({ status }) => status === 503,
  );
  assertAccepted(await sendTo({ url: ingest.url, path: '/v1/track', body: call(), key: 'wk_other' }));
  await Promise.all(connections.map((connection) => connection[Symbol.asyncDispose]()));
});

test('a request that could never get enough memory is refused with a permanent error', async () => {
  await using ingest = await startIngest(brokers, prefix, { TAILRACE_INGEST_BUFFER: '64KB' });
  const body = {
    batch: [call({ properties: { padding: 'x'.repeat(20_000) } }), call({ a: 'x'.repeat(30_000) })],
  };
  assertRefused(await sendTo({ url: ingest.url, path: '/v1/batch', body }), 413, 'batch-too-large');
  await assertServing(ingest);
});
