/**
 * The sender against real receivers, well-behaved and not. Timeouts are short so that tests are; what they
 * assert is which answer comes, never how fast.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { createAddressPolicy } from '../../services/delivery/src/address.ts';
import type { Answer } from '../../services/delivery/src/outcome.ts';
import { createSender, type Sender, type SenderOptions } from '../../services/delivery/src/send.ts';
import * as answers from '../support/answers.ts';
import { certificates, type Certificate } from '../support/certificates.ts';
import { closedPort, startReceiver } from '../support/receiver.ts';

const loopback = createAddressPolicy([{ address: '127.0.0.0', prefix: 8, family: 'ipv4' }]);
const onlyPublic = createAddressPolicy([]);
const patientMs = 10_000;
const briefMs = 300;

function openSender(t: TestContext, options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({
    timeoutMs: patientMs,
    policy: loopback,
    authorities: [certificates().authority],
    ...options,
  });
  t.after(() => sender.close());
  return sender;
}

function post(sender: Sender, origin: string, body = '{"type":"track"}'): Promise<Answer> {
  return sender.send({
    origin,
    path: '/hook?a=1',
    headers: ['Content-Type', 'application/json', 'User-Agent', 'Tailrace/1.0', 'X-Team', 'growth'],
    body: Buffer.from(body),
  });
}

/** A server that speaks no HTTP by itself; `onConnection` does what it likes. Returns its origin. */
async function startRawServer(t: TestContext, onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).resume();
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Writes `text` every few milliseconds until the peer hangs up. */
function writeForEver(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 5);
  socket.once('close', () => {
    clearInterval(timer);
  });
}

describe('a request', () => {
  test('arrives with the bytes, path and headers that were given, and no others', async (t) => {
    await using receiver = await startReceiver();
    const body = '{"name":"Zoë 🚀"}';
    assert.deepEqual(await post(openSender(t), receiver.url, body), { kind: 'success', status: 200 });
    const [request] = receiver.requests;
    assert.equal(request?.method, 'POST');
    assert.equal(request.path, '/hook?a=1');
    assert.deepEqual(request.body, Buffer.from(body));
    assert.deepEqual(request.rawHeaders.map(([name]) => name.toLowerCase()).sort(), [
      ...['connection', 'content-length', 'content-type', 'host', 'user-agent', 'x-team'],
    ]);
  });

  test('follows another on the same connection', async (t) => {
    await using receiver = await startReceiver();
    const sender = openSender(t, { connectionsPerOrigin: 1 });
    for (let count = 0; count < 10; count += 1) await post(sender, receiver.url);
    assert.equal(receiver.requests.length, 10);
    assert.equal(receiver.connections.items.length, 1);
  });

  test('waits for no other while there may be more connections', async (t) => {
    await using receiver = await startReceiver({
      answer: (_request, nth) => (nth === 1 ? answers.never : answers.status(200)),
    });
    const sender = openSender(t);
    const stuck = post(sender, receiver.url);
    await receiver.waitFor(1);
    assert.equal((await post(sender, receiver.url)).kind, 'success');
    await sender.close();
    assert.equal((await stuck).kind, 'retryable');
  });

  test('whose time is over before a connection is free is never sent', async (t) => {
    await using receiver = await startReceiver({ answer: () => answers.never });
    const sender = openSender(t, { timeoutMs: briefMs, connectionsPerOrigin: 1 });
    const both = await Promise.all([post(sender, receiver.url), post(sender, receiver.url)]);
    for (const answer of both) assert.partialDeepStrictEqual(answer, { reason: 'timeout' });
    // A third makes sure that the second had its chance.
    await post(sender, receiver.url);
    assert.equal(receiver.requests.length, 2);
  });
});

