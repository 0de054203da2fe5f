import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainAddress, trustProxies } from './client-address.ts';

const proxies = trustProxies([
  { address: '10.0.0.0', prefix: 8, family: 'ipv4' },
  { address: 'fd00::', prefix: 8, family: 'ipv6' },
]);

test('the client is the last address of X-Forwarded-For that is not of a trusted proxy', () => {
  const chains: [peer: string | undefined, forwarded: string | undefined, client: string | undefined][] = [
    ['203.0.113.7', undefined, '203.0.113.7'],
    ['203.0.113.7', '198.51.100.1', '203.0.113.7'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['::ffff:10.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['fd00::1', '203.0.113.7,10.0.0.2 , fd12::3', '203.0.113.7'],
    ['10.0.0.1', '198.51.100.1, 203.0.113.7, 10.0.0.2', '203.0.113.7'],
    ['10.0.0.1', '203.0.113.7, , 10.0.0.2,', '203.0.113.7'],
    ['10.0.0.1', ',', '10.0.0.1'],
    ['10.0.0.1', ',203.0.113.7', '203.0.113.7'],
    ['10.0.0.1', ',10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', `${'x,'.repeat(8_000)}203.0.113.7`, '203.0.113.7'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['10.0.0.1', '203.0.113.7:4711, 10.0.0.2:80', '203.0.113.7'],
    ['10.0.0.1', '[2001:DB8::0:7]:4711', '2001:db8::7'],
    ['10.0.0.1', '[2001:db8::7]', '2001:db8::7'],
    ['10.0.0.1', '::ffff:203.0.113.7, ::ffff:10.0.0.2', '203.0.113.7'],
    ['10.0.0.1', 'fe80::7%eth0', 'fe80::7'],
    [undefined, '203.0.113.7', undefined],
  ];
  for (const [peer, forwarded, client] of chains) {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    assert.equal(proxies.clientOf(peer, headers), client, `${peer ?? ''} for ${forwarded ?? ''}`);
  }
});

test('no text that is not an address becomes the address of a client', () => {
  const texts = [
    'unknown',
    '_hidden',
    '<script>',
    '203.0.113',
    '203.0.113.256',
    '0x7f.1',
    '1'.repeat(16_000),
    '203.0.113.7:',
    '[203.0.113.7]:x',
    '[::1',
    '2001:db8::7:4711:x',
    '"203.0.113.7"',
    'for=203.0.113.7',
  ];
  for (const text of texts) {
    assert.equal(proxies.clientOf('10.0.0.1', { 'x-forwarded-for': text }), undefined, text.slice(0, 40));
    const behind = { 'x-forwarded-for': `198.51.100.1, ${text}, 10.0.0.2` };
    assert.equal(proxies.clientOf('10.0.0.1', behind), undefined, 'and nothing before it is believed');
  }
});

test('a proxy is trusted in every notation of its address', () => {
  for (const address of ['10.0.0.1', '::ffff:10.0.0.1', '::FFFF:A00:1', 'fd00::1', 'FD00:0::1%eth0']) {
    assert.equal(proxies.trusts(address), true, address);
  }
  for (const address of ['11.0.0.1', '::10.0.0.1', 'fe80::1', '', 'proxy']) {
    assert.equal(proxies.trusts(address), false, address);
  }
  assert.equal(trustProxies([]).trusts('127.0.0.1'), false);
});

test('an address is written in one form', () => {
  assert.equal(plainAddress('0:0:0:0:0:FFFF:CB00:7107'), '203.0.113.7');
  assert.equal(plainAddress('2001:DB8:0:0:1:0:0:7%en0'), '2001:db8::1:0:0:7');
});
