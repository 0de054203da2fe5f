import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newSigningKey, readSigningKey, type Destination } from '@tailrace/config';
import { sign, signEd25519, signStandardWebhook, signWith } from '@tailrace/signing';
import { requestHeaders, targetsOf, type Target } from './target.ts';

type Settings = Destination['settings'];

const body = Buffer.from('{"type":"track"}');
const attempt = { deliveryId: 'd-1', startedAt: 1_700_000_000_999 };

function destinationOf(settings: Partial<Settings> = {}): Destination {
  const webhooks = [{ url: 'https://crm.example.com/hook' }];
  return { id: 'crm', type: 'Webhooks', enabled: true, sources: [], settings: { webhooks, ...settings } };
}

const before = new Date(attempt.startedAt - 1).toISOString();
const after = new Date(attempt.startedAt + 1).toISOString();

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
  test('has the parts of its URL, and is displayed without the query', () => {
    const url = 'https://crm.example.com:8443/hook?token=s3cret#part';
    const destination = destinationOf({ webhooks: [{ url, headers: { 'X-A': 'a', 'X-B': 'b' } }] });
    const { fingerprint, ...target } = onlyTarget(destination);
    assert.match(fingerprint, /^[0-9a-f]{16}$/);
    assert.deepEqual(target, {
      shownUrl: 'https://crm.example.com:8443/hook',
      origin: 'https://crm.example.com:8443',
      path: '/hook?token=s3cret',
      method: 'POST',
      headers: ['X-A', 'a', 'X-B', 'b'],
      tls: undefined,
      tokenServer: undefined,
      timeoutMs: undefined,
      retryOn: undefined,
      proxy: undefined,
    });
  });

  test('has the timeout of its destination, and the statuses that are retried', () => {
    const retry = { on: [409, '5xx'] };
    const { timeoutMs, retryOn } = onlyTarget({ ...destinationOf(), timeout: '2s', retry });
    assert.equal(timeoutMs, 2_000);
    assert.deepEqual(
      [400, 409, 499, 500, 599, 600].map((status) => retryOn?.has(status)),
      [false, true, false, true, true, false],
    );
  });

  test('has the TLS settings of its destination for https only', () => {
    const tls = { ca: 'PEM' };
    const webhooks = [{ url: 'https://crm.example.com/' }, { url: 'http://crm.example.com/' }];
    assert.deepEqual(
      targetsOf(destinationOf({ tls, webhooks })).map((target) => target.tls),
      [tls, undefined],
    );
  });

  test('has a fingerprint of its whole URL, so that a corrected URL has a different one', () => {
    const fingerprints = ['https://a.example/?b=1', 'https://a.example/?b=2', 'http://a.example/?b=1'].map(
      (url) => onlyTarget(destinationOf({ webhooks: [{ url }] })).fingerprint,
    );
    assert.equal(new Set(fingerprints).size, 3);
  });

  test('is cached for each version of its destination', () => {
    const destination = destinationOf();
    assert.equal(targetsOf(destination), targetsOf(destination));
    assert.notEqual(targetsOf(destination), targetsOf(destinationOf()));
  });
});

describe('the headers of a request', () => {
  const always = { 'Content-Type': 'application/json', 'User-Agent': 'Tailrace/1.0' };

  test('are Content-Type and User-Agent by default', () => {
    assert.deepEqual(headersOf({}), always);
  });

  test('include the static headers of the URL', () => {
    const webhooks = [{ url: 'https://crm.example.com/', headers: { 'X-Team': 'growth' } }];
    assert.deepEqual(headersOf({ webhooks }), { ...always, 'X-Team': 'growth' });
  });

  test('7.9 include Authorization, as Basic or Bearer', () => {
    const basic = headersOf({ auth: { username: 'ada', password: 'pässwört:' } });
    const encoded = Buffer.from('ada:pässwört:').toString('base64');
    assert.deepEqual(basic, { ...always, Authorization: `Basic ${encoded}` });
    const bearer = headersOf({ auth: { token: 't0ken' } });
    assert.deepEqual(bearer, { ...always, Authorization: 'Bearer t0ken' });
  });

  test('8.4 include the signature with the shared secret, with the newer one of two', () => {
    const signed = { ...always, 'X-Signature': sign('newer', body) };
    assert.deepEqual(headersOf({ sharedSecret: 'newer' }), signed);
    assert.deepEqual(headersOf({ sharedSecret: 'newer', previousSharedSecret: 'older' }), signed);
    const rotated = { sharedSecret: 'newer', previousSharedSecret: 'older' };
    assert.deepEqual(headersOf({ ...rotated, previousSharedSecretUntil: before }), signed);
    const until = headersOf({ ...rotated, previousSharedSecretUntil: after });
    assert.equal(until['X-Signature'], sign('older', body));
  });

  test('include those of Standard Webhooks where enabled, with the time in whole seconds', () => {
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

  test('8.6 have the signature of the scheme in place of X-Signature, with both secrets where it has a timestamp', () => {
    const rotating = { sharedSecret: 'newer', previousSharedSecret: 'older' };
    const message = { timestamp: 1_700_000_000, body };
    const github = { header: 'X-Hub-Signature-256', algorithm: 'hmac-sha256', prefix: 'sha256=' } as const;
    assert.deepEqual(headersOf({ ...rotating, signature: github }), {
      ...always,
      'X-Hub-Signature-256': signWith(github, ['newer'], message),
    });
    const stripe = { algorithm: 'hmac-sha256', timestamp: true } as const;
    assert.deepEqual(headersOf({ ...rotating, signature: stripe }), {
      ...always,
      'X-Signature': signWith(stripe, ['newer', 'older'], message),
    });
  });

  test('8.7 include an Ed25519 signature, of both keys until the previous one ends, beside those of secrets', () => {
    const [key, previousKey] = [newSigningKey(), newSigningKey()];
    const standard = { ...always, 'webhook-id': 'd-1', 'webhook-timestamp': '1700000000' };
    const message = { id: 'd-1', timestamp: 1_700_000_000, body };
    const signedBy = (...keys: readonly string[]): string =>
      signEd25519(
        keys.flatMap((one) => readSigningKey(one)?.privateKey ?? []),
        message,
      ).join(' ');
    for (const [until, keys] of [
      [undefined, [key, previousKey]],
      [after, [key, previousKey]],
      [before, [key]],
    ] as const) {
      const ed25519 = { key, previousKey, ...(until !== undefined && { previousKeyUntil: until }) };
      assert.deepEqual(headersOf({ ed25519 }), { ...standard, 'webhook-signature': signedBy(...keys) });
    }
    assert.deepEqual(headersOf({ sharedSecret: 's', standardWebhooks: true, ed25519: { key } }), {
      ...standard,
      'X-Signature': sign('s', body),
      'webhook-signature': `${signStandardWebhook(['s'], message)} ${signedBy(key)}`,
    });
  });

  test('7.8 include the delivery id under the name of choice, also without a secret', () => {
    assert.deepEqual(headersOf({ deliveryIdHeader: 'webhook-id' }), { ...always, 'webhook-id': 'd-1' });
  });
});
