/** The client library under failures: retries, queue limits, reports and close. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  Analytics,
  type AnalyticsError,
  type HttpOptions,
  type KafkaMessage,
  type KafkaOptions,
} from '../../packages/analytics-node/src/index.ts';
import {
  hugeBody,
  never,
  reset,
  status,
  tooManyRequests,
  type Answer,
} from '../support/receivers/answers.ts';
import { eventually } from '@tailrace/testing';
import { closedPort, startReceiver, type ReceivedRequest } from '../support/receivers/receiver.ts';

const writeKey = 'wk_test';
const run = promisify(execFile);

interface SentCall {
  readonly messageId: string;
  readonly event: string;
  readonly properties?: { readonly n: number };
}

const callsOf = (request: ReceivedRequest): readonly SentCall[] =>
  (request.json() as { readonly batch: readonly SentCall[] }).batch;

test('100,000 calls of 100 tasks reach a server that fails every second request, each at least once and in order', async (t) => {
  const failures: readonly Answer[] = [status(503), reset, status(500), tooManyRequests('0')];
  const isFailed = (nth: number): boolean => nth % 2 === 1;
  await using server = await startReceiver({
    answer: (_, nth) => (isFailed(nth) ? (failures[Math.floor(nth / 2) % 4] ?? reset) : status(200)),
  });
  const reported: AnalyticsError[] = [];
  const client = open(t, { endpoint: server.url, onError: (error) => reported.push(error) });
  const tasks = Array.from({ length: 100 }, async (_, task) => {
    for (let n = 0; n < 1_000; n++) {
      await client.ready();
      assert.equal(client.track({ userId: `u-${task}`, event: `task ${task}`, properties: { n } }), true);
      if (n % 50 === 0) await nextTurn();
    }
  });
  await Promise.all(tasks);
  const { unsent } = await client.close({ deadlineMs: 300_000 });
  assert.deepEqual([unsent, reported], [0, []]);

  // The calls of each task that got a 200, in the order of arrival.
  const arrived = new Map<string, number[]>();
  for (const request of server.requests.filter(({ nth }) => !isFailed(nth))) {
    for (const { event, properties } of callsOf(request)) {
      const numbers = arrived.get(event) ?? [];
      numbers.push(properties?.n ?? NaN);
      arrived.set(event, numbers);
    }
  }
  const all = Array.from({ length: 1_000 }, (_, n) => n);
  assert.equal(arrived.size, 100);
  for (const numbers of arrived.values()) assert.deepEqual(numbers, all);
});

test('15.6 while the server is unavailable the queue stays bounded, and every unsent call is reported', async (t) => {
  const reported: AnalyticsError[] = [];
  const client = open(t, {
    endpoint: `http://127.0.0.1:${await closedPort()}`,
    maxQueueSize: 100,
    onError: (error) => reported.push(error),
  });
  const taken = Array.from({ length: 250 }, (_, n) => client.track({ userId: 'ada', event: `e${n}` }));
  assert.equal(taken.indexOf(false), 100);
  assert.equal(taken.filter(Boolean).length, 100);
  const full = reported.splice(0);
  assert.deepEqual(new Set(full.map(({ code }) => code)), new Set(['queue-full']));
  assert.equal(full.length, 150);

  const flushed = client.flush();
  assert.deepEqual(await client.close({ deadlineMs: 50 }), { unsent: 250, kept: 0 });
  await flushed;
  const events = [...reported, ...full].flatMap(({ calls }) =>
    calls.map((call) => (JSON.parse(call) as SentCall).event),
  );
  assert.deepEqual(
    events,
    Array.from({ length: 250 }, (_, n) => `e${n}`),
  );
  assert.deepEqual(
    reported.map(({ code }) => code),
    ['closed'],
  );
});

test('a queue is also bounded in bytes', async (t) => {
  await using server = await startReceiver();
  const client = open(t, { endpoint: server.url, maxQueueBytes: 40_000, onError: () => undefined });
  const call = { userId: 'ada', event: 'E', properties: { text: 'x'.repeat(15_000) } };
  assert.deepEqual([client.track(call), client.track(call), client.track(call)], [true, true, false]);
  await client.ready();
  assert.equal(client.track(call), true, 'the queue has capacity for the largest call again');
  await client.close();
  assert.equal(server.requests.flatMap(callsOf).length, 3);
});

test('later changes to the objects of a call have no effect', async (t) => {
  await using server = await startReceiver();
  const client = open(t, { endpoint: server.url });
  const properties = { n: 1 };
  const message = { userId: 'ada', event: 'before', properties };
  client.track(Object.freeze(message));
  properties.n = 2;
  await client.close();
  const [call] = server.requests.flatMap(callsOf);
  assert.deepEqual([call?.event, call?.properties], ['before', { n: 1 }]);
});

test('batches are sent one after another on one connection', async (t) => {
  await using server = await startReceiver();
  const client = open(t, { endpoint: server.url, flushAt: 1 });
  for (let n = 0; n < 50; n++) client.track({ userId: 'ada', event: `e${n}` });
  await client.flush();
  client.track({ userId: 'ada', event: 'last' });
  await client.close();
  assert.equal(server.requests.length, 51);
  assert.equal(server.connections.items.length, 1);
});

test('an onError that throws does not stop the client', async (t) => {
  await using server = await startReceiver({ answer: (_, nth) => status(nth === 1 ? 400 : 200) });
  const client = open(t, {
    endpoint: server.url,
    flushAt: 1,
    onError: () => {
      throw new Error('a defect of the caller');
    },
  });
  client.track({ userId: 'ada', event: 'refused' });
  client.track({ userId: 'ada', event: 'sent' });
  assert.deepEqual(await client.close(), { unsent: 1, kept: 0 });
  assert.equal(server.requests.length, 2);
});

test('each of 2,500 rejected calls in an answer of a megabyte is reported', async (t) => {
  const rejected = Array.from({ length: 2_499 }, (_, index) => ({ index, message: 'm'.repeat(400) }));
  const body = JSON.stringify({ success: true, rejected });
  await using server = await startReceiver({ answer: () => status(200, {}, body) });
  const reported: AnalyticsError[] = [];
  const client = open(t, { endpoint: server.url, flushAt: 5_000, onError: (error) => reported.push(error) });
  for (let n = 0; n < 2_500; n++) client.track({ userId: 'ada', event: `e${n}` });
  assert.deepEqual(await client.close(), { unsent: 2_499, kept: 0 });
  assert.deepEqual(
    reported.map(({ code, calls: [call] }) => [code, (JSON.parse(call ?? '') as SentCall).event]),
    rejected.map(({ index }) => ['rejected', `e${index}`]),
  );
});

test('an answer of ten megabytes is not read to its end, and the batch is sent again in halves', async (t) => {
  await using server = await startReceiver({
    answer: (_, nth) => (nth === 1 ? hugeBody(200, 10 * 2 ** 20) : status(200)),
  });
  const client = open(t, { endpoint: server.url });
  for (const event of ['a', 'b', 'c']) client.track({ userId: 'ada', event });
  assert.deepEqual(await client.close(), { unsent: 0, kept: 0 });
  assert.deepEqual(
    server.requests.map((request) => callsOf(request).map(({ event }) => event)),
    [['a', 'b', 'c'], ['a'], ['b', 'c']],
  );
});

test('a link that passes 100 KB within the timeout gets batches that fit, and everything arrives', async (t) => {
  const arrived = new Set<string>();
  await using server = await startReceiver({
    answer: (request) => {
      if (request.body.length > 100_000) return never;
      for (const { messageId } of callsOf(request)) arrived.add(messageId);
      return status(200);
    },
  });
  const client = open(t, { endpoint: server.url, timeoutMs: 250, flushAt: 1_000 });
  for (let n = 0; n < 100; n++) {
    client.track({
      userId: 'ada',
      event: 'E',
      messageId: `m-${n}`,
      properties: { text: 'x'.repeat(10_000) },
    });
  }
  await eventually(() => arrived.size === 100);
  assert.deepEqual(await client.close(), { unsent: 0, kept: 0 });
});

test('an answer of 101, which ends HTTP on its connection, is reported', async (t) => {
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n');
    });
  });
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const reported: AnalyticsError[] = [];
  const client = open(t, {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    onError: (error) => reported.push(error),
  });
  client.track({ userId: 'ada', event: 'E' });
  assert.deepEqual(await client.close(), { unsent: 1, kept: 0 });
  assert.deepEqual(
    reported.map(({ code, status }) => [code, status]),
    [['refused', 101]],
  );
});

test('a program without close ends when its calls are sent', async () => {
  await using server = await startReceiver();
  const { stderr } = await run(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, DEBUG: 'other, analytics', ENDPOINT: server.url },
    cwd: import.meta.dirname,
  });
  assert.equal(server.requests.flatMap(callsOf).length, 1);
  assert.match(stderr, /^\S+ analytics sent 1 calls$/m, 'DEBUG=analytics logs');
});

const program = `
import { Analytics } from '${path.join(import.meta.dirname, '../../packages/analytics-node/src/index.ts')}';
const client = new Analytics({ writeKey: 'wk', endpoint: process.env.ENDPOINT, flushAfterMs: 10 });
client.track({ userId: 'ada', event: 'E' });
`;

/** Opens a client that is closed at the end of the test. */
function open(t: TestContext, options: Unkeyed<HttpOptions> | Unkeyed<KafkaOptions>): Analytics {
  const client = new Analytics({ writeKey, ...options });
  t.after(() => client.close({ deadlineMs: 0 }));
  return client;
}

