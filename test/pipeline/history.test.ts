/** The history through the API, with all services on one in-memory Kafka cluster. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { formatInstant } from '@tailrace/events';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { eventually as until } from '@tailrace/testing';
import type { UsageRecord } from '@tailrace/records';
import { closedGate, status } from '../support/receivers/answers.ts';
import { readToken, startControlHere, type ControlApi } from '../support/processes/control.ts';
import { startPipeline, type Pipeline } from '../support/processes/pipeline.ts';
import { startReceiver, type Receiver } from '../support/receivers/receiver.ts';

type Json = Readonly<Record<string, unknown>>;

const cluster = new MemoryCluster();
let pipeline: Pipeline;
let control: ControlApi;
let receiver: Receiver;
let prefix: string;
const opened = new AsyncDisposableStack();

before(async () => {
  pipeline = opened.use(
    await startPipeline({ cluster, retrySchedule: '50ms,50ms', retryWindow: '10m', deliveryTimeout: '2m' }),
  );
  prefix = pipeline.names.deliveries.slice(0, -'deliveries'.length);
  control = opened.use(await startControlHere(cluster, prefix));
  receiver = opened.use(await startReceiver());
});
after(() => opened.disposeAsync());

/** Repeats the request until the answer is as expected: the history lags a moment, and refuses queries until it is open. */
async function eventually(path: string, holds: (json: Json) => boolean, of = control): Promise<Json> {
  const { json } = await until(
    () => of.ask({ path }),
    ({ status, json }) => status === 200 && holds(json),
  );
  return json;
}

const itemsOf = (json: Json): readonly Json[] => json['items'] as Json[];
const count = (number: number) => (json: Json) => itemsOf(json).length === number;

describe('a delivery', () => {
  test('is found by each of its filters, and has its attempts, its body, and its event', async () => {
    const { send, destinationId, sourceId } = await pipeline.connect({
      webhooks: [{ url: `${receiver.url}/hook?secret=1` }],
    });
    const call = {
      userId: 'u 1/ä',
      event: 'Käse Gekauft',
      messageId: `m-${sourceId}`,
      properties: { price: 5 },
    };
    await send('track', call);
    const filters = new URLSearchParams({
      destination: destinationId,
      source: sourceId,
      type: 'track',
      event: call.event,
      userId: call.userId,
      status: 'delivered',
      since: '1h',
    });
    const [listed] = itemsOf(await eventually(`/v1/deliveries?${filters.toString()}`, count(1)));
    assert.equal(listed?.['userKey'], call.userId);
    assert.equal(listed['event'], call.event);

    const path = `/v1/deliveries/${String(listed['deliveryId'])}`;
    const { history, resends, ...delivery } = await control.expect(200, { path });
    assert.deepEqual(delivery, listed);
    assert.deepEqual(resends, []);
    const [attempt] = history as Json[];
    assert.equal(attempt?.['outcome'], 'delivered');
    assert.deepEqual((attempt['urls'] as Json[])[0]?.['url'], `${receiver.url}/hook`);

    const whole = await control.expect(200, { path: `${path}/body` });
    assert.equal(whole['text'], receiver.requests.at(-1)?.body.toString());
    const masked = await control.expect(200, { path: `${path}/body`, token: readToken });
    assert.equal(masked['text'], undefined);
    const { type, userId, properties } = masked['body'] as Json;
    assert.deepEqual([type, userId, properties], ['track', '***', { price: '***' }]);

    const why = await control.expect(200, { path: `/v1/events/${call.messageId}` });
    assert.equal(why['outcome'], 'routed');
    assert.deepEqual((why['deliveries'] as Json[])[0], { ...listed, resends: [] });
  });

  test('that fails has each attempt with its reason, and counts among the failures and in the statistics', async () => {
    const gate = closedGate();
    const failed = status(500, { 'x-request-id': 'r-1' }, '{"error":"overloaded"}');
    await using broken = await startReceiver({
      answer: (_request, nth) => (nth === 1 ? failed : gate.answer(failed)),
    });
    const { send, destinationId } = await pipeline.connect({ webhooks: [{ url: broken.url }] });
    const messageId = `m-${destinationId}`;
    await send('page', { userId: 'u-2', messageId });
    const list = `/v1/deliveries?destination=${destinationId}`;
    const [retrying] = itemsOf(await eventually(`${list}&status=retrying`, count(1)));
    assert.equal(retrying?.['reason'], 'server-error');
    assert.match(String(retrying['nextDueAt']), /Z$/);
    gate.open();
    const [dead] = itemsOf(await eventually(`${list}&status=dead`, count(1)));
    // The dead letter may be read before the last attempt.
    const { history } = await eventually(`/v1/deliveries/${String(dead?.['deliveryId'])}`, ({ history }) =>
      (history as Json[]).some(({ outcome }) => outcome === 'dead'),
    );
    const attempts = (history as Json[]).length;
    assert.ok(attempts > 1);
    const exchange = {
      address: `127.0.0.1:${broken.port}`,
      requestHeaders: { 'Content-Type': 'application/json', 'User-Agent': 'Tailrace/1.0' },
      responseHeaders: { 'x-request-id': 'r-1' },
      responseBody: '{"error":"overloaded"}',
    };
    assert.partialDeepStrictEqual(
      history,
      Array.from({ length: attempts }, () => ({ urls: [{ status: 500, exchange }] })),
    );
    const why = await control.expect(200, { path: `/v1/events/${messageId}` });
    assert.partialDeepStrictEqual(why['deliveries'], [{ lastAttempt: { urls: [{ exchange }] } }]);
    const letters = await eventually(`/v1/dead-letters/${String(dead?.['deliveryId'])}`, count(1));
    assert.partialDeepStrictEqual(itemsOf(letters), [{ lastAnswer: [{ status: 500, exchange }] }]);
    const stats = await control.expect(200, {
      path: `/v1/destinations/${destinationId}/stats?since=1h&step=1h`,
    });
    const { retry, dead: died, latencyMs } = stats['total'] as Record<string, number> & { latencyMs: Json };
    assert.deepEqual([Number(retry) + Number(died), typeof latencyMs['p99']], [attempts, 'number']);
    const failures = itemsOf(
      await control.expect(200, { path: `/v1/destinations/${destinationId}/failures` }),
    );
    const [failure] = failures.filter(({ reason }) => reason === 'server-error');
    assert.ok(failure && Number(failure['count']) >= 1);
    assert.ok((failure['samples'] as Json[]).length >= 1);
  });

  test('is not found if it is unknown', async () => {
    await control.expect(404, { path: '/v1/deliveries/none' });
    await control.expect(404, { path: '/v1/deliveries/none/body' });
    await control.expect(404, { path: '/v1/destinations/none/stats' });
    await control.expect(404, { path: '/v1/sources/none/usage' });
  });
});

