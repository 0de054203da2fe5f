/** Options of a destination through the whole pipeline: TLS settings, signatures, fields and retries. */
import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { signWith, verifySignature } from '@tailrace/signing';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import * as answers from '../support/receivers/answers.ts';
import { startAuthorizationServer, startGuardedReceiver } from '../support/receivers/authorization-server.ts';
import { certificates } from '../support/receivers/certificates.ts';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { startPipeline, type Connection, type DestinationSettings } from '../support/processes/pipeline.ts';
import { startReceiver, type ReceivedRequest, type Receiver } from '../support/receivers/receiver.ts';

const pipeline = await startPipeline({
  cluster: new MemoryCluster(),
  retrySchedule: '100ms,100ms,100ms',
  retryWindow: '2m',
});
after(() => pipeline[Symbol.asyncDispose]());

const { authority, client, stranger, trusted, unknownAuthority } = certificates();

/** Sends one track call to a destination with this receiver. */
async function sendTo(
  receiver: Receiver,
  settings: Omit<DestinationSettings, 'webhooks'>,
): Promise<Connection> {
  const connection = await pipeline.connect({ webhooks: [{ url: receiver.url }], ...settings });
  await connection.send('track', { userId: 'ada', event: 'Signed Up' });
  return connection;
}

describe("a destination's own TLS", { concurrency: true }, () => {
  test('a receiver with a certificate of an authority of its own gets the events of the destination that names it', async () => {
    await using receiver = await startReceiver({ tls: unknownAuthority });
    await sendTo(receiver, { tls: { ca: stranger } });
    const [request] = await receiver.waitFor(1);
    assert.equal((request?.json() as { event: string }).event, 'Signed Up');

    const { destinationId } = await sendTo(receiver, {});
    assert.equal((await pipeline.deadLetter(destinationId)).reason, 'untrusted-certificate');
    assert.equal(receiver.requests.length, 1);
  });

  test('a receiver that asks for a client certificate gets the events of the destination that has one, and of no other', async () => {
    await using receiver = await startReceiver({ tls: { ...trusted, clientAuthority: authority } });
    const without = await sendTo(receiver, {});
    await pipeline.attempt(without.destinationId, 'retry');
    const tls = { clientCertificate: client.cert, clientKey: client.key };
    const { destinationId } = await sendTo(receiver, { tls });
    await pipeline.attempt(destinationId, 'delivered');
    // Also after a connection with the certificate was there to be used.
    const letter = await pipeline.deadLetter(without.destinationId);
    assert.equal(letter.reason, 'attempts-exhausted');
    assert.equal(receiver.requests.length, 1);
  });
});

