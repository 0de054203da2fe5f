/** Tokens of destinations with `oauth2`, from a real authorization server, and from servers that misbehave. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { Destination } from '@tailrace/config';
import { eventually } from '@tailrace/testing';
import {
  createAddressPolicy,
  describeExchange,
  requestHeaders,
  targetsOf,
  type Answer,
  type Sender,
} from '@tailrace/webhook';
import * as answers from '../support/receivers/answers.ts';
import {
  startAuthorizationServer,
  startGuardedReceiver,
  tokenOf,
} from '../support/receivers/authorization-server.ts';
import { certificates } from '../support/receivers/certificates.ts';
import { closedPort, startReceiver } from '../support/receivers/receiver.ts';
import { briefMs, openSender, startRawServer, writeForEver } from '../support/receivers/sender.ts';

const body = Buffer.from('{"type":"track"}');
const keep = { bodyBytes: 1_024, which: 'all' } as const;

function destinationOf(id: string, url: string, settings: Partial<Destination['settings']>): Destination {
  return { id, type: 'Webhooks', enabled: true, sources: [], settings: { ...settings, webhooks: [{ url }] } };
}

/** As delivery and the test event of control send it. */
function send(sender: Sender, destination: Destination): Promise<Answer> {
  const [target] = targetsOf(destination);
  assert.ok(target);
  const headers = requestHeaders(destination, target, body, { deliveryId: 'd-1', startedAt: 0 });
  return sender.send({ ...target, destinationId: destination.id, headers, body, keep });
}

function sendMany(sender: Sender, destination: Destination, count: number): Promise<(number | undefined)[]> {
  return Promise.all(Array.from({ length: count }, async () => (await send(sender, destination)).status));
}

/** Stops the clock of the states of tokens, and returns how to advance it. */
function stopClock(t: TestContext): (ms: number) => void {
  let now = 1_000;
  t.mock.method(performance, 'now', () => now);
  return (ms) => {
    now += ms;
  };
}

