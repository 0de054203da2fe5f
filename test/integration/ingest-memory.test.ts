/** Memory attacks on one process: ingest stays within its memory limit, and serves other clients. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { applyConfiguration } from '@tailrace/config';
import { eventually } from '@tailrace/testing';
import { sharedBroker } from '../support/kafka/broker.ts';
import { openKafka } from '../support/kafka/kafka-client.ts';
import { createTopics, uniquePrefix } from '../support/kafka/topics.ts';
import {
  flood,
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
  openMany,
  sendTo,
  startIngestProcess,
} from '../support/processes/ingest.ts';

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const { brokers } = await sharedBroker();
const prefix = uniquePrefix();
{
  await using kafka = openKafka(brokers);
  const names = await createTopics(kafka, prefix, { partitions: 2, retryScheduleMs: [1_000] });
  // The subject is memory, so no limit refuses a request before it takes any.
  const sources = ['web', 'other'].map((id) => ({
    id,
    writeKeys: [`wk_${id}`],
    enabled: true,
    rateLimit: 1_000_000,
    rateLimitBytes: 1_000_000_000,
  }));
  await applyConfiguration(kafka, names.config, { sources, destinations: [] });
}
/** All attacks are on this process, so that its peak is that of the worst. */
const ingest = opened.use(await startIngestProcess(brokers, prefix));

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
    count: 80,
    path: '/v1/batch',
    headers: { authorization: basic('wk_wrong'), 'content-encoding': 'gzip' },
    body: gzipSync(manyObjects),
  },
  'a wrong key in the body, inflating': {
    count: 80,
    path: '/v1/batch',
    headers: { 'content-encoding': 'gzip' },
    body: gzipSync(manyObjectsOfKey('wk_wrong')),
  },
  'a wrong key in the body, as it is': { count: 80, path: '/v1/batch', body: manyObjectsOfKey('wk_wrong') },
  'a good key and a batch of nothing': {
    count: 80,
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

/** Asserts that ingest runs, has kept its memory, holds no request, and serves. */
async function assertSound(): Promise<void> {
  const peak = peakResidentBytes(ingest.service.pid ?? 0);
  if (peak !== undefined) assert.ok(peak <= maxResidentBytes, `${peak} bytes were resident`);
  await eventually(
    async () => (await fetch(`${ingest.probesUrl}/metrics`)).text(),
    (metrics) => /^tailrace_ingest_held_bytes 0$/m.test(metrics),
  );
  assertAccepted(await sendTo({ url: ingest.url, path: '/v1/track', body: call() }));
}

function assertOnly(outcomes: Outcomes, allowed: readonly number[]): void {
  const others = Object.keys(outcomes).filter((status) => !allowed.includes(Number(status)));
  assert.deepEqual(others, [], JSON.stringify(outcomes));
}

for (const [name, { count, ...request }] of Object.entries(attacks)) {
  test(`${count} requests at the same time with ${name}: ingest keeps its memory limit and continues to serve`, async () => {
    const outcomes = await flood(ingest.url, count, request);
    // On a slow machine the last have not arrived within a minute.
    assertOnly(outcomes, [200, 401, 408, 503]);
    await assertSound();
  });
}

test('decompression stops at the limit, so that a hundred concurrent bombs cost no memory', async () => {
  // Two of them, completely inflated, would be more than the limit.
  const bomb = gzipSync(Buffer.alloc(300 * 2 ** 20));
  const headers = { 'content-encoding': 'gzip' };
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => sendTo({ url: ingest.url, path: '/v1/batch', bytes: bomb, headers })),
  );
  for (const answer of answers) assertRefused(answer, 413, 'batch-too-large');
  await assertSound();
});

test('the connection of a client that pipelines thousands of requests is closed, and others are served', async () => {
  const few = await connectRaw(ingest.url);
  few.write('GET /v1/nothing HTTP/1.1\r\n\r\n'.repeat(7));
  few.write('GET /v1/nothing HTTP/1.1\r\nconnection: close\r\n\r\n');
  assert.equal((await few.received).match(/HTTP\/1\.1 404/g)?.length, 8);

  const connections = await openMany(ingest.url, 200);
  for (const connection of connections) connection.write('GET / HTTP/1.1\r\n\r\n'.repeat(3_500));
  await outcomesOf(connections);
  await assertSound();
});

test('requests with an Expect header are bounded like all others', async () => {
  const connections = await openMany(ingest.url, 100);
  const first = 'POST /v1/track HTTP/1.1\r\ncontent-length: 9\r\n\r\n';
  for (const connection of connections) {
    connection.write(first + 'POST / HTTP/1.1\r\nexpect: x\r\n\r\n'.repeat(6_000));
  }
  await outcomesOf(connections);
  await assertSound();
});

test('batches of 2,500 calls with as much context as is allowed, from 20 connections, do not hinder another source', async () => {
  const batch = Array.from({ length: 2_500 }, (_, n) => ({ type: 'track', userId: `u-${n}`, event: 'E' }));
  const body = JSON.stringify({ batch, context: { text: 'x'.repeat(2_300) } });
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  const controller = new AbortController();
  const attack = Array.from({ length: 20 }, async () => {
    while (!controller.signal.aborted) {
      try {
        const headers = { authorization: basic('wk_web') };
        const request = httpRequest(new URL('/v1/batch', ingest.url), {
          agent,
          method: 'POST',
          headers,
          signal: controller.signal,
        });
        request.end(body);
        const [response] = (await once(request, 'response')) as [IncomingMessage];
        response.resume();
        await once(response, 'close');
      } catch {
        // The end of the test.
      }
    }
  });
  try {
    for (let nth = 0; nth < 5; nth += 1) {
      assertAccepted(await sendTo({ url: ingest.url, path: '/v1/track', body: call(), key: 'wk_other' }));
    }
  } finally {
    controller.abort();
  }
  await Promise.all(attack);
  agent.destroy();
  await assertSound();
});
