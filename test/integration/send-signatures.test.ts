/** The signatures of a webhook, verified as a receiver does, with the public Standard Webhooks library. */
import assert from 'node:assert/strict';
import { createPublicKey, randomBytes, verify as verifyBytes } from 'node:crypto';
import { describe, test, type TestContext } from 'node:test';
import { newSigningKey, readSigningKey, type Destination } from '@tailrace/config';
import { verifySignature } from '@tailrace/signing';
import { Webhooks } from '@octokit/webhooks';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import Stripe from 'stripe';
import { requestHeaders, targetsOf } from '@tailrace/webhook';
import { verifySignature as verifyAsReceiver } from '../../packages/analytics-node/src/node/verify-signature.ts';
import { startReceiver, type ReceivedRequest } from '../support/receivers/receiver.ts';
import { openSender } from '../support/receivers/sender.ts';

const body = '{"version":1,"type":"track","userId":"u-1","properties":{"name":"Zoë 🚀","total":1.0}}';

/** Sends one attempt for a destination with these settings, and returns the received request. */
async function receive(
  t: TestContext,
  settings: Omit<Destination['settings'], 'webhooks'>,
  startedAt = Date.now(),
): Promise<ReceivedRequest> {
  await using receiver = await startReceiver();
  const destination: Destination = {
    id: 'crm',
    type: 'Webhooks',
    enabled: true,
    sources: [],
    settings: { ...settings, webhooks: [{ url: `${receiver.url}/hook` }] },
  };
  const [target] = targetsOf(destination);
  assert.ok(target);
  const bytes = Buffer.from(body);
  const headers = requestHeaders(destination, target, bytes, { deliveryId: 'd-1', startedAt });
  await openSender(t).send({ ...target, destinationId: destination.id, headers, body: bytes });
  const [request] = await receiver.waitFor(1);
  assert.ok(request);
  return request;
}

function verify(webhook: Webhook, { headers, body: bytes }: ReceivedRequest): unknown {
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return webhook.verify(bytes, Object.fromEntries(given));
}

describe('a receiver with the Standard Webhooks library', () => {
  const newer = `whsec_${randomBytes(32).toString('base64')}`;
  const older = `whsec_${randomBytes(24).toString('base64')}`;

  test('verifies a request, and finds the delivery by its id', async (t) => {
    const request = await receive(t, { sharedSecret: newer, standardWebhooks: true });
    assert.deepEqual(verify(new Webhook(newer), request), JSON.parse(body));
    assert.equal(request.headers['webhook-id'], 'd-1');
  });

  test('verifies it with either secret during a rotation, and with no other secret', async (t) => {
    const settings = { sharedSecret: newer, previousSharedSecret: older, standardWebhooks: true };
    const request = await receive(t, settings);
    for (const secret of [newer, older]) assert.ok(verify(new Webhook(secret), request));
    const other = new Webhook(`whsec_${randomBytes(32).toString('base64')}`);
    assert.throws(() => verify(other, request), WebhookVerificationError);
  });

  test('verifies it with any text as the secret', async (t) => {
    for (const secret of ['s3cret', 'schlüssel mit Leerzeichen']) {
      const request = await receive(t, { sharedSecret: secret, standardWebhooks: true });
      assert.ok(verify(new Webhook(Buffer.from(secret), { format: 'raw' }), request), secret);
    }
  });

  test('refuses an old attempt, because each attempt has its own timestamp', async (t) => {
    const settings = { sharedSecret: newer, standardWebhooks: true };
    const request = await receive(t, settings, Date.now() - 3_600_000);
    assert.throws(() => verify(new Webhook(newer), request), /too old/);
  });
});

