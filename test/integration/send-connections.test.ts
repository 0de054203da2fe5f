/** The sender's connections: their number, their lifetime, and requests on a connection that ends. */
import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import * as answers from '../support/receivers/answers.ts';
import { certificates } from '../support/receivers/certificates.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { briefMs, onRequests, openSender, post, startRawServer } from '../support/receivers/sender.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
/** Longer than any test takes. */
const kept = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nKeep-Alive: timeout=3600\r\n\r\n';
const success = { kind: 'success', status: 200 };

/** Ends the connection during a request, without a response. */
const hangUp: answers.Answer = (response) => response.socket?.end();

describe('a request', () => {
  test('reuses the connection of the previous request', async (t) => {
    await using receiver = await startReceiver();
    const sender = openSender(t);
    for (let count = 0; count < 10; count += 1) await post(sender, receiver.url);
    assert.equal(receiver.requests.length, 10);
    assert.equal(receiver.connections.items.length, 1);
  });

  test('does not wait for other requests, of the same or another destination', async (t) => {
    await using receiver = await startReceiver({
      answer: ({ path }) => (path === '/stuck' ? answers.never : answers.status(200)),
    });
    const sender = openSender(t);
    const stuck = Array.from({ length: 200 }, () => post(sender, receiver.url, { path: '/stuck' }));
    await receiver.waitFor(200);
    for (const destinationId of ['destination', 'other']) {
      assert.deepEqual(await post(sender, receiver.url, { destinationId }), success);
    }
    await sender.close();
    for (const answer of await Promise.all(stuck)) assert.equal(answer.kind, 'retryable');
  });

  test('that times out before its connection is established is never sent', async (t) => {
    await using receiver = await startReceiver();
    const found = Promise.withResolvers<readonly LookupAddress[]>();
    const sender = openSender(t, { timeoutMs: briefMs, lookup: () => found.promise });
    const origin = `http://receiver.example:${receiver.port}`;
    assert.partialDeepStrictEqual(await post(sender, origin), { reason: 'timeout' });
    found.resolve([{ address: '127.0.0.1', family: 4 }]);
    // A second request ensures that the first one had time to arrive. It has time itself.
    const second = openSender(t, { lookup: () => found.promise });
    assert.deepEqual(await post(second, origin, { path: '/second' }), success);
    assert.deepEqual(
      receiver.requests.map(({ path }) => path),
      ['/second'],
    );
  });
});

