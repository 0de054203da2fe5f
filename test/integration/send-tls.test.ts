/** The sender over TLS: trusted authorities, client certificates, and their separation between destinations. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { getCACertificates, setDefaultCACertificates, TLSSocket, type PeerCertificate } from 'node:tls';
import type { TlsSettings } from '@tailrace/config';
import { createNameLookup, createPools, type Answer } from '@tailrace/webhook';
import { certificates, type Certificate } from '../support/receivers/certificates.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { limitMs } from '@tailrace/testing';
import { loopback, openSender, post } from '../support/receivers/sender.ts';

const { authority, client, trusted } = certificates();
const clientTls: TlsSettings = { clientCertificate: client.cert, clientKey: client.key };

interface SecureServer {
  readonly origin: string;
  /** The name in the client certificate of each request. Undefined without a certificate. */
  readonly clients: readonly (string | undefined)[];
}

async function startSecureServer(t: TestContext, options: ServerOptions): Promise<SecureServer> {
  const clients: (string | undefined)[] = [];
  const server = createServer({ ...trusted, ...options }, ({ socket }, response) => {
    assert.ok(socket instanceof TLSSocket);
    // Without a certificate the object is empty, although the type has no such case.
    const { subject } = socket.getPeerCertificate() as Partial<PeerCertificate>;
    clients.push(subject && String(subject.CN));
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, clients };
}

describe('over TLS', () => {
  test('a certificate of a known authority is accepted', async (t) => {
    await using receiver = await startReceiver({ tls: certificates().trusted });
    assert.deepEqual(await post(openSender(t), receiver.url), { kind: 'success', status: 200 });
  });

  test('an unknown authority is not trusted', async (t) => {
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

  test('a version before 1.2 is not used', async (t) => {
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
    const { origin, clients } = await startSecureServer(t, old);
    for (const tls of [undefined, clientTls]) {
      const answer = await post(openSender(t), origin, { ...(tls && { tls }) });
      assert.partialDeepStrictEqual(answer, { kind: 'retryable', reason: 'connection-failed' });
    }
    assert.equal(clients.length, 0);
  });

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    test(`version ${version.slice(4)} is used`, async (t) => {
      const { origin } = await startSecureServer(t, { minVersion: version, maxVersion: version });
      assert.partialDeepStrictEqual(await post(openSender(t), origin), { kind: 'success' });
    });
  }
});

describe('an authority of the destination', () => {
  test('is trusted for that destination only, in either order of requests', async (t) => {
    const sender = openSender(t, { authorities: [] });
    await using receiver = await startReceiver({ tls: trusted });
    const own = () => post(sender, receiver.url, { tls: { ca: authority } });
    const other = () => post(sender, receiver.url);
    for (const [request, kind] of [
      [other, 'permanent'],
      [own, 'success'],
      [other, 'permanent'],
      [own, 'success'],
    ] as const) {
      assert.equal((await request()).kind, kind);
    }
    assert.equal(receiver.requests.length, 2);
  });

  test("may be the receiver's own certificate", async (t) => {
    await using receiver = await startReceiver({ tls: certificates().selfSigned });
    const answer = await post(openSender(t), receiver.url, { tls: { ca: certificates().selfSigned.cert } });
    assert.partialDeepStrictEqual(answer, { kind: 'success' });
  });

  test('is trusted in addition to those of Node', async (t) => {
    const defaults = getCACertificates('default');
    t.after(() => {
      setDefaultCACertificates(defaults);
    });
    setDefaultCACertificates([...defaults, authority]);
    const sender = openSender(t, { authorities: [] });
    for (const tls of [trusted, certificates().selfSigned]) {
      await using receiver = await startReceiver({ tls });
      const answer = await post(sender, receiver.url, { tls: { ca: certificates().selfSigned.cert } });
      assert.partialDeepStrictEqual(answer, { kind: 'success' });
    }
  });

  test('does not allow another name or an expired certificate', async (t) => {
    for (const [tls, reason] of [
      [certificates().misnamed, 'misnamed-certificate'],
      [certificates().expired, 'certificate-expired'],
    ] as const) {
      await using receiver = await startReceiver({ tls });
      const answer = await post(openSender(t), receiver.url, { tls: { ca: authority } });
      assert.partialDeepStrictEqual(answer, { reason });
    }
  });
});

describe('a client certificate', () => {
  const wanted: ServerOptions = { requestCert: true, rejectUnauthorized: true, ca: authority };

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    test(`is presented only for the destination that has it, with ${version}`, async (t) => {
      const { origin, clients } = await startSecureServer(t, { ...wanted, maxVersion: version });
      const sender = openSender(t);
      assert.equal((await post(sender, origin)).kind, 'retryable');
      assert.equal((await post(sender, origin, { tls: clientTls })).kind, 'success');
      assert.equal((await post(sender, origin)).kind, 'retryable');
      assert.deepEqual(clients, ['tailrace']);
    });
  }

  test('keeps its connection where new settings have the same content', async (t) => {
    await using receiver = await startReceiver({ tls: trusted });
    const sender = openSender(t);
    for (let count = 0; count < 3; count += 1) {
      await post(sender, receiver.url, { tls: structuredClone(clientTls) });
    }
    assert.equal(receiver.connections.items.length, 1);
  });

  test('that is invalid is a retryable failure', async (t) => {
    const tls = { clientCertificate: client.cert, clientKey: 'rubbish' };
    const answer = await post(openSender(t), 'https://127.0.0.1:1', { tls });
    assert.partialDeepStrictEqual(answer, { kind: 'retryable', reason: 'connection-failed' });
  });
});

describe('connection groups with their own TLS settings', () => {
  const pools = (t: TestContext) => {
    const created = createPools({
      policy: loopback,
      lookup: createNameLookup(),
      timeoutMs: limitMs,
      maxConnectionAgeMs: limitMs,
      unusedGroupMs: 0,
      authorities: [],
    });
    t.after(() => created.close());
    return created;
  };

  /** That many different settings. Text between certificates is allowed. */
  const settingsOf = (count: number, padding = ''): TlsSettings[] =>
    Array.from({ length: count }, (_, nth) => ({ ca: `# ${nth}${padding}\n${authority}` }));

  test('are kept for a thousand destinations with an authority of their own', (t) => {
    const opened = pools(t);
    const settings = settingsOf(1_000);
    const groups = settings.map((tls) => opened.groupFor(tls));
    assert.equal(new Set(groups).size, 1_000);
    assert.ok(settings.every((tls, nth) => opened.groupFor(tls) === groups[nth]));
  });

  test('are bounded in memory: the least recently used one is closed', (t) => {
    const opened = pools(t);
    const [first, second, ...others] = settingsOf(300, '.'.repeat(64 * 1024));
    const [used, unused] = [opened.groupFor(first), opened.groupFor(second)];
    for (const tls of others) {
      opened.groupFor(tls);
      assert.equal(opened.groupFor(first), used);
    }
    assert.notEqual(opened.groupFor(second), unused);
  });

  test('are closed when they were unused for long', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const opened = pools(t);
    const groupFor = (tls?: TlsSettings) => opened.groupFor(tls);
    const group = groupFor(clientTls);
    assert.equal(groupFor(clientTls), group);
    t.mock.timers.tick(60_000);
    assert.notEqual(groupFor(clientTls), group);
    assert.equal(groupFor(undefined), groupFor(undefined));
  });
});
