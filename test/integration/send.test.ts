/** The sender with receivers that answer properly, or not at all. The other send-*.test.ts cover the rest. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Answer } from '@tailrace/webhook';
import * as answers from '../support/receivers/answers.ts';
import { limitMs } from '@tailrace/testing';
import { closedPort, startReceiver } from '../support/receivers/receiver.ts';
import { briefMs, openSender, post, startRawServer } from '../support/receivers/sender.ts';

describe('a request', () => {
  test('arrives with exactly the given bytes, path and headers', async (t) => {
    await using receiver = await startReceiver();
    const body = '{"name":"Zoë 🚀"}';
    const headers = ['X-Team', 'growth'];
    const answer = await post(openSender(t), receiver.url, { body, headers });
    assert.deepEqual(answer, { kind: 'success', status: 200 });
    const [request] = receiver.requests;
    assert.equal(request?.method, 'POST');
    assert.equal(request.path, '/hook?a=1');
    assert.deepEqual(request.body, Buffer.from(body));
    assert.deepEqual(request.rawHeaders.map(([name]) => name.toLowerCase()).sort(), [
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
      'x-team',
    ]);
  });
});

describe('a response', () => {
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
    test(`of ${expected.status ?? ''} is ${expected.kind}`, async (t) => {
      await using receiver = await startReceiver({ answer: () => answer });
      assert.deepEqual(await post(openSender(t), receiver.url), expected);
    });
  }

  test('with a redirect is not followed', async (t) => {
    await using elsewhere = await startReceiver();
    await using receiver = await startReceiver({ answer: () => answers.redirect(307, elsewhere.url) });
    assert.deepEqual(await post(openSender(t), receiver.url), {
      kind: 'permanent',
      reason: 'redirect',
      status: 307,
    });
    assert.equal(elsewhere.connections.items.length, 0);
  });

  test('may follow informational responses', async (t) => {
    const { host } = await startRawServer(t, (socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(3));
        socket.end('HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n');
      });
    });
    assert.deepEqual(await post(openSender(t), `http://${host}`), { kind: 'success', status: 202 });
  });

  test('that is not HTTP is a retryable failure', async (t) => {
    const { host } = await startRawServer(t, (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    assert.partialDeepStrictEqual(await post(openSender(t), `http://${host}`), {
      kind: 'retryable',
      reason: 'connection-failed',
    });
  });
});

describe('no response', () => {
  test('within the timeout is a timeout failure, and the connection is closed', async (t) => {
    const closed = Promise.withResolvers<undefined>();
    await using receiver = await startReceiver({
      answer: () => (response) => {
        response.once('close', () => {
          closed.resolve(undefined);
        });
      },
    });
    assert.deepEqual(await post(openSender(t, { timeoutMs: 1_500 }), receiver.url), {
      kind: 'retryable',
      reason: 'timeout',
      detail: 'no answer within 1500 ms',
    });
    await closed.promise;
  });

  test('within the shorter timeout of a destination is a timeout failure, and a longer one changes nothing', async (t) => {
    await using receiver = await startReceiver({ answer: () => answers.never });
    const detailOf = async (ofSender: number, own: number) => {
      const answer = await post(openSender(t, { timeoutMs: ofSender }), receiver.url, { timeoutMs: own });
      return answer.kind === 'success' ? undefined : answer.detail;
    };
    assert.equal(await detailOf(limitMs, briefMs), `no answer within ${briefMs} ms`);
    assert.equal(await detailOf(briefMs, limitMs), `no answer within ${briefMs} ms`);
  });

  test('because the connection is refused is retryable', async (t) => {
    const answer = await post(openSender(t), `http://127.0.0.1:${await closedPort()}`);
    assert.partialDeepStrictEqual(answer, { kind: 'retryable', reason: 'connection-refused' });
  });

  test('because the connection is reset is retryable', async (t) => {
    await using receiver = await startReceiver({ answer: () => answers.reset });
    assert.partialDeepStrictEqual(await post(openSender(t), receiver.url), {
      kind: 'retryable',
      reason: 'connection-reset',
    });
  });

  test('because the connection is closed is retryable', async (t) => {
    const { host } = await startRawServer(t, (socket) => socket.once('data', () => socket.end()));
    assert.partialDeepStrictEqual(await post(openSender(t), `http://${host}`), {
      kind: 'retryable',
      reason: 'connection-reset',
    });
  });

  test('because the name does not exist is retryable', async (t) => {
    // The resolver itself refuses a label that is too long, without a query.
    const answer = await post(openSender(t), `http://${'a'.repeat(64)}.invalid`);
    assert.partialDeepStrictEqual(answer, { kind: 'retryable', reason: 'dns-failure' });
  });
});
