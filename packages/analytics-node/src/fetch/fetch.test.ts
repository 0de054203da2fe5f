/** The client for browsers and edge runtimes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import { Analytics, type AnalyticsError, type Fetch, type FetchInit, type FetchResponse } from '../fetch.ts';

interface Exchange {
  readonly url: string;
  readonly init: FetchInit;
}

type Answer = (init: FetchInit) => Promise<FetchResponse> | FetchResponse;

/** A client whose requests get these answers; the last one repeats. */
function open(answers: readonly Answer[], options: { timeoutMs?: number } = {}) {
  const exchanges: Exchange[] = [];
  const reports: AnalyticsError[] = [];
  const fetch: Fetch = async (url, init) => {
    exchanges.push({ url, init });
    return (answers[Math.min(exchanges.length, answers.length) - 1] ?? assert.fail())(init);
  };
  const endpoint = 'https://events.example.com/in/';
  const onError = (error: AnalyticsError): unknown => reports.push(error);
  const client = new Analytics({ writeKey: 'wk_Zoë', endpoint, fetch, onError, ...options });
  return { client, exchanges, reports };
}

const answer = (status: number, body = '{"success":true}'): FetchResponse => new Response(body, { status });
const batchOf = ({ init }: Exchange) =>
  JSON.parse(init.body) as { batch: { event: string; messageId: string }[]; context: unknown };

/** Never answers, and does not even notice that it is aborted. */
const ignore: Answer = () => new Promise<never>(() => undefined);

/** Never answers, and rejects when it is aborted. */
const hang: Answer = ({ signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('aborted'));
    });
  });

test('a batch is posted with the write key and the library, and nothing that browsers would not send', async () => {
  const { client, exchanges } = open([() => answer(200)]);
  client.track({ userId: 'ada', event: 'a' });
  client.page({ anonymousId: 'a-7', name: 'b' });
  assert.deepEqual(await client.close(), { unsent: 0, kept: 0 });
  const [exchange] = exchanges;
  assert.ok(exchange);
  assert.equal(exchange.url, 'https://events.example.com/in/v1/batch');
  const { method, headers, redirect } = exchange.init;
  assert.deepEqual([method, redirect], ['POST', 'manual']);
  const authorization = `Basic ${Buffer.from('wk_Zoë:').toString('base64')}`;
  assert.deepEqual(headers, { 'content-type': 'application/json', authorization });
  assert.deepEqual(batchOf(exchange).context, { library: { name: 'analytics-node', version: '0.1.0' } });
  assert.equal(batchOf(exchange).batch.length, 2);
});

test('it retries what the client of Node retries, and reports the rest', async () => {
  const offline: Answer = () => Promise.reject(new TypeError('Failed to fetch'));
  const cutOff: Answer = () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.error(new TypeError('terminated'));
      },
    });
    return new Response(body);
  };
  const rejected = '{"rejected":[{"index":0,"message":"wrong"}]}';
  const answers = [
    offline,
    () => answer(408),
    cutOff,
    () => answer(503),
    () => answer(200, rejected),
    () => answer(200),
  ];
  const { client, exchanges, reports } = open([...answers, () => answer(401, '{}')]);
  client.track({ userId: 'ada', event: 'a' });
  client.track({ userId: 'ada', event: 'b' });
  await client.flush();
  client.track({ userId: 'ada', event: 'c' });
  assert.deepEqual(await client.close(), { unsent: 2, kept: 0 });
  assert.equal(exchanges.length, 7, 'after 408 the two calls have a request each');
  assert.deepEqual(
    reports.map(({ code, status }) => [code, status]),
    [
      ['rejected', 200],
      ['refused', 401],
    ],
  );
});

test('a request without an answer is aborted after timeoutMs, and when the client is closed', async () => {
  using time = simulateTime();
  const { client, exchanges, reports } = open([hang, () => answer(200)], { timeoutMs: 20 });
  client.track({ userId: 'ada', event: 'a' });
  await time.settled(client.flush());
  assert.equal(exchanges.length, 2);
  assert.deepEqual(reports, []);
  await time.settled(client.close());

  const second = open([hang]);
  second.client.track({ userId: 'ada', event: 'a' });
  assert.deepEqual(await time.settled(second.client.close({ deadlineMs: 20 })), { unsent: 1, kept: 0 });
});

test('an answer beyond the limit is not read to its end, and the batch is sent again in halves', async () => {
  let chunks = 0;
  const endless: Answer = () => {
    const chunk = new Uint8Array(1024 * 1024).fill(32);
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        chunks++;
        controller.enqueue(chunk);
      },
    });
    return new Response(body);
  };
  const { client, exchanges } = open([endless, () => answer(200)]);
  for (const event of ['a', 'b', 'c', 'd']) client.track({ userId: 'ada', event });
  assert.deepEqual(await client.close(), { unsent: 0, kept: 0 });
  assert.ok(chunks < 12, `${chunks} MB were read`);
  assert.deepEqual(
    exchanges.map((exchange) =>
      batchOf(exchange)
        .batch.map(({ event }) => event)
        .join(''),
    ),
    ['abcd', 'ab', 'cd'],
  );
});

test('message ids are UUIDs also in pages without crypto.randomUUID', async (t) => {
  Object.defineProperty(globalThis.crypto, 'randomUUID', { value: undefined, configurable: true });
  t.after(() => {
    delete (globalThis.crypto as { randomUUID?: unknown }).randomUUID;
  });
  const { client, exchanges } = open([() => answer(200)]);
  client.track({ userId: 'ada', event: 'a' });
  client.track({ userId: 'ada', event: 'b' });
  await client.close();
  const ids = exchanges.flatMap((exchange) => batchOf(exchange).batch.map(({ messageId }) => messageId));
  for (const id of ids)
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(new Set(ids).size, 2);
});

test('a given fetch that ignores its signal stops neither the retries nor close', async () => {
  using time = simulateTime();
  const { client, exchanges, reports } = open([ignore], { timeoutMs: 20 });
  client.track({ userId: 'ada', event: 'a' });
  assert.deepEqual(await time.settled(client.close({ deadlineMs: 300 })), { unsent: 1, kept: 0 });
  assert.ok(exchanges.length > 1);
  assert.deepEqual(
    reports.map(({ code }) => code),
    ['closed'],
  );
});