describe('7.12 with an authorization server', () => {
  for (const authMethod of ['client_secret_basic', 'client_secret_post'] as const) {
    test(`requests that wait together share one token, which ${authMethod} gets`, async (t) => {
      await using server = await startAuthorizationServer({ authMethod });
      await using receiver = await startGuardedReceiver(server);
      const sender = openSender(t);
      const destination = destinationOf('crm', receiver.url, { oauth2: server.oauth2 });
      assert.deepEqual(await sendMany(sender, destination, 20), Array(20).fill(200));
      assert.deepEqual(await sendMany(sender, destination, 5), Array(5).fill(200));
      assert.equal(server.asked, 1);
      assert.deepEqual(sender.tokenRequests, { fetched: 1, failed: 0 });
      const [token, ...others] = new Set(receiver.requests.map(tokenOf));
      assert.deepEqual(others, []);
      const { clientId, scope, aud } = (await server.find(token ?? '')) ?? {};
      assert.deepEqual([clientId, scope, aud], ['tail race', 'events:write', 'https://crm.example.com/']);
    });
  }

  test('a token is renewed before it ends, without a request that waits', async (t) => {
    await using server = await startAuthorizationServer({ lifetimeSeconds: 1_000 });
    await using receiver = await startGuardedReceiver(server);
    const sender = openSender(t);
    const destination = destinationOf('crm', receiver.url, { oauth2: server.oauth2 });
    const pass = stopClock(t);
    await send(sender, destination);
    pass(740_000);
    await send(sender, destination);
    assert.equal(server.asked, 1);
    pass(20_000);
    await sendMany(sender, destination, 10);
    await eventually(() => sender.tokenRequests.fetched === 2);
    await send(sender, destination);
    const tokens = receiver.requests.map(tokenOf);
    assert.equal(tokens[2], tokens[0]);
    assert.notEqual(tokens.at(-1), tokens[0]);
  });

  test('a token that was revoked is replaced once, and the refused requests are sent again with the new one', async (t) => {
    await using server = await startAuthorizationServer();
    await using receiver = await startGuardedReceiver(server);
    const sender = openSender(t);
    const destination = destinationOf('crm', receiver.url, { oauth2: server.oauth2 });
    await send(sender, destination);
    await server.revoke(tokenOf(receiver.requests[0] ?? assert.fail()));
    assert.deepEqual(await sendMany(sender, destination, 20), Array(20).fill(200));
    assert.equal(server.asked, 2);
    assert.ok(receiver.requests.length <= 1 + 2 * 20);
  });

  test('a receiver that refuses every token gets each request, one of them twice, and the server is asked once more', async (t) => {
    await using server = await startAuthorizationServer();
    await using receiver = await startReceiver({ answer: () => answers.status(401) });
    const sender = openSender(t);
    stopClock(t);
    const destination = destinationOf('crm', receiver.url, { oauth2: server.oauth2 });
    for (let nth = 0; nth < 5; nth += 1) {
      assert.partialDeepStrictEqual(await send(sender, destination), {
        kind: 'permanent',
        reason: 'client-error',
        status: 401,
      });
    }
    assert.equal(server.asked, 2);
    assert.equal(receiver.requests.length, 6);
  });

  test('a receiver that refuses the last token there is has its status in the failure', async (t) => {
    await using server = await startAuthorizationServer();
    await using receiver = await startGuardedReceiver(server);
    const sender = openSender(t);
    const destination = destinationOf('crm', receiver.url, { oauth2: server.oauth2 });
    await send(sender, destination);
    await server.revoke(tokenOf(receiver.requests[0] ?? assert.fail()));
    server.instead = answers.status(503);
    const failed = await send(sender, destination);
    assert.partialDeepStrictEqual(failed, { kind: 'retryable', reason: 'token-unavailable', status: 401 });
  });

  test('a receiver that sends back what it got shows no token', async (t) => {
    await using server = await startAuthorizationServer();
    await using receiver = await startReceiver({
      answer: (request) => answers.status(400, { server: tokenOf(request) }, `got ${tokenOf(request)}`),
    });
    const destination = destinationOf('crm', receiver.url, { oauth2: server.oauth2 });
    const { exchange } = await send(openSender(t), destination);
    assert.ok(exchange);
    await exchange.ended;
    const [target] = targetsOf(destination);
    assert.ok(target);
    const shown = describeExchange(exchange, { target, requestHeaders: [], latencyMs: 1 });
    assert.partialDeepStrictEqual(shown, {
      requestHeaders: { Authorization: '********' },
      responseHeaders: { server: '********' },
      responseBody: 'got ********',
    });
    assert.ok(!JSON.stringify(shown).includes(tokenOf(receiver.requests[0] ?? assert.fail())));
  });

  test('its certificate is verified, also with an authority of the destination', async (t) => {
    const { unknownAuthority, stranger, selfSigned } = certificates();
    await using server = await startAuthorizationServer({ tls: unknownAuthority });
    await using receiver = await startGuardedReceiver(server);
    const sender = openSender(t);
    const { oauth2 } = server;
    const stopped = await send(sender, destinationOf('crm', receiver.url, { oauth2 }));
    assert.partialDeepStrictEqual(stopped, { kind: 'retryable', reason: 'token-unavailable' });
    assert.match(detailOf(stopped), /untrusted-certificate/);
    const trusting = destinationOf('trusting', receiver.url, { oauth2, tls: { ca: stranger } });
    assert.equal((await send(sender, trusting)).status, 200);
    await using impostor = await startAuthorizationServer({ tls: selfSigned });
    const misled = await send(sender, destinationOf('misled', receiver.url, { oauth2: impostor.oauth2 }));
    assert.match(detailOf(misled), /self-signed-certificate/);
    assert.equal(impostor.asked, 0);
  });
});

function detailOf(answer: Answer): string {
  return answer.kind === 'success' ? '' : (answer.detail ?? '');
}

