import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { describe, test } from 'node:test';
import { createAddressPolicy } from './address.ts';

const strict = createAddressPolicy([]);

/** First and last address of each range. The next test has the addresses just outside. */
const forbidden: Readonly<Record<string, readonly string[]>> = {
  'this host': ['0.0.0.0', '0.255.255.255'],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
  'carrier-grade NAT': ['100.64.0.0', '100.127.255.255'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  'link-local': ['169.254.0.1', '169.254.255.254', 'fe80::1', 'febf::1'],
  'metadata services': [
    '169.254.169.254',
    '169.254.170.2',
    '169.254.170.23',
    '169.254.42.42',
    '100.100.100.200',
    '192.0.0.192',
    '168.63.129.16',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
    'fd00:42::42',
    'fd00:a9fe:a9fe::1',
  ],
  'public addresses used inside a cloud': ['161.26.0.0', '161.26.255.255', '166.8.0.0', '166.11.255.255'],
  'protocol assignments': ['192.0.0.1', '192.0.0.170', '2001::1', '2001:1ff::1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1', '3fff:fff::1'],
  benchmarking: ['198.18.0.0', '198.19.255.255', '2001:2::1'],
  '6to4 relays': ['192.88.99.1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  reserved: ['240.0.0.1', '255.255.255.254'],
  broadcast: ['255.255.255.255'],
  unspecified: ['::'],
  'unique local': ['fc00::1', 'fd12:3456:789a::1', 'fdff:ffff::1'],
  'site-local, retired': ['fec0::1'],
  'discard-only and dummy prefixes': ['100::1', '100:0:0:1::1'],
  'segment routing': ['5f00::1'],
  unallocated: ['200::1', '4000::1', '8000::1', 'e000::1'],
  'IPv4 in IPv6': [
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:7f00:0001',
    '::FFFF:10.0.0.1',
    '::ffff:169.254.169.254',
    '::127.0.0.1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b:1::a00:1',
    '2002:7f00:1::',
    '2001:0:a00:1::1',
    '::ffff:168.63.129.16',
    '64:ff9b::a83f:8110',
    '2002:a83f:8110::1',
  ],
  'with a zone': ['fe80::1%eth0', '::1%lo', '::ffff:127.0.0.1%1'],
};

describe('an address policy without an allow-list', () => {
  for (const [kind, addresses] of Object.entries(forbidden)) {
    test(`refuses ${kind}`, () => {
      for (const address of addresses) assert.equal(strict.allows(address), false, address);
    });
  }

  test('allows public addresses, including those just outside of a refused range', () => {
    for (const address of [
      '1.1.1.1',
      '8.8.8.8',
      '9.255.255.255',
      '11.0.0.0',
      '100.63.255.255',
      '100.128.0.0',
      '168.63.129.15',
      '168.63.129.17',
      '161.25.255.255',
      '161.27.0.0',
      '166.7.255.255',
      '166.12.0.0',
      '126.255.255.255',
      '128.0.0.0',
      '169.253.255.255',
      '169.255.0.0',
      '172.15.255.255',
      '172.32.0.0',
      '192.0.1.0',
      '192.167.255.255',
      '192.169.0.0',
      '198.17.255.255',
      '198.20.0.0',
      '223.255.255.255',
      '2606:4700:4700::1111',
      '2a00:1450:4001::200e',
      '::ffff:8.8.8.8',
      '::ffff:808:808',
    ]) {
      assert.equal(strict.allows(address), true, address);
    }
  });

  test('refuses text that is not an address', () => {
    for (const text of ['', 'localhost', '127.1', '0x7f.0.0.1', '1.1.1.1.1', '::g']) {
      assert.equal(strict.allows(text), false, text);
    }
  });

  test('refuses every notation of a forbidden host in a webhook URL', () => {
    for (const host of [
      '127.0.0.1',
      '2130706433',
      '0x7f000001',
      '017700000001',
      '127.1',
      '127.0.1',
      '0177.0.0.1',
      '0x7f.1',
      '127.000.000.001',
      '127.0.0.1.',
      '１２７.０.０.１',
      '%31%32%37.0.0.1',
      '127。0。0。1',
      '0',
      '0.0.0.0',
      '[::]',
      '[::1]',
      '[0000::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '2852039166',
      '0xa9fea9fe',
      '169.254.43518',
      '[::ffff:a9fe:a9fe]',
    ]) {
      const { hostname } = new URL(`http://${host}/hook`);
      const address = hostname.replace(/^\[|\]$/g, '');
      assert.notEqual(isIP(address), 0, `${host} becomes ${hostname}`);
      assert.equal(strict.allows(address), false, host);
    }
  });
});

describe('an allow-list', () => {
  const policy = createAddressPolicy([
    { address: '127.0.0.0', prefix: 8, family: 'ipv4' },
    { address: '10.1.2.3', prefix: 32, family: 'ipv4' },
    { address: 'fd00:1::', prefix: 32, family: 'ipv6' },
  ]);

  test('opens its networks, in every notation', () => {
    for (const address of [
      '127.0.0.1',
      '127.9.9.9',
      '::ffff:127.0.0.1',
      '10.1.2.3',
      'fd00:1::5',
      'fd00:1::5%1',
    ]) {
      assert.equal(policy.allows(address), true, address);
    }
  });

  test('opens no other network, and closes none', () => {
    for (const address of ['10.1.2.4', '169.254.169.254', '::1', 'fd00:2::5', '64:ff9b::127.0.0.1']) {
      assert.equal(policy.allows(address), false, address);
    }
    assert.equal(policy.allows('8.8.8.8'), true);
  });
});
