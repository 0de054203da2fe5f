/** The webhook body, the request and the signature (docs/specification.md, sections 6, 7 and 8). */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { startPipeline, type Call, type CallType } from '../support/processes/pipeline.ts';
import { startReceiver, type ReceivedRequest } from '../support/receivers/receiver.ts';

const pipeline = await startPipeline({ cluster: new MemoryCluster() });
after(() => pipeline[Symbol.asyncDispose]());

const timestamp = '2026-11-20T09:31:12.345Z';
const context = { ip: '203.0.113.7', device: { model: 'Pixel 9', type: 'android' } };

const calls: Readonly<Record<CallType, Call>> = {
  page: { name: 'Home', properties: { path: '/', title: 'Home', url: 'https://example.com/' } },
  screen: { name: 'Start', properties: { tab: 'home' } },
  identify: { traits: { email: 'ada@example.com', plan: 'team' } },
  track: { event: 'Order Completed', properties: { total: 12.5, items: ['a', 'b'] } },
  alias: { previousId: 'anonymous-7' },
  group: { groupId: 'acme', traits: { name: 'Acme', 'employee count': 329 } },
};
const callTypes = Object.keys(calls) as CallType[];

/** Sends one call to a new destination, and returns the request that the receiver got. */
async function deliver(
  type: CallType,
  call: Call,
  settings: { sharedSecret?: string } = {},
): Promise<ReceivedRequest> {
  await using receiver = await startReceiver();
  const { send } = await pipeline.connect({ webhooks: [{ url: `${receiver.url}/hook` }], ...settings });
  await send(type, { userId: 'ada', timestamp, ...call });
  const [request] = await receiver.waitFor(1);
  assert.ok(request);
  return request;
}

/** Writes a delete event to the `events` topic, like the control service. */
async function requestDeletion(sourceId: string, userId: string): Promise<void> {
  const publisher = pipeline.kafka.publisher();
  await publisher.publish({
    topic: pipeline.names.events,
    key: userId,
    value: JSON.stringify({ type: 'delete', userId, timestamp, messageId: randomUUID() }),
    headers: { 'source-id': sourceId },
  });
  await publisher.close();
}

/** The signature that OpenSSL computes. */
async function opensslSignature(secret: string, body: Buffer): Promise<string> {
  const openssl = spawn('openssl', ['dgst', '-sha1', '-hmac', secret, '-r']);
  openssl.stdin.end(body);
  return (await text(openssl.stdout)).split(' ')[0] ?? '';
}

