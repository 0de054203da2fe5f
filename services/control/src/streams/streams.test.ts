/** What all streams of an instance share: places, the JSON of attempts, bytes, and turns of the event loop. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { after, before, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import { eventually } from '@tailrace/testing';
import type { History } from '@tailrace/history';
import type { Caller } from '../access/authenticate.ts';
import { amounts } from '../access/shared.ts';
import { adminToken, openApi, readToken, type Api } from '../testing/api.ts';
import { createFlow } from '../testing/flow.ts';
import { Streams, type StreamContent } from './streams.ts';

let control: Api;
let url: string;
before(async () => {
  control = await openApi();
  url = await control.listen();
});
after(() => control[Symbol.asyncDispose]());

const paths = ['/v1/attempts/stream', '/v1/stream?attempts=true'] as const;

/** Asks for a stream, and resolves with its status and its content once its headers have arrived. */
async function open(path: string, token: string): Promise<IncomingMessage> {
  const asked = get(`${url}${path}`, { headers: { authorization: `Bearer ${token}` }, agent: false });
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return answer;
}

test('a token has one limit for all its streams, and a stream that ends makes place', async () => {
  const body = { name: 'pages', scope: 'read' };
  const token = String((await control.expect(201, { method: 'POST', path: '/v1/tokens', body }))['token']);
  const streams = await Promise.all(
    Array.from({ length: 50 }, (_, nth) => open(paths[nth % 2] ?? '', token)),
  );
  const refused = await Promise.all(paths.map((path) => open(path, token)));
  assert.deepEqual(
    [...streams, ...refused].map(({ statusCode }) => statusCode),
    [...streams.map(() => 200), 429, 429],
  );
  streams.pop()?.destroy();
  streams.push(
    await eventually(
      () => open(paths[0], token),
      ({ statusCode }) => statusCode === 200,
    ),
  );
  for (const stream of [...streams, ...refused]) stream.destroy();
});

test('an attempt is serialised once for all streams that see the same', async ({ mock }) => {
  const streams = await Promise.all(
    [adminToken, adminToken, readToken, readToken].flatMap((token) => paths.map((path) => open(path, token))),
  );
  const { stringify } = JSON;
  const serialised: unknown[] = [];
  mock.method(JSON, 'stringify', (value: unknown, ...more: []) => {
    serialised.push((value as { deliveryId?: unknown } | null)?.deliveryId);
    return stringify(value, ...more);
  });
  const flow = createFlow(control.kafka);
  const made = flow.delivery('crm');
  await flow.attempt(made, 'delivered');
  for (const stream of streams) {
    let text = '';
    for await (const chunk of stream) if ((text += String(chunk)).includes(made.deliveryId)) break;
  }
  // By this test, which writes the attempt, and by control with and without the user.
  assert.equal(serialised.filter((id) => id === made.deliveryId).length, 3);
});

test('attempts are streamed that are recorded after the request, whatever the clock of delivery', async () => {
  const flow = createFlow(control.kafka);
  const [before, behind, ahead] = [flow.delivery('crm'), flow.delivery('crm'), flow.delivery('crm')];
  const hourMs = 3_600_000;
  const attempt = (made: typeof before, aheadMs: number): Promise<void> =>
    flow.attempt(made, 'delivered', { startedAt: new Date(Date.now() + aheadMs).toISOString() });
  await attempt(before, hourMs);
  const stream = await open(paths[0], adminToken);
  await attempt(behind, -hourMs);
  await attempt(ahead, hourMs);
  let text = '';
  for await (const chunk of stream) if ((text += String(chunk)).includes(ahead.deliveryId)) break;
  assert.deepEqual(
    [before, behind].map(({ deliveryId }) => text.includes(deliveryId)),
    [false, true],
  );
});

/** Streams without connections: whether a client reads decides the test. */
function openStreams() {
  const ending = new AbortController();
  const attempts = new EventEmitter();
  const onAttempt = (listener: Parameters<History['onAttempt']>[0]) => {
    attempts.on('read', listener);
    return () => true;
  };
  const streams = new Streams({ onAttempt }, ending.signal);
  return {
    read: (event: string) => attempts.emit('read', { event }, event.length),
    open(token: string): Readable {
      let bytes: Readable | undefined;
      const reply = { headers: () => reply, send: (sent: Readable) => (bytes = sent) };
      const caller = { tokenId: token, fingerprint: '', isValid: () => true } as unknown as Caller;
      const content: StreamContent = {
        headers: {},
        first: '',
        heartbeat: '',
        onAttempt: (attempt) => {
          send(attempt.lineFor('admin'));
        },
        missed: (missed) => `${JSON.stringify({ missed })}\n`,
      };
      const send = streams.open(caller, reply as never, content);
      return bytes ?? assert.fail();
    },
    [Symbol.dispose]: () => {
      ending.abort();
    },
  };
}

test('what waits for clients that do not read is bounded for all streams, and others miss nothing', async () => {
  using streams = openStreams();
  const slow = Array.from({ length: 100 }, (_, nth) => streams.open(`slow ${nth % 2}`));
  let received = 0;
  const other = streams.open('other').on('data', (chunk: Buffer) => {
    assert.ok(!chunk.includes('missed'));
    received += chunk.filter((byte) => byte === 0x0a).length;
  });
  const event = 'e'.repeat(8_000);
  for (let count = 1; count <= 1_000; count += 1) {
    streams.read(event);
    while (count % 10 === 0 && received < count) await nextTurn();
  }
  streams[Symbol.dispose]();
  let bytes = 0;
  for (const stream of slow) {
    const text = String(Buffer.concat((await stream.toArray()) as Buffer[]));
    bytes += text.length;
  }
  const inConnections = 2 * 16 * 1_024;
  assert.ok(bytes > 0 && bytes <= amounts.streamBytes.most + slow.length * inConnections, String(bytes));
  other.destroy();
});

test('a client that reads again gets the number of what it missed, and then the newest', async () => {
  using streams = openStreams();
  const client = streams.open('slow');
  const event = 'e'.repeat(60_000);
  for (let count = 0; count < 100; count += 1) {
    streams.read(`${count} ${event}`);
    await nextTurn();
  }
  let text = '';
  client.on('data', (chunk) => (text += String(chunk)));
  await eventually(() => text.includes('"99 '));
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { missed?: number });
  const missed = lines.reduce((sum, { missed = 0 }) => sum + missed, 0);
  const attempts = lines.filter((line) => line.missed === undefined);
  assert.ok(missed > 0);
  assert.equal(attempts.length + missed, 100);
});

test('other work has turns while an attempt is written to many streams', async () => {
  using streams = openStreams();
  const turns: number[] = [];
  let turn = 0;
  const clients = Array.from({ length: 200 }, (_, nth) => streams.open(`token ${nth % 4}`));
  for (const client of clients) client.on('data', () => turns.push(turn));
  await nextTurn();
  streams.read('Order Completed');
  for (; turns.length < clients.length; turn += 1) await nextTurn();
  const ofEach = [...Map.groupBy(turns, (turn) => turn).values()].map(({ length }) => length);
  assert.ok(
    ofEach.every((length) => length <= 20),
    String(ofEach),
  );
});
