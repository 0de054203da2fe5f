/** Routing (docs/specification.md, section 5) and the settings of a destination (rules 2.8 to 2.11). */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { isTailraceError } from '@tailrace/errors';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { startPipeline, type Call, type DestinationSettings } from '../support/processes/pipeline.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const pipeline = await startPipeline({ cluster: new MemoryCluster() });
after(() => pipeline[Symbol.asyncDispose]());

/** A URL that receives no requests. */
const url = 'https://hooks.example/hook';

describe('destination settings', { concurrency: true }, () => {
  /** Asserts that the configuration is refused, with each of the phrases in the message. */
  async function refused(settings: object, ...phrases: readonly RegExp[]): Promise<void> {
    await assert.rejects(pipeline.tryConfiguration(settings as DestinationSettings), (error) => {
      assert.ok(isTailraceError(error, 'invalid-configuration'), String(error));
      for (const phrase of phrases) assert.match(error.message, phrase);
      return true;
    });
  }

  test('8.3 sharedSecret: optional', async () => {
    await using receiver = await startReceiver();
    const { send } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
    await send('track', { userId: 'ada', event: 'Signed Up' });
    await receiver.waitFor(1);
  });

  test('8.1 sharedSecret: when set, every request is signed, to every URL', async () => {
    await using receiver = await startReceiver();
    const webhooks = ['/a', '/b', '/c'].map((path) => ({ url: `${receiver.url}${path}` }));
    const { send } = await pipeline.connect({ webhooks, sharedSecret: 's3cret' });
    await send('track', { userId: 'ada', event: 'Signed Up' });
    const signatures = (await receiver.waitFor(3)).map(({ headers }) => headers['x-signature']);
    assert.match(signatures[0] ?? '', /^[0-9a-f]{40}$/);
    assert.equal(new Set(signatures).size, 1);
  });

  test('8.1 sharedSecret: a string', () =>
    refused({ webhooks: [{ url }], sharedSecret: 12 }, /sharedSecret/));

  test('2.8 the list: five URLs all get the event', async () => {
    await using receiver = await startReceiver();
    const paths = ['/1', '/2', '/3', '/4', '/5'];
    const { send } = await pipeline.connect({
      webhooks: paths.map((path) => ({ url: receiver.url + path })),
    });
    await send('track', { userId: 'ada', event: 'Signed Up' });
    const requests = await receiver.waitFor(5);
    assert.deepEqual(requests.map(({ path }) => path).sort(), paths);
    assert.equal(new Set(requests.map(({ body }) => body.toString())).size, 1);
  });

  test('2.8 the list: a sixth URL is refused', () =>
    refused(
      { webhooks: Array.from({ length: 6 }, (_, index) => ({ url: `${url}/${index}` })) },
      /webhooks/,
      /5/,
    ));

  test('2.8 the list: at least one URL', () => refused({ webhooks: [] }, /webhooks/));

  test('7.1 URL: absolute, with http or https', async () => {
    await refused({ webhooks: [{ url: 'hooks.example/hook' }] }, /webhooks/, /url/, /https?/);
    await refused({ webhooks: [{ url: '/hook' }] }, /url/);
    await refused({ webhooks: [{ url: 'ftp://hooks.example/hook' }] }, /url/, /https?/);
    await refused({ webhooks: [{}] }, /url/);
  });

  test('2.9 headers: five are all sent', async () => {
    await using receiver = await startReceiver();
    const headers = { 'X-One': '1', 'X-Two': 'zwei', 'X-Three': 'c, d', 'X-Four': 'e=f', 'X-Five': '5' };
    const { send } = await pipeline.connect({ webhooks: [{ url: receiver.url, headers }] });
    await send('track', { userId: 'ada', event: 'Signed Up' });
    const [request] = await receiver.waitFor(1);
    for (const [name, value] of Object.entries(headers)) {
      assert.equal(request?.headers[name.toLowerCase()], value);
    }
  });

  test('2.9 headers: a sixth is refused', () => {
    const headers = Object.fromEntries([1, 2, 3, 4, 5, 6].map((nth) => [`X-${nth}`, 'a']));
    return refused({ webhooks: [{ url, headers }] }, /headers/, /5/);
  });

  test('2.9 headers: a map of string to string', () =>
    refused({ webhooks: [{ url, headers: { 'X-Team': 7 } }] }, /X-Team/));

  test('7.2 headers: those that Tailrace sets itself, and line breaks, are refused', async () => {
    for (const name of [
      'Content-Type',
      'user-agent',
      'X-SIGNATURE',
      'Host',
      'Content-Length',
      'Connection',
    ]) {
      await refused({ webhooks: [{ url, headers: { [name]: 'a' } }] }, new RegExp(name, 'i'));
    }
    await refused({ webhooks: [{ url, headers: { 'X-Team': 'a\r\nX-Injected: b' } }] }, /X-Team/);
  });
});