type Unkeyed<Options> = Omit<Options, 'writeKey'>;

/** A producer with the given result for each send. The last result repeats. */
function producerOf(results: readonly (Error | undefined)[]) {
  const sent: KafkaMessage[][] = [];
  let turn = 0;
  return {
    sent,
    send: ({ messages }: { messages: KafkaMessage[] }): Promise<unknown> => {
      sent.push(messages);
      const failure = results[Math.min(turn++, results.length - 1)];
      return failure ? Promise.reject(failure) : Promise.resolve();
    },
  };
}

const kafkaError = (name: string, retriable: boolean): Error =>
  Object.assign(new Error(`it says ${name}`), { name, retriable });

test('retryable errors of Kafka are retried, and permanent ones are reported', async (t) => {
  const passing = [
    new Error('some other client'),
    kafkaError('KafkaJSConnectionError', true),
    kafkaError('KafkaJSNumberOfRetriesExceeded', false),
  ];
  const producer = producerOf([...passing, undefined, kafkaError('KafkaJSNonRetriableError', false)]);
  const reported: AnalyticsError[] = [];
  const client = open(t, { kafka: { producer }, onError: (error) => reported.push(error) });
  client.track({ userId: 'ada', event: 'kept', messageId: 'm-1' });
  await client.flush();
  client.track({ userId: 'ada', event: 'refused', messageId: 'm-2' });
  await client.close();
  assert.deepEqual(
    producer.sent.map(([record]) => (JSON.parse(record?.value ?? '') as SentCall).messageId),
    ['m-1', 'm-1', 'm-1', 'm-1', 'm-2'],
  );
  assert.deepEqual(
    reported.map(({ code }) => code),
    ['refused'],
  );
  assert.match(reported[0]?.calls[0] ?? '', /"messageId":"m-2"/);
});

