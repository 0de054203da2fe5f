import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTarget, resolve } from './targets.ts';

test('a target has a host and a port, and a name or that of its host', () => {
  assert.deepEqual(parseTarget('router=tailrace-router.ns.svc:9465'), {
    service: 'router',
    host: 'tailrace-router.ns.svc',
    port: 9465,
  });
  assert.deepEqual(parseTarget('tailrace-router.ns.svc:9465')?.service, 'tailrace-router');
  assert.deepEqual(parseTarget('10.1.2.3:9465')?.service, '10.1.2.3');
  assert.deepEqual(parseTarget('ingest=[fd00::1]:9464')?.host, 'fd00::1');
  for (const text of [
    '',
    'router',
    'router:',
    ':9465',
    'router:0',
    'router:65536',
    'http://router:9465',
    'a b:1',
  ]) {
    assert.equal(parseTarget(text), undefined, text);
  }
});

const target = { service: 'router', host: 'router', port: 9465 };
const answer =
  (...addresses: string[]) =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));

test('every address of a name is a replica, once', async () => {
  assert.deepEqual(await resolve(target, answer('10.0.0.10', '10.0.0.2', '10.0.0.10')), {
    outcome: 'found',
    replicas: [
      { service: 'router', url: 'http://10.0.0.2:9465' },
      { service: 'router', url: 'http://10.0.0.10:9465' },
    ],
  });
});

test('a pod with an address of both families is one replica', async () => {
  const both = await resolve(target, answer('fd00::2', '10.0.0.2'));
  assert.deepEqual(both, {
    outcome: 'found',
    replicas: [{ service: 'router', url: 'http://10.0.0.2:9465' }],
  });
  const six = await resolve(target, answer('fd00::2'));
  assert.deepEqual(six, {
    outcome: 'found',
    replicas: [{ service: 'router', url: 'http://[fd00::2]:9465' }],
  });
});

test('a name without addresses differs from a name server that does not answer', async () => {
  const fails = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));
  assert.deepEqual(await resolve(target, answer()), { outcome: 'none' });
  assert.deepEqual(await resolve(target, fails('ENOTFOUND')), { outcome: 'none' });
  assert.deepEqual(await resolve(target, fails('EAI_AGAIN')), {
    outcome: 'failed',
    reason: 'DNS answers EAI_AGAIN',
  });
});
