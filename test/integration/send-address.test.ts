/** The sender never dials a refused address, in any notation and with any answer of a name server. */
import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import type { LookupAddress } from 'node:dns';
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, test, type TestContext } from 'node:test';
import { createAddressPolicy, createNameLookup, type NameLookup } from '@tailrace/webhook';
import * as answers from '../support/receivers/answers.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { briefMs, openSender, post } from '../support/receivers/sender.ts';

const onlyPublic = createAddressPolicy([]);
const onlyFirst = createAddressPolicy([{ address: '127.0.0.1', prefix: 32, family: 'ipv4' }]);
const notAllowed = { kind: 'permanent', reason: 'address-not-allowed' };

/** Answers the nth look-up with the nth of `lists`, and later ones with the last. */
function nameServer(...lists: readonly (readonly string[])[]): NameLookup {
  let asked = 0;
  return createNameLookup({
    freshMs: 0,
    resolve: () => {
      const addresses = lists[Math.min(asked++, lists.length - 1)] ?? [];
      return Promise.resolve(
        addresses.map((address): LookupAddress => ({ address, family: isIPv6(address) ? 6 : 4 })),
      );
    },
  });
}

/** Counts the sockets that the process opens from now on. */
function countDialled(t: TestContext): () => number {
  let count = 0;
  const onSocket = (): void => {
    count += 1;
  };
  channel('net.client.socket').subscribe(onSocket);
  t.after(() => {
    channel('net.client.socket').unsubscribe(onSocket);
  });
  return () => count;
}