test('a producer that never responds does not delay close beyond its deadline', async (t) => {
  const reported: AnalyticsError[] = [];
  const producer = { send: () => new Promise(() => undefined) };
  const client = open(t, { kafka: { producer }, onError: (error) => reported.push(error) });
  client.track({ userId: 'ada', event: 'E' });
  assert.deepEqual(await client.close({ deadlineMs: 20 }), { unsent: 1, kept: 0 });
  assert.deepEqual(
    await client.close(),
    { unsent: 1, kept: 0 },
    'a second close returns the result of the first',
  );
  assert.deepEqual(
    reported.map(({ code }) => code),
    ['closed'],
  );
  assert.throws(() => client.track({ userId: 'ada', event: 'late' }), { code: 'closed' });
});

test('invalid options are refused, and the error names the option', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const wrong: readonly (readonly [field: string, options: object])[] = [
    ['writeKey', { writeKey: '' }],
    ['endpoint', { endpoint: 'events.example.com' }],
    ['endpoint', { endpoint: 'ftp://events.example.com' }],
    ['flushAt', { flushAt: 0 }],
    ['flushAfterMs', { flushAfterMs: Infinity }],
    ['maxQueueSize', { maxQueueSize: 1.5 }],
    ['maxQueueBytes', { maxQueueBytes: 1_000 }],
    ['maxAttempts', { maxAttempts: -1 }],
    ['timeoutMs', { timeoutMs: '5s' }],
    ['maxAgeMs', { maxAgeMs: 0 }],
    ['middleware', { middleware: [7] }],
    ['gzip', { gzip: 'yes' }],
    ['context', { context: cyclic }],
    ['context', { context: { count: 1n } }],
    ['context', { context: { text: 'x'.repeat(33_000) } }],
    ['proxy', { proxy: 'proxy:3128' }],
    ['tls', { tls: { ca: 'pem' } }],
    ['agent', { agent: {}, proxy: 'http://127.0.0.1:1' }],
  ];
  for (const [field, options] of wrong) {
    assert.throws(() => new Analytics({ writeKey, endpoint: 'http://127.0.0.1', ...options }), {
      code: 'invalid-options',
      field,
    });
  }
});
