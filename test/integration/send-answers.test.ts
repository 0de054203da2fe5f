/** What the sender keeps of the answers of receivers, and that keeping it changes nothing else. */
import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { describe, test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { describeExchange, keptOfFailures, targetsOf, type Answer } from '@tailrace/webhook';
import type { UrlExchange } from '@tailrace/records';
import * as answers from '../support/receivers/answers.ts';
import { certificates } from '../support/receivers/certificates.ts';
import { closedPort, startReceiver } from '../support/receivers/receiver.ts';
import { briefMs, onRequests, openSender, post, startRawServer } from '../support/receivers/sender.ts';

const keep = keptOfFailures;
const json = '{"error":"invalid payload","field":"properties.total"}';

/** What is kept, once nothing more is. */
async function kept(answer: Answer, headers: Readonly<Record<string, string>> = {}): Promise<UrlExchange> {
  assert.ok(answer.exchange);
  await answer.exchange.ended;
  const settings = { webhooks: [{ url: 'http://receiver.example/hook?a=1', headers }] };
  const [target] = targetsOf({ id: 'crm', type: 'Webhooks', enabled: true, sources: [], settings });
  assert.ok(target);
  const requestHeaders = ['Content-Type', 'application/json', ...target.headers];
  return describeExchange(answer.exchange, { target, requestHeaders, latencyMs: 5_000 });
}

/** The exchange of a request that is answered with these bytes. */
async function answeredWith(t: TestContext, ...parts: readonly (string | Buffer)[]): Promise<UrlExchange> {
  const { host } = await startRawServer(t, (socket) => {
    onRequests(socket, () => {
      for (const part of parts) socket.write(part);
    });
  });
  return kept(await post(openSender(t), `http://${host}`, { keep }));
}

describe('of a failed request is kept', () => {
  test('the body, some headers, the address, and what was sent, without secrets', async (t) => {
    const secret = 'Bearer S3CRET-token';
    const sentBack = { 'content-type': 'application/json', 'x-request-id': 'r-1', 'set-cookie': 'a=b' };
    await using receiver = await startReceiver({
      answer: () => answers.status(400, { ...sentBack, server: secret }, `${json} ${secret}`),
    });
    const headers = ['Authorization', secret];
    const answer = await post(openSender(t), receiver.url, { headers, keep });
    assert.partialDeepStrictEqual(answer, { kind: 'permanent', reason: 'client-error', status: 400 });
    const { dnsMs, connectMs, answerMs, ...exchange } = await kept(answer, { Authorization: secret });
    assert.deepEqual(exchange, {
      address: `127.0.0.1:${receiver.port}`,
      requestHeaders: { 'Content-Type': 'application/json', Authorization: '********' },
      responseHeaders: { 'content-type': 'application/json', 'x-request-id': 'r-1', server: '********' },
      responseBody: `${json} ********`,
    });
    for (const ms of [dnsMs, connectMs, answerMs]) assert.ok(Number(ms) >= 0);
  });

  test('a body that arrives after the headers', async (t) => {
    await using receiver = await startReceiver({
      answer: () => (response) => {
        response.writeHead(503).flushHeaders();
        setImmediate(() => response.end('overloaded'));
      },
    });
    const exchange = await kept(await post(openSender(t), receiver.url, { keep }));
    assert.deepEqual([exchange.responseBody, exchange.omitted], ['overloaded', undefined]);
  });

  test('the first KB of a longer body, which is read no further than before', async (t) => {
    const closed = Promise.withResolvers<boolean>();
    await using receiver = await startReceiver({
      answer: () => (response) => {
        response.once('close', () => {
          closed.resolve(response.writableFinished);
        });
        answers.hugeBody(400, 10_000_000)(response);
      },
    });
    const exchange = await kept(await post(openSender(t), receiver.url, { keep }));
    assert.deepEqual([exchange.responseBody, exchange.omitted], ['x'.repeat(1_024), 'rest']);
    assert.equal(await closed.promise, false);
  });

  test('of a trickled body what arrived in time; the answer does not wait for it', async (t) => {
    const { host, hungUp } = await startRawServer(t, (socket) => {
      onRequests(socket, () => {
        socket.write('HTTP/1.1 400 Bad Request\r\nContent-Length: 100\r\n\r\nnot all');
      });
    });
    const answer = await post(openSender(t, { timeoutMs: briefMs }), `http://${host}`, { keep });
    // On a busy machine the timeout may expire first.
    if (answer.status === undefined) return;
    const exchange = await kept(answer);
    assert.deepEqual([exchange.responseBody, exchange.omitted], ['not all', 'rest']);
    await hungUp;
  });

  test('no body that is compressed or not text', async (t) => {
    const head = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n';
    const zipped = gzipSync(json);
    const compressed = await answeredWith(
      t,
      `${head}Content-Encoding: gzip\r\nContent-Length: ${zipped.length}\r\n\r\n`,
      zipped,
    );
    const binary = await answeredWith(
      t,
      `${head}Content-Length: 4\r\n\r\n`,
      Buffer.from([0x89, 0x50, 0, 0xff]),
    );
    for (const { responseBody, omitted } of [compressed, binary]) {
      assert.deepEqual([responseBody, omitted], [undefined, 'binary']);
    }
    assert.deepEqual(compressed.responseHeaders, { 'content-encoding': 'gzip' });
  });

  test('text that acts on nobody, from bytes that are not UTF-8 too', async (t) => {
    const bytes = Buffer.concat([Buffer.from('a\u001B[2J\u202Eb'), Buffer.from([0xff]), Buffer.from('é')]);
    const { responseBody, responseHeaders } = await answeredWith(
      t,
      `HTTP/1.1 400 No\r\nServer: x\u202Ey\r\nLocation: /login?token=1\r\nContent-Length: ${bytes.length}\r\n\r\n`,
      bytes,
    );
    assert.equal(responseBody, 'a\u{FFFD}[2J\u{FFFD}b\u{FFFD}é');
    assert.equal(responseHeaders?.['location'], '/login');
    assert.doesNotMatch(responseHeaders['server'] ?? '', /[\p{Cc}\p{Cf}]/u);
  });

  test('where and when no connection came about', async (t) => {
    const port = await closedPort();
    const refused = await kept(await post(openSender(t), `http://127.0.0.1:${port}`, { keep }));
    assert.deepEqual({ ...refused, dnsMs: 0 }, { address: `127.0.0.1:${port}`, dnsMs: 0 });
  });
});

test('the steps of a connection have times where the request made it', async (t) => {
  await using receiver = await startReceiver({
    tls: certificates().trusted,
    answer: () => answers.status(500),
  });
  const addresses: readonly LookupAddress[] = [{ address: '127.0.0.1', family: 4 }];
  const sender = openSender(t, { lookup: () => Promise.resolve(addresses) });
  const origin = `https://localhost:${receiver.port}`;
  const first = await kept(await post(sender, origin, { keep }));
  const second = await kept(await post(sender, origin, { keep }));
  const steps = ({ dnsMs, connectMs, tlsMs }: UrlExchange) =>
    [dnsMs, connectMs, tlsMs].map((ms) => typeof ms);
  assert.deepEqual(steps(first), ['number', 'number', 'number']);
  assert.deepEqual(steps(second), ['undefined', 'undefined', 'undefined']);
  assert.equal(second.address, `127.0.0.1:${receiver.port}`);
  assert.equal(receiver.connections.items.length, 1);
});

test('of a request that succeeds, and where it is not asked for, nothing is kept', async (t) => {
  await using receiver = await startReceiver({
    answer: answers.sequence(answers.status(200, {}, 'fine'), answers.status(400, {}, json)),
  });
  const sender = openSender(t);
  assert.deepEqual(await post(sender, receiver.url, { keep }), { kind: 'success', status: 200 });
  assert.deepEqual(await post(sender, receiver.url), {
    kind: 'permanent',
    reason: 'client-error',
    status: 400,
  });
});