describe('an event without deliveries', () => {
  /** On a busy machine the search for the event may end before it has read everything. */
  const undecided: readonly unknown[] = ['not-routed', 'not-searched'];
  const explained = (id: string) =>
    eventually(`/v1/events/${id}`, ({ outcome }) => !undecided.includes(outcome));

  test('5.3 was blocked by its source', async () => {
    const schema = { track: { blocked: ['Debug Event'] } };
    const { send, sourceId } = await pipeline.connect({ webhooks: [{ url: receiver.url }] }, { schema });
    await send('track', { userId: 'u', event: 'Debug Event', messageId: `blocked-${sourceId}` });
    const why = await explained(`blocked-${sourceId}`);
    assert.deepEqual([why['outcome'], why['deliveries']], ['filtered', []]);
    assert.match(String(why['explanation']), /the source \S+ blocked the event/);
    assert.deepEqual((why['decisions'] as Json[])[0]?.['sourceId'], sourceId);

    const path = `/v1/sources/${sourceId}/events`;
    const [usage] = itemsOf(await eventually(path, (json) => itemsOf(json)[0]?.['count'] === 1));
    const { event, filtered, blocked } = usage ?? {};
    assert.deepEqual([event, filtered, blocked], ['Debug Event', 1, true]);
  });

  test('5.7 was sent while its destination was disabled, and says so after it was enabled', async () => {
    const webhooks = [{ url: receiver.url }];
    const { send, sourceId, destinationId } = await pipeline.connect({ webhooks, enabled: false });
    await send('page', { userId: 'u', messageId: `while-off-${sourceId}` });
    await explained(`while-off-${sourceId}`);
    const path = `/v1/destinations/${destinationId}`;
    await control.expect(200, { method: 'PATCH', path, body: { enabled: true } });
    const { outcome, explanation } = await explained(`while-off-${sourceId}`);
    assert.equal(outcome, 'filtered');
    const expected = `the router filtered it for ${destinationId}: the destination was disabled.`;
    assert.ok(String(explanation).endsWith(expected), String(explanation));
  });

  test('has no destination, or was excluded, or rejected, or is unknown', async () => {
    const { send, sourceId } = await pipeline.connect({ webhooks: [{ url: receiver.url }], enabled: false });
    await send('page', { userId: 'u', messageId: `nowhere-${sourceId}` });
    assert.equal((await explained(`nowhere-${sourceId}`))['outcome'], 'filtered');

    const on = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
    await on.send('page', { userId: 'u', messageId: `off-${on.sourceId}`, integrations: { All: false } });
    assert.equal((await explained(`off-${on.sourceId}`))['outcome'], 'filtered');

    const publisher = pipeline.kafka.publisher();
    const call = { type: 'track', userId: 'u', messageId: `bad-${on.sourceId}` };
    const headers = { 'source-id': on.sourceId };
    await publisher.publish({ topic: pipeline.names.events, key: 'u', value: JSON.stringify(call), headers });
    const rejected = await eventually(
      `/v1/events/${call.messageId}`,
      ({ outcome }) => outcome === 'rejected',
    );
    assert.match(String(rejected['explanation']), /event is required/);
    assert.equal((await explained('never-seen'))['outcome'], 'unknown');
  });
});