describe('an answer', () => {
  const cases: readonly [answer: answers.Answer, expected: Answer][] = [
    [answers.status(204), { kind: 'success', status: 204 }],
    [answers.status(404), { kind: 'permanent', reason: 'client-error', status: 404 }],
    [answers.status(408), { kind: 'retryable', reason: 'request-timeout', status: 408 }],
    [answers.status(503), { kind: 'retryable', reason: 'server-error', status: 503 }],
    [
      answers.tooManyRequests('7'),
      { kind: 'retryable', reason: 'too-many-requests', status: 429, retryAfterMs: 7_000 },
    ],
  ];
  for (const [answer, expected] of cases) {
    test(`of ${expected.status ?? ''} means ${expected.kind}`, async (t) => {
      await using receiver = await startReceiver({ answer: () => answer });
      assert.deepEqual(await post(openSender(t), receiver.url), expected);
    });
  }

  test('that redirects is not followed', async (t) => {
    await using elsewhere = await startReceiver();
    await using receiver = await startReceiver({ answer: () => answers.redirect(307, elsewhere.url) });
    assert.deepEqual(await post(openSender(t), receiver.url), {
      kind: 'permanent',
      reason: 'redirect',
      status: 307,
    });
    assert.equal(elsewhere.connections.items.length, 0);
  });

  test('counts by its status, however long its body takes, and the connection is ended', async (t) => {
    const responses: ServerResponse[] = [];
    await using receiver = await startReceiver({
      answer: () => (response) => {
        responses.push(response);
        answers.trickle(200, 20)(response);
      },
    });
    const answer = await post(openSender(t, { timeoutMs: briefMs }), receiver.url);
    assert.deepEqual(answer, { kind: 'success', status: 200 });
    const [response] = responses;
    assert.ok(response);
    if (!response.destroyed) await once(response, 'close');
    assert.ok(!response.writableEnded);
  });

  test('counts by its status, however large its body, which is not read to the end', async (t) => {
    const closed = Promise.withResolvers<boolean>();
    await using receiver = await startReceiver({
      answer: () => (response) => {
        response.once('close', () => {
          closed.resolve(response.writableFinished);
        });
        answers.hugeBody(200, 200_000_000)(response);
      },
    });
    const answer = await post(openSender(t), receiver.url);
    assert.deepEqual(answer, { kind: 'success', status: 200 });
    assert.equal(await closed.promise, false);
  });

  test('with more headers than anyone needs is a failure', async (t) => {
    await using receiver = await startReceiver({ answer: () => answers.hugeHeaders(200, 64_000) });
    assert.partialDeepStrictEqual(await post(openSender(t), receiver.url), {
      kind: 'retryable',
      reason: 'connection-failed',
    });
  });

  test('may be announced by informational ones', async (t) => {
    const origin = await startRawServer(t, (socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(3));
        socket.end('HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n');
      });
    });
    assert.deepEqual(await post(openSender(t), `http://${origin}`), { kind: 'success', status: 202 });
  });

  test('that is not HTTP is a failure that may pass', async (t) => {
    const origin = await startRawServer(t, (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    assert.partialDeepStrictEqual(await post(openSender(t), `http://${origin}`), {
      kind: 'retryable',
      reason: 'connection-failed',
    });
  });
});