describe('selection of destinations', { concurrency: true }, () => {
  /**
   * Whether a call with these integrations is delivered. A second call of the same user follows it through the same partition;
   * once that one arrives, the first one has been routed.
   */
  async function isForwarded(call: Call, source = {}): Promise<boolean> {
    await using receiver = await startReceiver();
    const { send, destinationId } = await pipeline.connect({ webhooks: [{ url: receiver.url }] }, source);
    await send('track', { userId: 'ada', event: 'First', ...call });
    await send('identify', { userId: 'ada', traits: { last: true } });
    await receiver.find((request) => request.body.includes('"last":true'));
    const routed = await pipeline.deliveriesIn(pipeline.names.deliveries, destinationId);
    await receiver.waitFor(routed.length);
    return routed.length === 2;
  }

  const cases: readonly [title: string, integrations: unknown, forwarded: boolean][] = [
    ['by default all destinations are enabled', undefined, true],
    ['an empty map changes nothing', {}, true],
    ['a destination can be named as true', { Webhooks: true }, true],
    ['a destination can be turned off by name', { Webhooks: false }, false],
    ['All set to false disables every destination', { All: false }, false],
    ['All set to false leaves a destination set to true', { All: false, Webhooks: true }, true],
    ['an object counts as true', { All: false, Webhooks: { any: 'option' } }, true],
    ['All set to true leaves a destination set to false', { All: true, Webhooks: false }, false],
    ['another destination being off changes nothing', { 'Google Analytics': false }, true],
    ['another destination being on changes nothing', { All: false, 'Google Analytics': true }, false],
    ['names are case sensitive: webhooks is not turned off', { webhooks: false }, true],
    ['names are case sensitive: webhooks is not turned on', { All: false, webhooks: true }, false],
    ['names are case sensitive: all is not All', { all: false }, true],
  ];
  for (const [title, integrations, forwarded] of cases) {
    test(`5.2 ${title}`, async () => {
      assert.equal(await isForwarded({ integrations }), forwarded);
    });
  }

  test("5.3 track calls can be filtered by the source's schema", async () => {
    const schema = { track: { blocked: ['Debug Event'] } };
    assert.equal(await isForwarded({ event: 'Debug Event' }, { schema }), false);
    assert.equal(await isForwarded({ event: 'Order Completed' }, { schema }), true);
  });

  test('5.1 only connected destinations get a call', async () => {
    await using mine = await startReceiver();
    await using other = await startReceiver();
    const { send } = await pipeline.connect({ webhooks: [{ url: mine.url }] });
    const { destinationId } = await pipeline.connect({ webhooks: [{ url: other.url }] });
    await send('track', { userId: 'ada', event: 'Signed Up' });
    await mine.waitFor(1);
    assert.deepEqual(await pipeline.deliveriesIn(pipeline.names.deliveries, destinationId), []);
    assert.equal(other.requests.length, 0);
  });

  test('5.1 every enabled destination of a source gets the call, and a disabled one does not', async () => {
    await using receiver = await startReceiver();
    const { send, destinationIds } = await pipeline.connect([
      { webhooks: [{ url: `${receiver.url}/crm` }] },
      { webhooks: [{ url: `${receiver.url}/off` }], enabled: false },
      { webhooks: [{ url: `${receiver.url}/warehouse` }] },
    ]);
    await send('track', { userId: 'ada', event: 'Signed Up' });
    const requests = await receiver.waitFor(2);
    assert.deepEqual(requests.map(({ path }) => path).sort(), ['/crm', '/warehouse']);
    const [, off = ''] = destinationIds;
    assert.deepEqual(await pipeline.deliveriesIn(pipeline.names.deliveries, off), []);
  });
});