describe('7.5 an address that is not allowed', () => {
  const forms = [
    '127.0.0.1',
    'localhost',
    '2130706433',
    '0x7f.1',
    '0x7f000001',
    '0177.0.0.1',
    '017700000001',
    '127.1',
    '0',
    '0.0.0.0',
    '１２７.０.０.１',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
    '[::ffff:0.0.0.0]',
  ];
  // Without IPv6 on the machine, no receiver listens on these.
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const formsOfIpv6 = interfaces.some(({ address }) => address === '::1') ? ['[::1]', '[::]', '[0::0]'] : [];

  // Each of these would reach the receiver if the policy allowed it.
  for (const host of [...forms, ...formsOfIpv6]) {
    test(`is not dialled as ${host}`, async (t) => {
      await using receiver = await startReceiver(formsOfIpv6.includes(host) ? { address: '::1' } : {});
      for (const scheme of ['http', 'https']) {
        const { origin } = new URL(`${scheme}://${host}:${receiver.port}`);
        const answer = await post(openSender(t, { policy: onlyPublic }), origin);
        assert.partialDeepStrictEqual(answer, notAllowed);
      }
      // The receiver accepts connections in order, so an earlier one would have been accepted by now.
      const everywhere = createAddressPolicy([
        { address: '0.0.0.0', prefix: 0, family: 'ipv4' },
        { address: '::', prefix: 0, family: 'ipv6' },
      ]);
      const { origin } = new URL(`http://${host}:${receiver.port}`);
      assert.partialDeepStrictEqual(await post(openSender(t, { policy: everywhere }), origin), {
        kind: 'success',
      });
      assert.equal(receiver.connections.items.length, 1);
    });
  }

  const addresses: Readonly<Record<string, readonly string[]>> = {
    'this host': ['127.0.0.1', '127.255.255.254', '0.0.0.0', '::1', '::', '::ffff:127.0.0.1'],
    'private networks': [
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      'fd12:3456::1',
      'fec0::1',
    ],
    'link-local': ['169.254.0.1', 'fe80::1'],
    'metadata services': [
      '169.254.169.254',
      '100.100.100.200',
      '192.0.0.192',
      '168.63.129.16',
      'fd00:ec2::254',
      'fd20:ce::254',
      '::ffff:168.63.129.16',
    ],
    'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
    multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
    'broadcast or reserved': ['255.255.255.255', '240.0.0.1'],
    'documentation or benchmarks': ['192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '2001:db8::1'],
    'an IPv4 address inside an IPv6 one': [
      '::ffff:10.0.0.1',
      '::ffff:a9fe:a9fe',
      '64:ff9b::7f00:1',
      '64:ff9b:1::1',
      '2002:7f00:1::',
      '::7f00:1',
      '2001:0:7f00:1::',
      '::ffff:0:127.0.0.1',
    ],
  };
  for (const [what, list] of Object.entries(addresses)) {
    test(`(${what}) opens no socket`, async (t) => {
      const dialled = countDialled(t);
      const sender = openSender(t, { policy: onlyPublic });
      for (const address of list) {
        const host = isIPv6(address) ? `[${address}]` : address;
        assert.partialDeepStrictEqual(await post(sender, `http://${host}:9`), notAllowed, address);
        assert.partialDeepStrictEqual(await post(sender, `https://${host}:9`), notAllowed, address);
      }
      assert.equal(dialled(), 0);
    });

    test(`(${what}) is not dialled for a name either`, async (t) => {
      for (const address of list) {
        const sender = openSender(t, {
          policy: onlyPublic,
          lookup: nameServer([address]),
        });
        const answer = await post(sender, 'http://receiver.example:9');
        assert.partialDeepStrictEqual(answer, notAllowed, address);
      }
    });
  }

  test('does not prevent dialling another address of the name that is allowed', async (t) => {
    await using receiver = await startReceiver();
    const lookup = nameServer(['10.0.0.1', '::1', '127.0.0.1', '169.254.169.254']);
    const sender = openSender(t, { lookup, policy: onlyFirst });
    const answer = await post(sender, `http://receiver.example:${receiver.port}`);
    assert.deepEqual(answer, { kind: 'success', status: 200 });
  });
});

describe('a name whose address changes', () => {
  test('7.5 to a refused one is not dialled, because the address of each connection is checked', async (t) => {
    await using allowed = await startReceiver({ answer: () => answers.status(200, { connection: 'close' }) });
    await using forbidden = await startReceiver({ address: '127.0.0.2', port: allowed.port });
    const lookup = nameServer(['127.0.0.1'], ['127.0.0.2']);
    const sender = openSender(t, { lookup, policy: onlyFirst });
    const origin = `http://receiver.example:${allowed.port}`;
    assert.partialDeepStrictEqual(await post(sender, origin), { kind: 'success' });
    assert.partialDeepStrictEqual(await post(sender, origin), notAllowed);
    assert.equal(allowed.requests.length, 1);
    assert.equal(forbidden.connections.items.length, 0);
  });

  test('is followed when the connection to the former address has reached its maximum age', async (t) => {
    await using former = await startReceiver();
    await using present = await startReceiver({ address: '127.0.0.2', port: former.port });
    const lookup = nameServer(['127.0.0.1'], ['127.0.0.2']);
    const sender = openSender(t, { lookup, maxConnectionAgeMs: 0 });
    for (let count = 0; present.requests.length === 0; count += 1) {
      assert.ok(count < 3, 'a connection serves at most two requests after its maximum age');
      await post(sender, `http://receiver.example:${former.port}`);
    }
    assert.equal(former.connections.items.length, 1);
  });

  test('is looked up only when a connection is dialled', async (t) => {
    await using receiver = await startReceiver();
    let asked = 0;
    const lookup: NameLookup = () => {
      asked += 1;
      return Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
    };
    const sender = openSender(t, { lookup });
    for (let count = 0; count < 5; count += 1) await post(sender, `http://receiver.example:${receiver.port}`);
    assert.equal(asked, 1);
  });
});

test('a look-up that never ends is a timeout', async (t) => {
  const lookup: NameLookup = () => new Promise(() => undefined);
  const answer = await post(openSender(t, { lookup, timeoutMs: briefMs }), 'http://receiver.example');
  assert.partialDeepStrictEqual(answer, { kind: 'retryable', reason: 'timeout' });
});
