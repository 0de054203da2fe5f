/** A public tracking SDK, as its users install it, against the pipeline. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { Analytics } from '@segment/analytics-node';
import { startPipeline } from '../support/pipeline.ts';
import { startReceiver } from '../support/receiver.ts';

interface Body {
  type: string;
  timestamp: string;
  context: { readonly library?: { readonly name?: string } };
}

test('@segment/analytics-node sends all six kinds, and each arrives once, with a valid signature', async () => {
  await using pipeline = await startPipeline();
  await using receiver = await startReceiver();
  const sharedSecret = 's3cret';
  const { writeKey, destinationId } = await pipeline.connect({
    webhooks: [{ url: receiver.url }],
    sharedSecret,
  });

  const analytics = new Analytics({ writeKey, host: pipeline.ingestUrl });
  const failures: unknown[] = [];
  analytics.on('error', (failure) => failures.push(failure));
  const userId = 'ada';
  analytics.identify({ userId, traits: { email: 'ada@example.com' } });
  analytics.track({ userId, event: 'Order Completed', properties: { total: 12.5 } });
  analytics.page({ userId, name: 'Docs', category: 'Help', properties: { path: '/docs' } });
  analytics.screen({ userId, name: 'Start', properties: { tab: 'news' } });
  analytics.group({ userId, groupId: 'acme', traits: { name: 'Acme' } });
  analytics.alias({ userId, previousId: 'anonymous-7' });
  await analytics.closeAndFlush();
  assert.deepEqual(failures, []);

  const requests = await receiver.waitFor(6);
  for (const { headers, body } of requests) {
    assert.equal(headers['x-signature'], createHmac('sha1', sharedSecret).update(body).digest('hex'));
  }
  const bodies = requests.map((request) => request.json() as Body);
  assert.deepEqual(bodies.map(({ type }) => type).sort(), [
    'alias',
    'group',
    'identify',
    'page',
    'screen',
    'track',
  ]);
  for (const { context } of bodies) assert.equal(context.library?.name, '@segment/analytics-node');

  const bodyOf = (type: string): Partial<Body> | undefined => {
    const body: Partial<Body> | undefined = bodies.find((candidate) => candidate.type === type);
    delete body?.timestamp;
    delete body?.context;
    return body;
  };
  const traits = { email: 'ada@example.com' };
  assert.deepEqual(bodyOf('identify'), { version: 1, type: 'identify', userId, traits });
  const order = { event: 'Order Completed', properties: { total: 12.5 } };
  assert.deepEqual(bodyOf('track'), { version: 1, type: 'track', userId, ...order });
  const identities = { 'Previous ID': 'anonymous-7', 'User ID': userId };
  assert.deepEqual(bodyOf('alias'), { version: 1, type: 'alias', ...identities });

  const routed = await pipeline.deliveriesIn(pipeline.names.deliveries, destinationId);
  assert.equal(routed.length, 6, 'each is routed once');
  assert.equal(receiver.requests.length, 6, 'each arrives once');
});
