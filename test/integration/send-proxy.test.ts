/** The sender through an egress proxy: a real one, and servers that are none, or answer it badly. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { createServer } from 'node:tls';
import { createAddressPolicy } from '@tailrace/webhook';
import { startTinyproxy } from '../support/network/tinyproxy.ts';
import { certificates, type Certificate } from '../support/receivers/certificates.ts';
import { closedPort, startReceiver } from '../support/receivers/receiver.ts';
import { briefMs, openSender, post, startRawServer, writeForEver } from '../support/receivers/sender.ts';

const success = { kind: 'success', status: 200 };
const refused = { kind: 'retryable', reason: 'proxy-refused' } as const;
const unauthorized = { kind: 'retryable', reason: 'proxy-unauthorized' } as const;
const unreachable = { kind: 'retryable', reason: 'proxy-unreachable' } as const;
/** Nothing is sent to it. */
const receiverUrl = 'https://93.184.215.14';
const { authority, client, selfSigned, trusted } = certificates();

/** An end of TLS in front of a proxy. */
async function startTlsEnd(t: TestContext, port: number, certificate: Certificate): Promise<string> {
  const server = createServer(certificate, (socket) => {
    const proxy = connect(port, '127.0.0.1');
    socket.pipe(proxy).pipe(socket);
    socket.on('error', () => proxy.destroy());
    proxy.on('error', () => socket.destroy());
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('through a proxy', () => {
  test('7.11 requests over http and https arrive as without it, and the tunnel is used again', async (t) => {
    const sender = openSender(t, { proxy: await startTinyproxy(t) });
    for (const tls of [undefined, trusted]) {
      await using receiver = await startReceiver({ ...(tls && { tls }) });
      await using other = await startReceiver({ ...(tls && { tls }) });
      const headers = ['X-Team', 'growth'];
      for (const options of [{}, {}, { proxy: 'none' }] as const) {
        const { url } = 'proxy' in options ? other : receiver;
        assert.deepEqual(await post(sender, url, { body: '{"name":"Zoë"}', headers, ...options }), success);
      }
      assert.equal(receiver.connections.items.length, 1);
      const seen = [...receiver.requests, ...other.requests].map(({ method, path, body, rawHeaders }) => {
        const others = rawHeaders.filter(([name]) => name.toLowerCase() !== 'host');
        return { method, path, body, others };
      });
      assert.deepEqual(seen, Array(3).fill(seen[2]));
      assert.equal(receiver.requests[0]?.headers['host'], new URL(receiver.url).host);
    }
  });

  test('certificates of receivers are verified, and client certificates shown', async (t) => {
    const sender = openSender(t, { proxy: await startTinyproxy(t) });
    await using unknown = await startReceiver({ tls: selfSigned });
    assert.partialDeepStrictEqual(await post(sender, unknown.url), {
      kind: 'permanent',
      reason: 'self-signed-certificate',
    });
    assert.equal(unknown.requests.length, 0);
    await using strict = await startReceiver({ tls: { ...trusted, clientAuthority: authority } });
    const tls = { clientCertificate: client.cert, clientKey: client.key };
    assert.deepEqual(await post(sender, strict.url, { tls }), success);
  });

  test('over TLS its certificate is verified too, and a bad one says nothing about the receiver', async (t) => {
    const { port } = await startTinyproxy(t);
    for (const tls of [undefined, trusted]) {
      await using receiver = await startReceiver({ ...(tls && { tls }) });
      const good = openSender(t, { proxy: { url: await startTlsEnd(t, port, trusted) } });
      assert.deepEqual(await post(good, receiver.url), success);
      const bad = openSender(t, { proxy: { url: await startTlsEnd(t, port, selfSigned) } });
      assert.partialDeepStrictEqual(await post(bad, receiver.url), unreachable);
    }
  });

  test('its credentials are sent to it, and wrong ones are refused', async (t) => {
    const { url } = await startTinyproxy(t, 'tailrace:pa-ss');
    await using receiver = await startReceiver();
    const answerTo = (credentials?: string) =>
      post(openSender(t, { proxy: { url, credentials } }), receiver.url);
    assert.deepEqual(await answerTo('tailrace:pa-ss'), success);
    for (const wrong of [undefined, 'tailrace:other']) {
      assert.partialDeepStrictEqual(await answerTo(wrong), unauthorized);
    }
    assert.equal(receiver.requests.length, 1);
  });

  test('a receiver that refuses connections is refused by the proxy', async (t) => {
    const sender = openSender(t, { proxy: await startTinyproxy(t) });
    assert.partialDeepStrictEqual(await post(sender, `http://127.0.0.1:${await closedPort()}`), refused);
  });

  test('when the proxy dies requests fail until it is back, and those past it go on', async (t) => {
    const proxy = await startTinyproxy(t);
    const sender = openSender(t, { proxy });
    await using receiver = await startReceiver({
      tls: trusted,
      answer:
        ({ path }) =>
        (response) => {
          if (path !== '/held') response.end();
        },
    });
    assert.deepEqual(await post(sender, receiver.url), success);
    const held = post(sender, receiver.url, { path: '/held', destinationId: 'other' });
    await receiver.waitFor((requests) => requests.some(({ path }) => path === '/held'));
    await proxy.kill();
    assert.partialDeepStrictEqual(await held, { kind: 'retryable', reason: 'connection-reset' });
    assert.partialDeepStrictEqual(await post(sender, receiver.url), unreachable);
    assert.deepEqual(await post(sender, receiver.url, { proxy: 'none' }), success);
    await proxy.restart();
    assert.deepEqual(await post(sender, receiver.url), success);
  });

  test('the exchange has the address of the proxy, and no name of a receiver is looked up here', async (t) => {
    const requests: string[] = [];
    const { host } = await startRawServer(t, (socket) => {
      socket.once('data', (request) => {
        requests.push(String(request));
        socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
      });
    });
    const lookup = () => Promise.reject(new Error('nothing is looked up'));
    const sender = openSender(t, { proxy: { url: `http://${host}` }, lookup });
    const answer = await post(sender, 'https://crm.example.com', { keep: { bodyBytes: 10 } });
    assert.partialDeepStrictEqual(answer, { ...refused, detail: 'the proxy answered CONNECT with 403' });
    const { proxy, address } = answer.exchange?.dialled ?? {};
    assert.deepEqual([proxy, address], [host, undefined]);
    const policy = createAddressPolicy([]);
    const v6 = openSender(t, { proxy: { url: `http://${host}` }, policy });
    await post(v6, 'http://[2606:4700::1111]:8080');
    const asked = requests.map((request) =>
      /^CONNECT (\S+) HTTP\/1.1\r\nhost: (\S+)\r\n/.exec(request)?.slice(1),
    );
    assert.deepEqual(
      asked,
      ['crm.example.com:443', '[2606:4700::1111]:8080'].map((to) => [to, to]),
    );
  });

  test('7.5 addresses that webhooks may not reach are refused, and so is the proxy as localhost', async (t) => {
    const { url } = await startTinyproxy(t);
    const sender = openSender(t, { proxy: { url }, policy: createAddressPolicy([]) });
    const hosts = [
      '127.0.0.1',
      '0x7f.1',
      '[::1]',
      '10.0.0.1',
      '[::ffff:a9fe:a9fe]',
      'localhost',
      'a.LocalHost.',
    ];
    for (const host of hosts) {
      assert.partialDeepStrictEqual(
        await post(sender, new URL(`http://${host}:8080`).origin),
        { kind: 'permanent', reason: 'address-not-allowed' },
        host,
      );
    }
  });
});

describe('a proxy that', () => {
  const answers = (text: string) => (socket: Socket) => {
    socket.once('data', () => socket.end(text));
  };
  const tooLong = `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`;
  const cases: readonly [does: string, onConnection: (socket: Socket) => void, expected: object][] = [
    ['answers 407', answers('HTTP/1.1 407 Who\r\n\r\n'), unauthorized],
    ['answers 502', answers('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n'), refused],
    ['answers garbage', answers('SSH-2.0-OpenSSH_9.2\r\n'), unreachable],
    ['answers with too many headers', answers(tooLong), unreachable],
    ['closes the connection', answers(''), unreachable],
    ['resets the connection', (socket) => socket.once('data', () => socket.resetAndDestroy()), unreachable],
  ];
  for (const [does, onConnection, expected] of cases) {
    test(`${does} is ${expected === unreachable ? 'none' : 'heard'}`, async (t) => {
      const { host } = await startRawServer(t, onConnection);
      const sender = openSender(t, { proxy: { url: `http://${host}` } });
      assert.partialDeepStrictEqual(await post(sender, receiverUrl), expected);
    });
  }

  const slow: readonly [does: string, onConnection: (socket: Socket) => void][] = [
    ['hangs', () => undefined],
    [
      'trickles',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nX: ');
        writeForEver(socket, 'x');
      },
    ],
  ];
  for (const [does, onConnection] of slow) {
    test(`${does} is as slow as its receiver may be, and the connection is closed`, async (t) => {
      const { host, hungUp } = await startRawServer(t, onConnection);
      const sender = openSender(t, { proxy: { url: `http://${host}` }, timeoutMs: briefMs });
      assert.deepEqual(await post(sender, receiverUrl), {
        kind: 'retryable',
        reason: 'timeout',
        detail: `no answer from the proxy within ${briefMs} ms`,
      });
      await hungUp;
    });
  }

  test('cannot be connected to, or has no address, is not reached', async (t) => {
    for (const url of [`http://127.0.0.1:${await closedPort()}`, `http://${'a'.repeat(64)}.invalid:3128`]) {
      assert.partialDeepStrictEqual(await post(openSender(t, { proxy: { url } }), receiverUrl), unreachable);
    }
  });
});