describe('the webhook request', { concurrency: true }, () => {
  test('7.2 Content-Type: application/json', async () => {
    assert.equal((await deliver('track', calls.track)).headers['content-type'], 'application/json');
  });

  test('7.2 User-Agent: the product token and version 1.0', async () => {
    assert.equal((await deliver('track', calls.track)).headers['user-agent'], 'Tailrace/1.0');
  });

  test('7.2 X-Signature: present with a shared secret', async () => {
    const { headers } = await deliver('track', calls.track, { sharedSecret: 's3cret' });
    assert.match(headers['x-signature'] ?? '', /^[0-9a-f]{40}$/);
  });

  test('8.3 X-Signature: absent without a shared secret', async () => {
    const { headers } = await deliver('track', calls.track);
    assert.equal(headers['x-signature'], undefined);
  });

  test('7.2 static headers: each URL gets its own, spelled as configured', async () => {
    await using crm = await startReceiver();
    await using warehouse = await startReceiver();
    const { send } = await pipeline.connect({
      webhooks: [
        { url: crm.url, headers: { 'X-Team': 'growth', Authorization: 'Bearer abc' } },
        { url: warehouse.url, headers: { 'x-team': 'data' } },
      ],
    });
    await send('track', { userId: 'ada', ...calls.track });
    const [[first], [second]] = await Promise.all([crm.waitFor(1), warehouse.waitFor(1)]);
    const names = (request: ReceivedRequest | undefined) => request?.rawHeaders.map(([name]) => name);
    assert.equal(first?.headers['x-team'], 'growth');
    assert.equal(first.headers['authorization'], 'Bearer abc');
    assert.ok(names(first)?.includes('X-Team'));
    assert.equal(second?.headers['x-team'], 'data');
    assert.equal(second.headers['authorization'], undefined);
    assert.ok(names(second)?.includes('x-team'));
  });

  test('7.2 headers: apart from these, only those that HTTP requires are sent', async () => {
    const { headers } = await deliver('track', calls.track, { sharedSecret: 's3cret' });
    const expected = ['connection', 'content-length', 'content-type', 'host', 'user-agent', 'x-signature'];
    assert.deepEqual(Object.keys(headers).sort(), expected);
  });

  test('7.1 method and path: a POST to the URL as configured', async () => {
    await using receiver = await startReceiver();
    const { send } = await pipeline.connect({ webhooks: [{ url: `${receiver.url}/a/b%20c?key=1&key=2` }] });
    await send('track', { userId: 'ada', ...calls.track });
    const [request] = await receiver.waitFor(1);
    assert.equal(request?.method, 'POST');
    assert.equal(request.path, '/a/b%20c?key=1&key=2');
  });

  test('6.3 version: the number 1 on all six calls', async () => {
    for (const request of await Promise.all(callTypes.map((type) => deliver(type, calls[type])))) {
      assert.equal((request.json() as { version: unknown }).version, 1);
    }
  });

  test('4.1 timestamp: in UTC with milliseconds, for any form in which it was sent', async () => {
    const request = await deliver('track', { ...calls.track, timestamp: '2026-11-20T10:31:12.345678+0100' });
    assert.equal((request.json() as { timestamp: unknown }).timestamp, timestamp);
  });

  test('4.3 timestamp: the time of receipt where the call has none', async () => {
    const before = Date.now();
    const request = await deliver('track', { ...calls.track, timestamp: null });
    const stamped = (request.json() as { timestamp: string }).timestamp;
    assert.match(stamped, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(Date.parse(stamped) >= before && Date.parse(stamped) <= Date.now());
  });

  test('6.4 userId: anonymousId replaces it in a call without one', async () => {
    const request = await deliver('track', { ...calls.track, userId: null, anonymousId: 'anonymous-7' });
    assert.deepEqual(request.json(), {
      version: 1,
      type: 'track',
      anonymousId: 'anonymous-7',
      timestamp,
      ...calls.track,
    });
  });

  test('6.5 context: is in the body of every call that has one', async () => {
    for (const request of await Promise.all(
      callTypes.map((type) => deliver(type, { ...calls[type], context })),
    )) {
      assert.deepEqual((request.json() as { context: unknown }).context, context);
    }
  });

  test('6.1 bodies: text in any script arrives unchanged, as UTF-8', async () => {
    const properties = { città: 'Zürich', ключ: 'значение', emoji: '\u{1f30a}', escaped: '"\\\u0001\u2028' };
    const request = await deliver('track', { event: '注文', properties, userId: 'ådå' });
    assert.deepEqual(request.json(), {
      version: 1,
      type: 'track',
      userId: 'ådå',
      timestamp,
      event: '注文',
      properties,
    });
    assert.equal(Number(request.headers['content-length']), request.body.length);
    assert.ok(request.body.includes(Buffer.from('Zürich', 'utf8')));
  });
});

describe('the body of each type, with exactly its keys', { concurrency: true }, () => {
  const userId = 'ada';

  test('1.9 6.2 page: properties', async () => {
    const properties = {
      path: '/docs',
      referrer: 'https://example.com/',
      title: 'Docs',
      url: 'https://example.com/docs',
    };
    const request = await deliver('page', { properties, context });
    assert.deepEqual(request.json(), { version: 1, type: 'page', userId, timestamp, properties, context });
  });

  test('6.6 page: its name and category are in properties', async () => {
    const request = await deliver('page', { name: 'Docs', category: 'Help', properties: { path: '/docs' } });
    const properties = { path: '/docs', name: 'Docs', category: 'Help' };
    assert.deepEqual(request.json(), { version: 1, type: 'page', userId, timestamp, properties });
  });

  test('1.9 6.2 screen: name, and context with device, os and app', async () => {
    const context = {
      device: { model: 'Pixel 9', type: 'android' },
      os: { name: 'Android', version: '16' },
      app: { build: '710', name: 'Shop', version: '7.1.0' },
    };
    const request = await deliver('screen', { name: 'Start', properties: { tab: 'home' }, context });
    assert.deepEqual(request.json(), {
      version: 1,
      type: 'screen',
      userId,
      timestamp,
      name: 'Start',
      properties: { tab: 'home', name: 'Start' },
      context,
    });
  });

  test('6.2 identify: traits', async () => {
    const { traits } = calls.identify;
    const request = await deliver('identify', { traits, context });
    assert.deepEqual(request.json(), { version: 1, type: 'identify', userId, timestamp, traits, context });
  });

  test('6.2 track: event and properties', async () => {
    const request = await deliver('track', { ...calls.track, context });
    assert.deepEqual(request.json(), {
      version: 1,
      type: 'track',
      userId,
      timestamp,
      ...calls.track,
      context,
    });
  });

  test('6.7 alias: both identities, under keys that contain spaces', async () => {
    const request = await deliver('alias', { previousId: 'anonymous-7' });
    const identities = { 'Previous ID': 'anonymous-7', 'User ID': userId };
    assert.deepEqual(request.json(), { version: 1, type: 'alias', ...identities, timestamp });
  });

  test('6.2 group: groupId, userId and traits, whose keys may contain spaces', async () => {
    const request = await deliver('group', { ...calls.group, context });
    assert.deepEqual(request.json(), {
      version: 1,
      type: 'group',
      userId,
      timestamp,
      ...calls.group,
      context,
    });
  });

  test('6.2 12.3 delete: only type, userId and timestamp', async () => {
    await using receiver = await startReceiver();
    const { sourceId } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
    await requestDeletion(sourceId, userId);
    const [request] = await receiver.waitFor(1);
    assert.deepEqual(request?.json(), { type: 'delete', userId, timestamp });
  });
});

describe('the signature', { concurrency: true }, () => {
  test('8.1 the signature is the HMAC-SHA1 of the body in lower-case hexadecimal, as OpenSSL computes it', async () => {
    for (const sharedSecret of ['s3cret', 'schlüssel mit Leerzeichen', 'x'.repeat(200)]) {
      const { headers, body } = await deliver('track', { ...calls.track, event: 'Größe' }, { sharedSecret });
      assert.equal(headers['x-signature'], await opensslSignature(sharedSecret, body));
    }
  });

  test('8.1 12.3 every type is signed, delete included', async () => {
    const sharedSecret = 's3cret';
    await using receiver = await startReceiver();
    const { send, sourceId } = await pipeline.connect({ webhooks: [{ url: receiver.url }], sharedSecret });
    for (const type of callTypes) await send(type, { userId: 'ada', ...calls[type] });
    await requestDeletion(sourceId, 'ada');
    for (const { headers, body } of await receiver.waitFor(7)) {
      assert.equal(headers['x-signature'], await opensslSignature(sharedSecret, body));
    }
  });

  test('8.2 the signature is also valid for the parsed and serialised body', async () => {
    const { headers, json } = await deliver('track', { ...calls.track, context }, { sharedSecret: 's3cret' });
    const again = Buffer.from(JSON.stringify(json()));
    assert.equal(headers['x-signature'], await opensslSignature('s3cret', again));
  });

  test('8.3 without a shared secret no X-Signature is sent, for any type', async () => {
    for (const { headers } of await Promise.all(callTypes.map((type) => deliver(type, calls[type])))) {
      assert.equal(headers['x-signature'], undefined);
    }
  });

  test('5.1 a call with an unknown write key is refused', async () => {
    const response = await fetch(`${pipeline.ingestUrl}/v1/track`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa('missing:')}` },
      body: JSON.stringify({ userId: 'ada', ...calls.track }),
    });
    assert.equal(response.status, 401);
    assert.equal(((await response.json()) as { code: unknown }).code, 'unknown-write-key');
  });
});

describe('the types of events', { concurrency: true }, () => {
  for (const type of callTypes) {
    test(`7.1 ${type}: one POST for each ${type} call that is received`, async () => {
      await using receiver = await startReceiver();
      const { send, destinationId } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
      for (const userId of ['ada', 'grace', 'mary']) await send(type, { userId, ...calls[type] });
      for (const request of await receiver.waitFor(3)) {
        assert.equal((request.json() as { type: unknown }).type, type);
      }
      const sent = await pipeline.deliveriesIn(pipeline.names.deliveries, destinationId);
      assert.equal(sent.length, 3);
    });
  }

  test('12.1 delete: one webhook for each affected source that has the destination enabled', async () => {
    await using receiver = await startReceiver();
    const webhooks = (path: string) => [{ url: `${receiver.url}${path}` }];
    const web = await pipeline.connect({ webhooks: webhooks('/web') });
    const app = await pipeline.connect({ webhooks: webhooks('/app') });
    const off = await pipeline.connect({ webhooks: webhooks('/off'), enabled: false });
    // The same user, so the same partition: the last notice is routed after the others.
    for (const { sourceId } of [off, web, app]) await requestDeletion(sourceId, 'ada');
    const requests = await receiver.waitFor(2);
    assert.deepEqual(requests.map(({ path }) => path).sort(), ['/app', '/web']);
    assert.deepEqual(await pipeline.deliveriesIn(pipeline.names.deliveries, off.destinationId), []);
  });
});