describe('7.12 a token server that fails is a temporary failure with a reason of its own', () => {
  test('and sends nothing to the receiver, is asked once a second at most, and costs no other destination', async (t) => {
    await using server = await startAuthorizationServer();
    await using receiver = await startGuardedReceiver(server);
    const sender = openSender(t);
    const { oauth2 } = server;
    const wrong = destinationOf('wrong', receiver.url, {
      oauth2: { ...oauth2, clientSecret: 'S3CRET-wrong' },
    });
    const pass = stopClock(t);
    const [failed] = await Promise.all(Array.from({ length: 20 }, () => send(sender, wrong)));
    assert.deepEqual(failed, {
      kind: 'retryable',
      reason: 'token-unavailable',
      detail: `the token server ${oauth2.tokenUrl} refuses a token with status 401 (invalid_client: client authentication failed)`,
    });
    await send(sender, wrong);
    assert.equal(server.asked, 1);
    assert.equal((await send(sender, destinationOf('right', receiver.url, { oauth2 }))).status, 200);
    assert.equal(receiver.requests.length, 1);
    pass(1_000);
    server.instead = answers.status(503);
    assert.match(detailOf(await send(sender, wrong)), /refuses a token with status 503/);
    assert.equal(server.asked, 3);
    assert.deepEqual(sender.tokenRequests, { fetched: 1, failed: 2 });
  });

  const cases: [what: string, answer: answers.Answer, detail: RegExp, timeoutMs?: number][] = [
    ['redirects', answers.redirect(307, 'http://127.0.0.1:1/'), /refuses a token with status 307/],
    ['hangs', answers.never, /cannot be used: timeout/, briefMs],
    ['ends the connection', answers.reset, /cannot be used: connection-reset/],
    ['answers with HTML', answers.status(200, {}, '<html>'), /without a valid access_token/],
    ['answers without a token', answers.status(200, {}, '{"expires_in":9}'), /without a valid access_token/],
    [
      'answers with a header in its token',
      answers.status(200, {}, '{"access_token":"a\\r\\nX-Admin: 1"}'),
      /without a valid access_token/,
    ],
    [
      'sends the secret back',
      answers.status(400, {}, '{"error":"S3CRET-client","error_description":"S3CRET-client"}'),
      /status 400 \(\*{8}: \*{8}\)$/,
    ],
    ['answers with much', answers.hugeBody(200, 4 * 2 ** 20), /more than 16384 bytes, or not to the end/],
    [
      'trickles',
      (response) => {
        response.writeHead(200).flushHeaders();
        writeForEver(response.socket ?? assert.fail(), '1\r\n \r\n');
      },
      /more than 16384 bytes, or not to the end|timeout/,
      briefMs,
    ],
  ];
  for (const [what, answer, detail, timeoutMs] of cases) {
    test(`when it ${what}`, async (t) => {
      await using server = await startReceiver({ answer: () => answer });
      await using receiver = await startReceiver();
      const oauth2 = {
        tokenUrl: `${server.url}/token?a=S3CRET`,
        clientId: 'crm',
        clientSecret: 'S3CRET-client',
      };
      const destination = destinationOf('crm', receiver.url, { oauth2 });
      const failed = await send(openSender(t, timeoutMs === undefined ? {} : { timeoutMs }), destination);
      assert.partialDeepStrictEqual(failed, { kind: 'retryable', reason: 'token-unavailable' });
      assert.match(detailOf(failed), detail);
      assert.doesNotMatch(detailOf(failed), /S3CRET/);
      assert.equal(receiver.requests.length, 0);
    });
  }

  test('but an egress proxy that is not reached has its own reason, and is not used with `proxy: none`', async (t) => {
    await using server = await startAuthorizationServer();
    await using receiver = await startGuardedReceiver(server);
    const sender = openSender(t, { proxy: { url: `http://127.0.0.1:${await closedPort()}` } });
    const proxied = destinationOf('crm', receiver.url, { oauth2: server.oauth2 });
    const failed = await send(sender, proxied);
    assert.partialDeepStrictEqual(failed, { kind: 'retryable', reason: 'proxy-unreachable' });
    assert.equal(server.asked, 0);
    assert.equal((await send(sender, { ...proxied, id: 'direct', proxy: 'none' })).status, 200);
  });

  test('when it is not there, or its address is not allowed', async (t) => {
    const port = await closedPort();
    const { host, sockets } = await startRawServer(t, () => undefined);
    const failure = async (policy: object, place: string): Promise<string> => {
      const oauth2 = { tokenUrl: `http://${place}/token`, clientId: 'crm', clientSecret: 's' };
      const destination = destinationOf('crm', 'https://crm.example.com/', { oauth2 });
      return detailOf(await send(openSender(t, policy), destination));
    };
    assert.match(await failure({}, `127.0.0.1:${port}`), /cannot be used: connection-refused/);
    const policy = createAddressPolicy([]);
    assert.match(await failure({ policy }, host), /cannot be used: address-not-allowed/);
    assert.equal(sockets.length, 0);
  });
});
