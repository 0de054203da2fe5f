/**
 * The sender with misbehaving receivers: every exchange ends within the timeout, and its memory is bounded. The
 * timeout is short, to keep the tests short.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import type { Sender } from '@tailrace/webhook';
import { collectGarbage, eventually } from '@tailrace/testing';
import * as answers from '../support/receivers/answers.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import {
  briefMs,
  onRequests,
  openSender,
  post,
  pourForEver,
  startRawServer,
  writeForEver,
  writeLate,
} from '../support/receivers/sender.ts';
import { steadily } from '../support/steadily.ts';

const success = { kind: 'success', status: 200 };
const timeout = { kind: 'retryable', reason: 'timeout' };
const failed = { kind: 'retryable', reason: 'connection-failed' };
const filler = Buffer.alloc(65_536, 'a');

describe('a slow receiver', () => {
  const slowReceivers: Readonly<Record<string, (socket: Socket) => void>> = {
    'sends nothing': () => undefined,
    'trickles its headers': (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
      writeForEver(socket, 'a');
    },
    'trickles informational responses': (socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nX-Slow: ');
      writeForEver(socket, 'a');
    },
    'sends an endless reason phrase': (socket) => {
      socket.write('HTTP/1.1 200 ');
      pourForEver(socket, filler);
    },
    'sends empty lines only': (socket) => {
      pourForEver(socket, Buffer.alloc(65_536, '\r\n'));
    },
  };
  for (const [what, behave] of Object.entries(slowReceivers)) {
    test(`that ${what} is a timeout, and the connection is closed`, async (t) => {
      const { host, hungUp } = await startRawServer(t, behave);
      const answer = await post(openSender(t, { timeoutMs: briefMs }), `http://${host}`);
      assert.partialDeepStrictEqual(answer, timeout);
      await hungUp;
    });
  }

  test('that does not finish the TLS handshake is a timeout', async (t) => {
    const { host } = await startRawServer(t, () => undefined);
    const answer = await post(openSender(t, { timeoutMs: briefMs }), `https://${host}`);
    assert.partialDeepStrictEqual(answer, timeout);
  });

  test('that never reads the request is a timeout', async (t) => {
    const { host, sockets } = await startRawServer(t, () => undefined, { reads: false });
    const body = Buffer.alloc(16 * 2 ** 20, 'a');
    const answer = await post(openSender(t, { timeoutMs: briefMs }), `http://${host}`, { body });
    assert.partialDeepStrictEqual(answer, timeout);
    await eventually(() => sockets.length === 1);
  });

  test('that disappears silently is a timeout, on a new connection and on a kept-alive one', async (t) => {
    const server = spawn(process.execPath, [
      '--eval',
      `const server = require('node:http').createServer((request, response) => response.end());
       server.listen(0, '127.0.0.1', () => console.log(server.address().port));`,
    ]);
    t.after(() => server.kill('SIGKILL'));
    const [port] = (await once(server.stdout, 'data')) as [Buffer];
    const origin = `http://127.0.0.1:${port.toString().trim()}`;
    const sender = openSender(t, { timeoutMs: 1_500 });
    // On a busy machine the first request may time out too.
    await eventually(
      () => post(sender, origin),
      ({ kind }) => kind === 'success',
    );
    server.kill('SIGSTOP');
    const both = await Promise.all([post(sender, origin), post(sender, origin)]);
    for (const answer of both) assert.partialDeepStrictEqual(answer, timeout);
    server.kill('SIGCONT');
    assert.deepEqual(await post(openSender(t), origin), success);
  });
});

describe('a response', () => {
  test('counts by its status where its body takes too long, and the connection is closed', async (t) => {
    const responses: ServerResponse[] = [];
    await using receiver = await startReceiver({
      answer: () => (response) => {
        responses.push(response);
        answers.trickle(200, 20)(response);
      },
    });
    const answer = await post(openSender(t, { timeoutMs: 5_000 }), receiver.url);
    assert.deepEqual(answer, { kind: 'success', status: 200 });
    const [response] = responses;
    assert.ok(response);
    if (!response.destroyed) await once(response, 'close');
    assert.ok(!response.writableEnded);
  });

  test('counts by its status where its body is too large, and the body is not read to its end', async (t) => {
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

  test('that is compressed is not inflated', async (t) => {
    const bomb = gzipSync(Buffer.alloc(32 * 2 ** 20));
    assert.ok(bomb.length < 64 * 1024);
    await using receiver = await startReceiver({
      answer: () => (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    });
    const sender = openSender(t);
    for (let count = 0; count < 3; count += 1) assert.deepEqual(await post(sender, receiver.url), success);
    // Inflated, the body would be too long, and the connection would be closed.
    assert.equal(receiver.connections.items.length, 1);
    assert.equal(receiver.requests[0]?.headers['accept-encoding'], undefined);
  });

  test('that comes before the request was read counts, and its connection is not used again', async (t) => {
    const { host, sockets } = await startRawServer(
      t,
      (socket) => {
        // The receiver has not read the request, so it responds when enough bytes have arrived.
        writeLate(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      },
      { reads: false },
    );
    const sender = openSender(t);
    const body = Buffer.alloc(16 * 2 ** 20, 'a');
    for (let count = 1; count <= 3; count += 1) {
      assert.deepEqual(await post(sender, `http://${host}`, { body }), success);
      assert.equal(sockets.length, count);
    }
  });

  const broken: Readonly<Record<string, string>> = {
    'with two lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n',
    'with a length and chunks':
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'with a header that is folded into nothing': 'HTTP/1.1 200 OK\r\n\0: a\r\n\r\n',
    'of another protocol': 'SSH-2.0-OpenSSH_9.2\r\n',
    'without a status': 'HTTP/1.1 OK\r\n\r\n',
  };
  for (const [what, answer] of Object.entries(broken)) {
    test(`${what} is a retryable failure`, async (t) => {
      const { host } = await startRawServer(t, (socket) => {
        onRequests(socket, () => socket.write(answer));
      });
      assert.partialDeepStrictEqual(await post(openSender(t), `http://${host}`), failed);
    });
  }

  test('with too many header bytes is a failure, in one header or in many', async (t) => {
    await using many = await startReceiver({ answer: () => answers.hugeHeaders(200, 64_000) });
    assert.partialDeepStrictEqual(await post(openSender(t), many.url), failed);
    const { host } = await startRawServer(t, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-Long: ');
      pourForEver(socket, filler);
    });
    assert.partialDeepStrictEqual(await post(openSender(t), `http://${host}`), failed);
  });

  test('after endless informational responses is a failure', async (t) => {
    const { host } = await startRawServer(t, (socket) => {
      pourForEver(socket, Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)));
    });
    assert.partialDeepStrictEqual(await post(openSender(t), `http://${host}`), failed);
  });

  for (const interim of ['100 Continue', '101 Switching Protocols']) {
    test(`of ${interim} that was not requested is a retryable failure`, async (t) => {
      const { host } = await startRawServer(t, (socket) => {
        onRequests(socket, () => {
          socket.write(`HTTP/1.1 ${interim}\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n`);
        });
      });
      assert.partialDeepStrictEqual(await post(openSender(t), `http://${host}`), {
        kind: 'retryable',
        reason: 'connection-reset',
      });
    });
  }

  for (const [what, body] of Object.entries({
    'a chunk with a description': '1;',
    'a trailer': '0\r\nX-Trailer: ',
    'a body of unknown length': undefined,
  })) {
    test(`counts by its status where ${what} never ends`, async (t) => {
      const { host, hungUp } = await startRawServer(t, (socket) => {
        const chunked = body === undefined ? '\r\n' : `Transfer-Encoding: chunked\r\n\r\n${body}`;
        onRequests(socket, () => {
          socket.write(`HTTP/1.1 200 OK\r\n${chunked}`);
          pourForEver(socket, filler);
        });
      });
      assert.deepEqual(await post(openSender(t, { timeoutMs: 3_000 }), `http://${host}`), success);
      await hungUp;
    });
  }

  test('that is missing, from a receiver that closed only its sending side, is a reset', async (t) => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => undefined).end();
      void text(socket).catch(() => undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    assert.partialDeepStrictEqual(await post(openSender(t), `http://127.0.0.1:${port}`), {
      kind: 'retryable',
      reason: 'connection-reset',
    });
  });
});

test('two hundred concurrent misbehaving responses stay within the memory limit of each', async (t) => {
  const worker = new Worker(new URL('../support/receivers/pouring-receiver.ts', import.meta.url));
  t.after(() => worker.terminate());
  const [port] = (await once(worker, 'message')) as [number];
  const expected: Readonly<Record<string, string>> = {
    '/body': 'success',
    '/header': 'connection-failed',
    '/informational': 'connection-failed',
    '/trickle': 'timeout',
  };
  const postAll = async (sender: Sender, count: number): Promise<void> => {
    const paths = Object.keys(expected);
    await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const path = paths[index % paths.length] ?? '';
        const answer = await post(sender, `http://127.0.0.1:${port}`, { path });
        const what = answer.kind === 'success' ? answer.kind : answer.reason;
        // On a busy machine the timeout may expire first.
        assert.ok(what === expected[path] || what === 'timeout', `${path}: ${what}`);
      }),
    );
  };
  // Warm-up: one-time allocations are not measured.
  await postAll(openSender(t, { timeoutMs: briefMs }), 4);
  // Collect garbage first, so that only retained memory counts.
  const used = (): number => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const sender = openSender(t, { timeoutMs: 4_000 });
  const before = used();
  let most = 0;
  using sampling = new DisposableStack();
  sampling.use(
    steadily(50, () => {
      most = Math.max(most, used() - before);
    }),
  );
  await postAll(sender, 200);
  // Headers, a chunk that is being read, and the connection. A third of this was measured.
  assert.ok(most < 200 * 64 * 1024, `${Math.round(most / 1024)} KB`);
});
