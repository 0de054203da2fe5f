import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Destination } from '@tailrace/config';
import { sign, signStandardWebhook } from '@tailrace/signing';
import { requestHeaders, targetsOf, type Target } from './target.ts';

type Settings = Destination['settings'];

const body = Buffer.from('{"type":"track"}');
const attempt = { deliveryId: 'd-1', startedAt: 1_700_000_000_999 };

function destinationOf(settings: Partial<Settings> = {}): Destination {
  const webhooks = [{ url: 'https://crm.example.com/hook' }];
  return { id: 'crm', type: 'Webhooks', enabled: true, sources: [], settings: { webhooks, ...settings } };
}

function onlyTarget(destination: Destination): Target {
  const [target] = targetsOf(destination);
  assert.ok(target);
  return target;
}

function headersOf(settings: Partial<Settings>): Record<string, string> {
  const destination = destinationOf(settings);
  const flat = requestHeaders(destination, onlyTarget(destination), body, attempt);
  return Object.fromEntries(
    flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? '']] : [])),
  );
}

describe('a target', () => {
  test('is taken apart for sending, and shown without its query', () => {
    const url = 'https://crm.example.com:8443/hook?token=s3cret#part';
    const destination = destinationOf({ webhooks: [{ url, headers: { 'X-A': 'a', 'X-B': 'b' } }] });
    const { fingerprint, ...target } = onlyTarget(destination);
    assert.match(fingerprint, /^[0-9a-f]{16}$/);
    assert.deepEqual(target, {
      shownUrl: 'https://crm.example.com:8443/hook',
      origin: 'https://crm.example.com:8443',
      path: '/hook?token=s3cret',
      headers: ['X-A', 'a', 'X-B', 'b'],
      tls: undefined,
    });
  });

  test('has the TLS settings of its destination where it is one for TLS', () => {
    const tls = { ca: 'PEM' };
    const webhooks = [{ url: 'https://crm.example.com/' }, { url: 'http://crm.example.com/' }];
    assert.deepEqual(
      targetsOf(destinationOf({ tls, webhooks })).map((target) => target.tls),
      [tls, undefined],
    );
  });

  test('has the fingerprint of its whole URL, so that a corrected one is another', () => {
    const fingerprints = ['https://a.example/?b=1', 'https://a.example/?b=2', 'http://a.example/?b=1'].map(
      (url) => onlyTarget(destinationOf({ webhooks: [{ url }] })).fingerprint,
    );
    assert.equal(new Set(fingerprints).size, 3);
  });

  test('is worked out once for each version of its destination', () => {
    const destination = destinationOf();
    assert.equal(targetsOf(destination), targetsOf(destination));
    assert.notEqual(targetsOf(destination), targetsOf(destinationOf()));
  });
});

describe('the headers of a request', () => {
  const always = { 'Content-Type': 'application/json', 'User-Agent': 'Tailrace/1.0' };

  test('are these two where nothing is configured', () => {
    assert.deepEqual(headersOf({}), always);
  });

  test('have the static ones of the URL', () => {
    const webhooks = [{ url: 'https://crm.example.com/', headers: { 'X-Team': 'growth' } }];
    assert.deepEqual(headersOf({ webhooks }), { ...always, 'X-Team': 'growth' });
  });

  test('have the signature of a shared secret, the newer one of two', () => {
    const signed = { ...always, 'X-Signature': sign('newer', body) };
    assert.deepEqual(headersOf({ sharedSecret: 'newer' }), signed);
    assert.deepEqual(headersOf({ sharedSecret: 'newer', previousSharedSecret: 'older' }), signed);
  });

  test('have those of Standard Webhooks where they are asked for, with the time in whole seconds', () => {
    const message = { id: 'd-1', timestamp: 1_700_000_000, body };
    const standard = {
      ...always,
      'X-Signature': sign('newer', body),
      'webhook-id': 'd-1',
      'webhook-timestamp': '1700000000',
    };
    assert.deepEqual(headersOf({ sharedSecret: 'newer', standardWebhooks: true }), {
      ...standard,
      'webhook-signature': signStandardWebhook(['newer'], message),
    });
    const rotating = { sharedSecret: 'newer', previousSharedSecret: 'older', standardWebhooks: true };
    assert.deepEqual(headersOf(rotating), {
      ...standard,
      'webhook-signature': signStandardWebhook(['newer', 'older'], message),
    });
  });
});