test('attempts are streamed live to clients with a matching filter', async () => {
  const { send, destinationId } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  const abort = new AbortController();
  const response = await fetch(`${control.url}/v1/attempts/stream?destination=${destinationId}`, {
    headers: { authorization: `Bearer ${readToken}` },
    signal: abort.signal,
  });
  assert.match(response.headers.get('content-type') ?? '', /ndjson/);
  assert.ok(response.body);
  await send('track', { userId: 'u-5', event: 'Tailed' });
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.trim().endsWith('}')) break;
  }
  const attempt = JSON.parse(text) as Json;
  assert.deepEqual(
    [attempt['event'], attempt['userKey'], attempt['outcome']],
    ['Tailed', '***', 'delivered'],
  );
  abort.abort();
});

test('the usage of each source counts each call once', async () => {
  const schema = { track: { blocked: ['Blocked'] } };
  const { post, sourceId } = await pipeline.connect({ webhooks: [{ url: receiver.url }] }, { schema });
  const calls = Array.from({ length: 30 }, (_, n) => ({
    type: n % 3 === 0 ? 'page' : 'track',
    userId: `u-${n}`,
    messageId: `${sourceId}-${n % 27}`,
    event: n % 2 === 0 ? 'Blocked' : 'Passed',
  }));
  // The last three are duplicates, of the same users.
  const sent = calls.map((call, n) => ({
    ...calls[n % 27],
    userId: call.userId === '' ? '' : `u-${n % 27}`,
  }));
  await post('batch', { batch: sent });
  const path = `/v1/sources/${sourceId}/usage`;
  const total = (json: Json): number => itemsOf(json).reduce((sum, { calls }) => sum + Number(calls), 0);
  const usage = await eventually(path, (json) => total(json) >= 27);
  const [day] = itemsOf(usage);
  assert.deepEqual(day, {
    day: formatInstant(Date.now()).slice(0, 10),
    calls: 27,
    filtered: 9,
    byType: { page: 9, track: 18 },
  });
  const events = itemsOf(await control.expect(200, { path: `/v1/sources/${sourceId}/events` }));
  assert.deepEqual(
    events.map(({ event, count, filtered, blocked }) => [event, count, filtered, blocked]),
    [
      ['Blocked', 9, 9, true],
      ['Passed', 9, 0, false],
    ],
  );
  const records = cluster
    .records(pipeline.names.usage)
    .map(({ value }) => JSON.parse(String(value)) as UsageRecord);
  assert.ok(records.some((record) => record.sourceId === sourceId));
});

test('a new instance gives the same answers as one that was running all the time', async () => {
  const { send, destinationId } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  await Promise.all(
    Array.from({ length: 40 }, (_, n) => send('track', { userId: `u-${n}`, event: `Event ${n % 4}` })),
  );
  const settled = (json: Json): boolean =>
    itemsOf(json).length === 40 && itemsOf(json).every(({ status }) => status === 'delivered');
  await eventually(`/v1/deliveries?destination=${destinationId}&limit=200`, settled);
  await using other = await startControlHere(cluster, prefix);
  const paths = [
    '/v1/deliveries?limit=200',
    ...['delivered', 'dead', 'retrying', 'waiting'].map((status) => `/v1/deliveries?status=${status}`),
    `/v1/destinations/${destinationId}/failures?since=1d`,
    ...['Event 1', 'Passed'].map((event) => `/v1/deliveries?event=${encodeURIComponent(event)}`),
  ];
  for (const path of paths) {
    const expected = await control.expect(200, { path });
    const found = await eventually(path, (json) => JSON.stringify(json) === JSON.stringify(expected), other);
    for (const { deliveryId } of itemsOf(found).slice(0, 5)) {
      if (typeof deliveryId !== 'string') continue;
      const one = { path: `/v1/deliveries/${deliveryId}` };
      assert.deepEqual(await other.expect(200, one), await control.expect(200, one));
    }
  }
  const stats = `/v1/destinations/${destinationId}/stats?since=${formatInstant(Date.now() - 3_600_000)}`;
  assert.deepEqual(
    (await other.expect(200, { path: stats }))['total'],
    (await control.expect(200, { path: stats }))['total'],
  );
});
