/** A destination is created, used and disabled on an empty system, through the API only. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { verifySignature } from '@tailrace/signing';
import { sharedBroker } from '../support/kafka/broker.ts';
import { secretKey, startControl } from '../support/processes/control.ts';
import { eventually } from '../support/kafka/kafka-client.ts';
import { startPipeline } from '../support/processes/pipeline.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { readAll } from '../support/kafka/topics.ts';

const sharedSecret = 'a secret that is never shown';
const headerSecret = 'another-one';

test('a source and a destination are created, connected, enabled, tested, used, restricted and disabled through the API', async () => {
  await using pipeline = await startPipeline({ env: { TAILRACE_SECRET_KEY: secretKey } });
  const { brokers } = await sharedBroker();
  const prefix = pipeline.names.config.replace(/config$/, '');
  await using control = await startControl(brokers, prefix);
  await using receiver = await startReceiver();

  const source = await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'web' } });
  const [writeKey] = source['writeKeys'] as string[];
  const destination = await control.expect(201, {
    method: 'POST',
    path: '/v1/destinations',
    body: {
      id: 'crm',
      type: 'Webhooks',
      enabled: false,
      settings: {
        sharedSecret,
        webhooks: [
          {
            url: `${receiver.url}/hook`,
            headers: { Authorization: headerSecret, 'X-Team': 'growth' },
            secretHeaders: ['authorization'],
          },
        ],
      },
    },
  });
  assert.deepEqual(destination['settings'], {
    sharedSecret: '********',
    webhooks: [
      {
        url: `${receiver.url}/hook`,
        headers: { Authorization: '********', 'X-Team': 'growth' },
        secretHeaders: ['authorization'],
      },
    ],
  });

  const { items } = await control.expect(200, {
    method: 'POST',
    path: '/v1/destinations/crm/test',
    body: { type: 'identify' },
  });
  const [tried] = items as { request: { body: string; headers: Record<string, string> }; response: object }[];
  const [sample] = await receiver.waitFor(1);
  assert.ok(tried && sample);
  assert.equal(sample.body.toString(), tried.request.body);
  assert.equal(tried.request.headers['Authorization'], '********');
  assert.equal(sample.headers['authorization'], headerSecret);
  assert.equal((tried.response as { status: number }).status, 200);

  await control.expect(200, { method: 'PUT', path: '/v1/destinations/crm/sources/web' });
  await control.expect(200, { method: 'PATCH', path: '/v1/destinations/crm', body: { enabled: true } });

  const send = async (event: string): Promise<number> => {
    const response = await fetch(`${pipeline.ingestUrl}/v1/track`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${writeKey ?? ''}:`)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ userId: 'ada', event }),
    });
    return response.status;
  };
  const arrived = (event: string) =>
    receiver.find(({ json }) => (json() as { event?: string }).event === event);
  // Each event is sent until it is delivered: a change is in effect everywhere soon after it is acknowledged.
  await eventually(async () => (await send('Wanted')) === 200, Boolean, 10_000);
  const delivered = await arrived('Wanted');
  assert.ok(verifySignature(sharedSecret, delivered.body, delivered.headers['x-signature'] ?? ''));
  assert.equal(delivered.headers['authorization'], headerSecret);

  await control.expect(200, { method: 'PUT', path: '/v1/sources/web/blocked-events/Unwanted' });
  await eventually(
    async () => {
      const before = receiver.requests.length;
      await send('Unwanted');
      await send('Behind it');
      const behind = await receiver.waitFor((all) =>
        all.slice(before).some(({ body }) => body.includes('"Behind it"')),
      );
      return behind.slice(before).every(({ body }) => !body.includes('"Unwanted"'));
    },
    Boolean,
    10_000,
  );

  const waiting = receiver.requests.length;
  await control.expect(200, { method: 'PATCH', path: '/v1/sources/web', body: { enabled: false } });
  await eventually(
    () => send('Late'),
    (status) => status === 401,
    10_000,
  );
  await control.expect(200, { method: 'PATCH', path: '/v1/destinations/crm', body: { enabled: false } });
  assert.ok(receiver.requests.length >= waiting);

  const records = (await readAll(pipeline.kafka, pipeline.names.config)).map(({ value }) =>
    value?.toString(),
  );
  const stored = records.join('\n');
  assert.ok(stored.includes('sealed:v1:'));
  assert.ok(!stored.includes(sharedSecret) && !stored.includes(headerSecret));
  const logs = JSON.stringify(
    [control, pipeline.delivery].map((one) => ('process' in one ? one.process.log.items : one.log.items)),
  );
  assert.ok(!logs.includes(sharedSecret) && !logs.includes(headerSecret));
});