describe('connections', () => {
  test('are not shared by destinations with the same receiver', async (t) => {
    await using receiver = await startReceiver();
    const sender = openSender(t);
    for (let count = 0; count < 3; count += 1) {
      for (const destinationId of ['one', 'other']) await post(sender, receiver.url, { destinationId });
    }
    assert.equal(receiver.connections.items.length, 2);
  });

  test('with endless responses are limited to 16 for a destination, and the oldest is closed', async (t) => {
    const { host, sockets } = await startRawServer(t, (socket) => {
      onRequests(socket, () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'));
    });
    const sender = openSender(t);
    for (let count = 0; count < 40; count += 1) {
      assert.deepEqual(await post(sender, `http://${host}`), success);
    }
    const ended = sockets.slice(0, 40 - 16);
    for (const socket of ended) if (!socket.closed) await once(socket, 'close');
    assert.ok(sockets.slice(40 - 16).every(({ destroyed }) => !destroyed));
  });

  test('that are idle are limited to a thousand, for any number of destinations', async (t) => {
    const { host, sockets } = await startRawServer(t, (socket) => {
      onRequests(socket, () => socket.write(kept));
    });
    const sender = openSender(t);
    for (let nth = 0; nth < 1_100; nth += 1) {
      await post(sender, `http://${host}`, { destinationId: `destination-${nth}` });
    }
    for (const socket of sockets.slice(0, 100)) if (!socket.closed) await once(socket, 'close');
    assert.ok(sockets.slice(100).every(({ destroyed }) => !destroyed));
  });

  test('that are idle are closed before the receiver closes them', async (t) => {
    const { host, hungUp } = await startRawServer(t, (socket) => {
      onRequests(socket, () => {
        socket.write(kept);
      });
    });
    // The receiver keeps idle connections for an hour.
    await post(openSender(t, { maxConnectionAgeMs: 100 }), `http://${host}`);
    await hungUp;
  });

  test('that have reached their maximum age announce with the next request that they close', async (t) => {
    const requests: string[] = [];
    const { host, sockets } = await startRawServer(t, (socket) => {
      onRequests(socket, (request) => {
        requests.push(request);
        socket.write(ok);
      });
    });
    const sender = openSender(t, { maxConnectionAgeMs: 0 });
    for (let count = 0; count < 3; count += 1) {
      assert.deepEqual(await post(sender, `http://${host}`), success);
    }
    assert.match(requests[0] ?? '', /connection: keep-alive/i);
    assert.match(requests[1] ?? '', /connection: close/i);
    assert.equal(sockets.length, 2);
  });
});

describe('a kept-alive connection that ends during a request', () => {
  for (const [what, end] of Object.entries({ closed: hangUp, reset: answers.reset })) {
    test(`(${what} by the receiver) costs no attempt: the request is sent again immediately, on a new connection`, async (t) => {
      await using receiver = await startReceiver({
        answer: (_request, nth) => (nth === 2 ? end : answers.status(200)),
      });
      const sender = openSender(t);
      assert.deepEqual(await post(sender, receiver.url), success);
      assert.deepEqual(await post(sender, receiver.url, { body: '{"n":2}' }), success);
      assert.deepEqual(
        receiver.requests.map(({ body }) => body.toString()),
        ['{"type":"track"}', '{"n":2}', '{"n":2}'],
      );
      assert.equal(receiver.connections.items.length, 2);
    });
  }

  test('costs no attempt over TLS either', async (t) => {
    await using receiver = await startReceiver({
      tls: certificates().trusted,
      answer: (_request, nth) => (nth === 2 ? answers.reset : answers.status(200)),
    });
    const sender = openSender(t);
    assert.deepEqual(await post(sender, receiver.url), success);
    assert.deepEqual(await post(sender, receiver.url), success);
    assert.equal(receiver.requests.length, 3);
  });

  test('causes one second try, and no third', async (t) => {
    await using receiver = await startReceiver({
      answer: (_request, nth) => (nth === 1 ? answers.status(200) : hangUp),
    });
    const sender = openSender(t);
    assert.deepEqual(await post(sender, receiver.url), success);
    assert.partialDeepStrictEqual(await post(sender, receiver.url), { reason: 'connection-reset' });
    assert.equal(receiver.requests.length, 3);
  });

  test('causes no second try where it had served no request before', async (t) => {
    await using receiver = await startReceiver({ answer: () => hangUp });
    assert.partialDeepStrictEqual(await post(openSender(t), receiver.url), { reason: 'connection-reset' });
    assert.equal(receiver.requests.length, 1);
  });

  test('causes no second try where the response had started', async (t) => {
    await using receiver = await startReceiver({
      answer: (_request, nth) =>
        nth === 1 ? answers.status(200) : ({ socket }: ServerResponse) => socket?.end('HTTP/1.1 2'),
    });
    const sender = openSender(t);
    await post(sender, receiver.url);
    assert.equal((await post(sender, receiver.url)).kind, 'retryable');
    assert.equal(receiver.requests.length, 2);
  });

  test('leaves the second try the rest of the timeout', async (t) => {
    await using receiver = await startReceiver({
      answer: answers.sequence(answers.status(200), hangUp, answers.never),
    });
    const sender = openSender(t, { timeoutMs: 5_000 });
    assert.deepEqual(await post(sender, receiver.url), success);
    const answer = await post(sender, receiver.url);
    assert.partialDeepStrictEqual(answer, { kind: 'retryable', reason: 'timeout' });
    assert.equal(receiver.requests.length, 3);
  });

  test('is closed with the sender during the second try too', async (t) => {
    await using receiver = await startReceiver({
      answer: answers.sequence(answers.status(200), hangUp, answers.never),
    });
    const sender = openSender(t);
    await post(sender, receiver.url);
    const stuck = post(sender, receiver.url);
    await receiver.waitFor(3);
    await sender.close();
    assert.equal((await stuck).kind, 'retryable');
  });
});

describe('data that a receiver sends after its response', () => {
  const tooMuch: Readonly<Record<string, string>> = {
    'a second response': 'HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n',
    'a second response that never ends': 'HTTP/1.1 500 Oops\r\nX-Slow:',
    'more body than announced': 'and more',
  };
  for (const [what, surplus] of Object.entries(tooMuch)) {
    for (const when of ['together with it', 'later']) {
      test(`(${what}, ${when}) is not used as the response to the next request`, async (t) => {
        const { host, sockets, hungUp } = await startRawServer(t, (socket, nthSocket) => {
          onRequests(socket, () => {
            if (nthSocket > 1) {
              socket.write('HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n');
            } else if (when === 'later') {
              socket.write(ok, () => setImmediate(() => socket.write(surplus)));
            } else {
              socket.write(ok + surplus);
            }
          });
        });
        const sender = openSender(t);
        assert.deepEqual(await post(sender, `http://${host}`), success);
        await hungUp;
        assert.deepEqual(await post(sender, `http://${host}`), { kind: 'success', status: 202 });
        assert.equal(sockets.length, 2);
      });
    }
  }

  test('as the body of a response without one is not used as the response to the next request', async (t) => {
    const { host, sockets } = await startRawServer(t, (socket, nthSocket) => {
      onRequests(socket, () => {
        const surplus = 'HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n';
        const head = 'HTTP/1.1 204 No Content\r\n';
        socket.write(nthSocket > 1 ? ok : `${head}Content-Length: ${surplus.length}\r\n\r\n${surplus}`);
      });
    });
    const sender = openSender(t);
    assert.deepEqual(await post(sender, `http://${host}`), { kind: 'success', status: 204 });
    assert.deepEqual(await post(sender, `http://${host}`), success);
    assert.equal(sockets.length, 2);
  });
});
