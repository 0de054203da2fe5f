/** Overload: slow, endless, too many and too fast senders are bounded, and other clients are served. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from '@tailrace/testing';
import {
  assertAccepted,
  assertRefused,
  call,
  connectRaw,
  openMany,
  outcomeOf,
  sendTo,
  type RawConnection,
} from './testing/client.ts';
import { openStage, type RunningIngest, type Stage } from './testing/stage.ts';

const basic = (key: string): string => `Basic ${btoa(`${key}:`)}`;
const headOf = (path: string): string => `POST ${path} HTTP/1.1\r\nauthorization: ${basic('wk_web')}\r\n`;
const head = headOf('/v1/track');

/** Writes `bytes` until the other side closes; resolves with what it answered, and how much it took. */
async function pour(
  connection: RawConnection,
  bytes: string,
): Promise<{ readonly answer: string; readonly written: number }> {
  let written = 0;
  while (!connection.closed) {
    connection.write(bytes);
    written += bytes.length;
    await new Promise(setImmediate);
  }
  return { answer: await connection.received, written };
}

/** Writes `bytes` again and again, with pauses, until the other side closes. */
async function trickle(connection: RawConnection, bytes: string): Promise<string> {
  await eventually(() => {
    connection.write(bytes);
    return connection.closed;
  });
  return connection.received;
}

async function heldBytes(ingest: RunningIngest): Promise<number> {
  return Number(/^tailrace_ingest_held_bytes (\S+)$/m.exec(await ingest.metrics())?.[1]);
}

async function heldNothing(ingest: RunningIngest): Promise<void> {
  await eventually(
    () => heldBytes(ingest),
    (bytes) => bytes === 0,
  );
}

async function assertServing(ingest: RunningIngest): Promise<void> {
  assertAccepted(await sendTo({ url: ingest.url, path: '/v1/track', body: call() }));
}