describe('8.7 a receiver with public keys', () => {
  const older = newSigningKey();
  const newer = newSigningKey();
  const publicKeyOf = (key: string): string =>
    `whpk_${Buffer.from(readSigningKey(key)?.jwk.x ?? '', 'base64url').toString('base64')}`;

  /** As the text of Standard Webhooks says, with node:crypto. */
  const verifiesBy = (key: string, { headers, body: bytes }: ReceivedRequest): boolean => {
    const der = Buffer.concat([
      Buffer.from('302a300506032b6570032100', 'hex'),
      Buffer.from(publicKeyOf(key).slice('whpk_'.length), 'base64'),
    ]);
    const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
    const [id, time] = [headers['webhook-id'] ?? '', headers['webhook-timestamp'] ?? ''];
    return (headers['webhook-signature'] ?? '')
      .split(' ')
      .filter((one) => one.startsWith('v1a,'))
      .some((one) =>
        verifyBytes(
          null,
          Buffer.concat([Buffer.from(`${id}.${time}.`), bytes]),
          publicKey,
          Buffer.from(one.slice(4), 'base64'),
        ),
      );
  };

  test('verifies a request without a secret, and with either key during a rotation', async (t) => {
    const request = await receive(t, { ed25519: { key: newer, previousKey: older } });
    for (const key of [newer, older]) {
      assert.ok(verifiesBy(key, request));
      assert.ok(verifyAsReceiver([publicKeyOf(key)], request.body, request.headers));
    }
    assert.equal(verifiesBy(newSigningKey(), request), false);
    assert.equal(request.headers['x-signature'], undefined);
    const old = await receive(t, { ed25519: { key: newer } }, Date.now() - 3_600_000);
    assert.ok(verifiesBy(newer, old));
    assert.equal(verifyAsReceiver([publicKeyOf(newer)], old.body, old.headers), false);
  });

  test('stands beside one with the library of Standard Webhooks', async (t) => {
    const sharedSecret = `whsec_${randomBytes(32).toString('base64')}`;
    const request = await receive(t, { sharedSecret, standardWebhooks: true, ed25519: { key: newer } });
    assert.deepEqual(verify(new Webhook(sharedSecret), request), JSON.parse(body));
    assert.ok(verifiesBy(newer, request));
  });
});

test('X-Signature is sent too, with the newer secret as written', async (t) => {
  const sharedSecret = 'whsec_c2VjcmV0';
  const settings = { sharedSecret, previousSharedSecret: 'older', standardWebhooks: true };
  const { headers, body: bytes } = await receive(t, settings);
  assert.ok(verifySignature(sharedSecret, bytes, headers['x-signature']));
});

describe("8.6 a receiver with a provider's own code", () => {
  const sharedSecret = 'whsec_s3cret';

  test('of GitHub accepts a header of its style', async (t) => {
    const signature = { header: 'X-Hub-Signature-256', algorithm: 'hmac-sha256', prefix: 'sha256=' } as const;
    const { headers, body: bytes } = await receive(t, { sharedSecret, signature });
    const given = headers['x-hub-signature-256'] ?? '';
    const github = new Webhooks({ secret: sharedSecret });
    assert.equal(await github.verify(bytes.toString(), given), true);
    assert.equal(await github.verify(`${bytes.toString()} `, given), false);
    assert.equal(headers['x-signature'], undefined);
    assert.ok(verifyAsReceiver(sharedSecret, bytes, given, signature));
  });

  test('of Stripe accepts a header of its style, with either secret during a rotation, and no old one', async (t) => {
    const scheme = { algorithm: 'hmac-sha256', timestamp: true } as const;
    const settings = {
      sharedSecret,
      previousSharedSecret: 'older',
      signature: { ...scheme, header: 'Stripe-Signature' },
    };
    const { headers, body: bytes } = await receive(t, settings);
    const given = headers['stripe-signature'] ?? '';
    const { webhooks } = new Stripe('sk_test_none');
    for (const secret of [sharedSecret, 'older']) {
      assert.deepEqual(webhooks.constructEvent(bytes, given, secret), JSON.parse(body));
      assert.ok(verifyAsReceiver(secret, bytes, given, scheme));
    }
    assert.throws(() => webhooks.constructEvent(bytes, given, 'other'), /No signatures found/);
    const old = await receive(t, settings, Date.now() - 3_600_000);
    const oldHeader = old.headers['stripe-signature'] ?? '';
    assert.throws(() => webhooks.constructEvent(old.body, oldHeader, sharedSecret), /outside the tolerance/);
    assert.equal(verifyAsReceiver(sharedSecret, old.body, oldHeader, scheme), false);
  });
});

test('7.8 an unsigned receiver finds the delivery by the header of choice', async (t) => {
  const { headers } = await receive(t, { deliveryIdHeader: 'X-Delivery-Id' });
  assert.equal(headers['x-delivery-id'], 'd-1');
});