test('7.12 a receiver that asks for a token of an OAuth 2 server gets the events, and those that have none wait with the reason', async () => {
  await using server = await startAuthorizationServer();
  await using receiver = await startGuardedReceiver(server);
  const { destinationId } = await sendTo(receiver, { oauth2: server.oauth2 });
  await pipeline.attempt(destinationId, 'delivered');
  const wrong = await sendTo(receiver, { oauth2: { ...server.oauth2, clientSecret: 'S3CRET-wrong' } });
  const { reason, urls } = await pipeline.attempt(wrong.destinationId, 'retry');
  assert.equal(reason, 'token-unavailable');
  assert.match(urls[0]?.detail ?? '', /refuses a token with status 401 \(invalid_client/);
  assert.equal((await pipeline.deadLetter(wrong.destinationId)).reason, 'attempts-exhausted');
  assert.equal(receiver.requests.length, 1);
});

describe("a destination's signatures", { concurrency: true }, () => {
  const newer = `whsec_${randomBytes(32).toString('base64')}`;
  const older = `whsec_${randomBytes(32).toString('base64')}`;

  const verify = (secret: string, { headers, body }: ReceivedRequest): unknown => {
    const given = Object.entries(headers).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    return new Webhook(secret).verify(body, Object.fromEntries(given));
  };

  test('3.6 Standard Webhooks headers are verified by the public library, with one id for all attempts at a delivery', async () => {
    await using receiver = await startReceiver({
      answer: answers.sequence(answers.status(503), answers.status(200)),
    });
    const { destinationId } = await sendTo(receiver, { sharedSecret: newer, standardWebhooks: true });
    const requests = await receiver.waitFor(2);
    const { deliveryId } = await pipeline.attempt(destinationId, 'delivered');
    for (const request of requests) {
      assert.deepEqual(verify(newer, request), request.json());
      assert.equal(request.headers['webhook-id'], deliveryId);
      assert.throws(() => verify(older, request), WebhookVerificationError);
    }
  });

  test('8.4 during a rotation the newer secret signs X-Signature, and both sign the Standard Webhooks header', async () => {
    await using receiver = await startReceiver();
    await sendTo(receiver, { sharedSecret: newer, previousSharedSecret: older, standardWebhooks: true });
    const [request] = await receiver.waitFor(1);
    assert.ok(request);
    assert.ok(verifySignature(newer, request.body, request.headers['x-signature']));
    for (const secret of [newer, older]) assert.deepEqual(verify(secret, request), request.json());
  });

  test('without the option there is X-Signature only, also during a rotation', async () => {
    await using receiver = await startReceiver();
    await sendTo(receiver, { sharedSecret: newer, previousSharedSecret: older });
    const [request] = await receiver.waitFor(1);
    assert.ok(request);
    assert.ok(verifySignature(newer, request.body, request.headers['x-signature']));
    const others = Object.keys(request.headers).filter((name) => name.startsWith('webhook-'));
    assert.deepEqual(others, []);
  });

  test('7.8 7.9 8.6 a scheme of choice replaces X-Signature, and headers have the delivery id and a token', async () => {
    await using receiver = await startReceiver();
    const signature = { header: 'X-Hub-Signature-256', algorithm: 'hmac-sha256', prefix: 'sha256=' } as const;
    const settings = {
      sharedSecret: newer,
      signature,
      deliveryIdHeader: 'X-Delivery',
      auth: { token: 't0ken' },
    };
    const { destinationId } = await sendTo(receiver, settings);
    const [request] = await receiver.waitFor(1);
    assert.ok(request);
    const { 'x-hub-signature-256': signed, 'x-signature': plain, 'x-delivery': id } = request.headers;
    assert.equal(signed, signWith(signature, [newer], { timestamp: 0, body: request.body }));
    assert.equal(plain, undefined);
    assert.equal(request.headers['authorization'], 'Bearer t0ken');
    assert.equal(id, (await pipeline.attempt(destinationId, 'delivered')).deliveryId);
  });
});

test('7.10 a form is sent with PUT, signed as it is sent', async () => {
  await using receiver = await startReceiver();
  const webhooks = [{ url: receiver.url, method: 'PUT' } as const];
  const { send } = await pipeline.connect({ webhooks, contentType: 'form', sharedSecret: 's3cret' });
  await send('track', { userId: 'ada', event: 'Signed Up' });
  const [request] = await receiver.waitFor(1);
  assert.ok(request);
  const { method, headers, body } = request;
  assert.deepEqual([method, headers['content-type']], ['PUT', 'application/x-www-form-urlencoded']);
  assert.ok(verifySignature('s3cret', body, headers['x-signature']));
  const payload = new URLSearchParams(body.toString()).get('payload') ?? '';
  assert.equal((JSON.parse(payload) as { event: string }).event, 'Signed Up');
});

test('6.9 9.1 a receiver gets the fields of its choice, again after a status that it has chosen to be retried', async () => {
  await using receiver = await startReceiver({
    answer: answers.sequence(answers.status(409), answers.status(200)),
  });
  const fields = { exclude: ['properties.email'], hash: ['properties.card'], salt: '' };
  const settings = { webhooks: [{ url: receiver.url }], fields, retry: { on: [409] } };
  const { send } = await pipeline.connect(settings);
  const properties = { plan: 'pro', email: 'ada@example.com', card: '42' };
  await send('track', { userId: 'ada', event: 'Signed Up', properties });
  const [first, second] = await receiver.waitFor(2);
  assert.deepEqual((first?.json() as { properties: object }).properties, {
    plan: 'pro',
    card: hash('sha256', '42'),
  });
  assert.deepEqual(second?.body, first?.body);
});