describe('no answer', () => {
  test('within the time is a timeout, and the connection is ended', async (t) => {
    const closed = Promise.withResolvers<undefined>();
    await using receiver = await startReceiver({
      answer: () => (response) => {
        response.once('close', () => {
          closed.resolve(undefined);
        });
      },
    });
    assert.deepEqual(await post(openSender(t, { timeoutMs: briefMs }), receiver.url), {
      kind: 'retryable',
      reason: 'timeout',
      detail: `no answer within ${briefMs} ms`,
    });
    await closed.promise;
  });

  const dawdlers: Readonly<Record<string, (socket: Socket) => void>> = {
    'headers that trickle': (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
      writeForEver(socket, 'a');
    },
    'informational answers without end': (socket) => {
      writeForEver(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n');
    },
    'a connection on which nothing is said': () => undefined,
  };
  for (const [what, dawdle] of Object.entries(dawdlers)) {
    test(`but ${what} is a timeout`, async (t) => {
      const origin = await startRawServer(t, dawdle);
      const answer = await post(openSender(t, { timeoutMs: briefMs }), `http://${origin}`);
      assert.partialDeepStrictEqual(answer, { kind: 'retryable', reason: 'timeout' });
    });
  }

  test('but a TLS handshake that never ends is a timeout', async (t) => {
    const origin = await startRawServer(t, () => undefined);
    const answer = await post(openSender(t, { timeoutMs: briefMs }), `https://${origin}`);
    assert.partialDeepStrictEqual(answer, { kind: 'retryable', reason: 'timeout' });
  });

  test('because the connection is refused may pass', async (t) => {
    const answer = await post(openSender(t), `http://127.0.0.1:${await closedPort()}`);
    assert.partialDeepStrictEqual(answer, { kind: 'retryable', reason: 'connection-refused' });
  });

  test('because the connection is reset may pass', async (t) => {
    await using receiver = await startReceiver({ answer: () => answers.reset });
    assert.partialDeepStrictEqual(await post(openSender(t), receiver.url), {
      kind: 'retryable',
      reason: 'connection-reset',
    });
  });

  test('because the connection is closed may pass', async (t) => {
    const origin = await startRawServer(t, (socket) => socket.once('data', () => socket.end()));
    assert.partialDeepStrictEqual(await post(openSender(t), `http://${origin}`), {
      kind: 'retryable',
      reason: 'connection-reset',
    });
  });

  test('because the name does not exist may pass', async (t) => {
    // A label that is too long is refused by the resolver itself; nothing is asked over the network.
    const answer = await post(openSender(t), `http://${'a'.repeat(64)}.invalid`);
    assert.partialDeepStrictEqual(answer, { kind: 'retryable', reason: 'dns-failure' });
  });
});

describe('over TLS', () => {
  test('a certificate of a known authority is accepted', async (t) => {
    await using receiver = await startReceiver({ tls: certificates().trusted });
    assert.deepEqual(await post(openSender(t), receiver.url), { kind: 'success', status: 200 });
  });

  test('an authority nobody was told about is not trusted', async (t) => {
    await using receiver = await startReceiver({ tls: certificates().trusted });
    const answer = await post(openSender(t, { authorities: [] }), receiver.url);
    assert.partialDeepStrictEqual(answer, { kind: 'permanent', reason: 'untrusted-certificate' });
    assert.equal(receiver.requests.length, 0);
  });

  const { selfSigned, unknownAuthority, misnamed, expired } = certificates();
  const cases: readonly [what: string, tls: Certificate, kind: Answer['kind'], reason: string][] = [
    ['a self-signed certificate', selfSigned, 'permanent', 'self-signed-certificate'],
    ['a certificate of an unknown authority', unknownAuthority, 'permanent', 'untrusted-certificate'],
    ['a certificate of another host', misnamed, 'permanent', 'misnamed-certificate'],
    ['an expired certificate', expired, 'retryable', 'certificate-expired'],
  ];
  for (const [what, tls, kind, reason] of cases) {
    test(`${what} is ${kind}, and no request is sent`, async (t) => {
      await using receiver = await startReceiver({ tls });
      const sender = openSender(t);
      for (let count = 0; count < 2; count += 1) {
        assert.partialDeepStrictEqual(await post(sender, receiver.url), { kind, reason });
      }
      assert.equal(receiver.connections.items.length, 2);
      assert.equal(receiver.requests.length, 0);
    });
  }

  test('no version before 1.2 is spoken', async (t) => {
    let requests = 0;
    const server = createSecureServer(
      {
        ...certificates().trusted,
        ...{ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' },
      },
      (_request, response) => {
        requests += 1;
        response.end();
      },
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const answer = await post(openSender(t), `https://127.0.0.1:${port}`);
    assert.partialDeepStrictEqual(answer, { kind: 'retryable', reason: 'connection-failed' });
    assert.equal(requests, 0);
  });
});

describe('an address that is not allowed', () => {
  for (const host of ['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]']) {
    test(`is not dialled as ${host}`, async (t) => {
      await using receiver = await startReceiver();
      for (const scheme of ['http', 'https']) {
        const { origin } = new URL(`${scheme}://${host}:${receiver.port}`);
        assert.partialDeepStrictEqual(await post(openSender(t, { policy: onlyPublic }), origin), {
          kind: 'permanent',
          reason: 'address-not-allowed',
        });
      }
      // A connection that was on its way would have been accepted before this one.
      await post(openSender(t), receiver.url);
      assert.equal(receiver.connections.items.length, 1);
    });
  }

  test('does not stand in the way of another that the name has and that is allowed', async (t) => {
    await using receiver = await startReceiver();
    const answer = await post(openSender(t), `http://localhost:${receiver.port}`);
    assert.deepEqual(answer, { kind: 'success', status: 200 });
  });
});