describe('ingest under load', () => {
  let ingest: Stage;
  before(async () => {
    ingest = await openStage();
  });
  after(() => ingest[Symbol.asyncDispose]());

  test('requests with slow headers or a slow body time out, and others are served meanwhile', async () => {
    await using limited = await ingest.start({ TAILRACE_INGEST_REQUEST_TIMEOUT: '200ms' });
    await using slowHeaders = await connectRaw(limited.url);
    await using slowBody = await connectRaw(limited.url);
    await using silentBody = await connectRaw(limited.url);
    slowHeaders.write(head);
    slowBody.write(`${head}transfer-encoding: chunked\r\n\r\n`);
    silentBody.write(`${head}content-length: 100\r\n\r\n{`);
    const poured = Promise.all([
      trickle(slowHeaders, 'x-more: 1\r\n'),
      trickle(slowBody, '1\r\n \r\n'),
      silentBody.received,
    ]);
    // Its own time may be over on a busy machine.
    await eventually(
      () => sendTo({ url: limited.url, path: '/v1/track', body: call() }),
      ({ status }) => status === 200,
    );
    for (const answer of await poured) assert.deepEqual(outcomeOf(answer), [408, 'request-timeout']);
  });

  test('an endless body is refused soon after its limit', async () => {
    const chunk = 'x'.repeat(16 * 1024);
    for (const [path, code, limit] of [
      ['/v1/track', 'call-too-large', 32 * 1024],
      ['/v1/batch', 'batch-too-large', 500 * 1024],
      ['/v1/m', 'batch-too-large', 500 * 1024],
    ] as const) {
      await using connection = await connectRaw(ingest.url);
      connection.write(`${headOf(path)}transfer-encoding: chunked\r\n\r\n`);
      const { answer, written } = await pour(connection, `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
      // A sender that continues to write may get a reset before it reads the response.
      if (answer !== '') assert.deepEqual(outcomeOf(answer), [413, code]);
      // Beyond a mebibyte that is forgotten lies only what the sockets' buffers hold.
      assert.ok(written < limit + 16 * 2 ** 20, `${path} took ${written} bytes`);
    }
    await using declared = await connectRaw(ingest.url);
    declared.write(`${head}content-length: 1000000000\r\n\r\n`);
    assert.deepEqual(outcomeOf(await declared.received), [413, 'call-too-large']);
    const metrics = await ingest.metrics();
    for (const code of ['call-too-large', 'batch-too-large']) {
      assert.match(metrics, new RegExp(`^tailrace_ingest_refused_requests_total{code="${code}"} 2$`, 'm'));
    }
  });

  test('a body slightly above the limit is read to its end, so that its sender sees the error', async () => {
    const body = { batch: [call({ properties: { padding: 'x'.repeat(800 * 1024) } })] };
    for (let repetition = 0; repetition < 10; repetition++) {
      const answer = await sendTo({ url: ingest.url, path: '/v1/batch', body });
      assert.deepEqual([answer.status, answer.json['code']], [413, 'batch-too-large']);
      assert.notEqual(answer.headers['connection'], 'close');
    }
  });

  test('headers beyond 16 KB and malformed HTTP are refused', async () => {
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
    await using limited = await ingest.start({ TAILRACE_INGEST_BUFFER: '190KB' });
    const body = JSON.stringify(call({ properties: { padding: 'x'.repeat(30 * 1024) } }));
    const whole = `${head}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;
    const opened = new AsyncDisposableStack();
    const waiting: RawConnection[] = [];
    for (let count = 0; count < 3; count++) {
      const connection = opened.use(await connectRaw(limited.url));
      connection.write(whole.slice(0, -1));
      waiting.push(connection);
    }
    // Only once all three have arrived is a fourth too many.
    const refused = await eventually(
      () => sendTo({ url: limited.url, path: '/v1/track', bytes: body }),
      ({ status }) => status === 503,
    );
    assert.equal(refused.json['code'], 'overloaded');
    assert.equal(refused.headers['retry-after'], '1');
    assertAccepted(await sendTo({ url: limited.url, path: '/v1/track', body: call() }));
    for (const connection of waiting) {
      connection.write('}');
      assert.match(await connection.received, /^HTTP\/1\.1 200 OK\r\n/);
    }
    assertAccepted(await sendTo({ url: limited.url, path: '/v1/track', bytes: body }));
    await opened.disposeAsync();
  });

  test('connections beyond the limit are closed, and existing ones continue', async () => {
    await using limited = await ingest.start({ TAILRACE_INGEST_MAX_CONNECTIONS: '3' });
    const opened = new AsyncDisposableStack();
    const first = opened.use(await connectRaw(limited.url));
    for (let count = 0; count < 2; count++) opened.use(await connectRaw(limited.url));
    const fourth = opened.use(await connectRaw(limited.url));
    assert.equal(await fourth.received, '');
    const body = JSON.stringify(call());
    first.write(`${head}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
    assert.match(await first.received, /^HTTP\/1\.1 200 OK\r\n/);
    await opened.disposeAsync();
  });
  test('a wrong key of Basic auth is refused before the body is received', async () => {
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
    sending.write(
      `${refused}${headOf('/v1/batch')}connection: close\r\ncontent-length: ${good.length}\r\n\r\n${good}`,
    );
    const statuses = (await sending.received).match(/HTTP\/1\.1 \d{3}/g);
    assert.deepEqual(statuses, ['HTTP/1.1 401', 'HTTP/1.1 200']);
  });

  test('a body in chunks of one byte takes no more memory than its bytes', async () => {
    const connections = await openMany(ingest.url, 5);
    for (const connection of connections) {
      connection.write(
        `${headOf('/v1/batch')}transfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(100_000)}`,
      );
    }
    const held = await eventually(
      () => heldBytes(ingest),
      (bytes) => bytes >= 5 * 100_000,
    );
    assert.ok(held <= 5 * (4 * 100_000 + 10_000), `${held} bytes are held`);
    await Promise.all(connections.map((connection) => connection[Symbol.asyncDispose]()));
    await heldNothing(ingest);
    await assertServing(ingest);
  });

  test('more headers than a hundred are refused', async () => {
    const headers = (count: number): Record<string, string> =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, '1']));
    assertAccepted(await sendTo({ url: ingest.url, path: '/v1/track', body: call(), headers: headers(90) }));
    const refused = await sendTo({ url: ingest.url, path: '/v1/track', body: call(), headers: headers(101) });
    assertRefused(refused, 400, 'malformed-request');
  });

  test('disconnects during a body free all memory of the request', async () => {
    await using limited = await ingest.start({ TAILRACE_INGEST_BUFFER: '2MB' });
    const connections = await openMany(limited.url, 300);
    for (const connection of connections)
      connection.write(`${headOf('/v1/batch')}content-length: 100000\r\n\r\n{"batch":[`);
    await eventually(
      () => heldBytes(limited),
      (bytes) => bytes > 1_000_000,
    );
    const refused = await sendTo({ url: limited.url, path: '/v1/track', body: call() });
    assertRefused(refused, 503, 'overloaded');
    assert.equal(refused.headers['retry-after'], '1');
    await Promise.all(connections.map((connection) => connection[Symbol.asyncDispose]()));
    await heldNothing(limited);
    await assertServing(limited);
  });

  test('a source that fills its share of the memory leaves memory for other sources', async () => {
    await using limited = await ingest.start({ TAILRACE_INGEST_BUFFER: '2MB' });
    const connections = await openMany(limited.url, 300);
    for (const connection of connections)
      connection.write(`${headOf('/v1/batch')}content-length: 100000\r\n\r\n{"batch":[`);
    await eventually(
      () => sendTo({ url: limited.url, path: '/v1/track', body: call() }),
      ({ status }) => status === 503,
    );
    assertAccepted(await sendTo({ url: limited.url, path: '/v1/track', body: call(), key: 'wk_other' }));
    await Promise.all(connections.map((connection) => connection[Symbol.asyncDispose]()));
  });

  test('a request that could never get enough memory is refused with a permanent error', async () => {
    await using limited = await ingest.start({ TAILRACE_INGEST_BUFFER: '64KB' });
    const body = {
      batch: [call({ properties: { padding: 'x'.repeat(20_000) } }), call({ a: 'x'.repeat(30_000) })],
    };
    assertRefused(await sendTo({ url: limited.url, path: '/v1/batch', body }), 413, 'batch-too-large');
    await assertServing(limited);
  });
});
