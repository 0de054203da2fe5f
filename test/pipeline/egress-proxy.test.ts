/** Delivery and control send through an egress proxy, as their settings and the destination say, on an in-memory Kafka cluster. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { encodeDelivery, type AttemptRecord } from '@tailrace/records';
import { eventually } from '@tailrace/testing';
import { createTopics } from '../support/kafka/topics.ts';
import { startTinyproxy } from '../support/network/tinyproxy.ts';
import { startControlHere } from '../support/processes/control.ts';
import { newDelivery } from '../support/processes/delivery.ts';
import { startServiceHere } from '../support/processes/here.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const credentials = 'tailrace:pa-ss';
const schedule = { TAILRACE_RETRY_SCHEDULE: '100ms,100ms,100ms,1h' };

test('7.11 webhooks and test events go through the proxy, past it with proxy: none, and arrive when it is back', async (t) => {
  const proxy = await startTinyproxy(t, credentials);
  const file = path.join(proxy.folder, 'credentials');
  await writeFile(file, `${credentials}\n`);
  await using receiver = await startReceiver();
  const cluster = new MemoryCluster();
  await using kafka = cluster.connect();
  const prefix = 'proxied.';
  const names = await createTopics(kafka, prefix, { partitions: 1, retryScheduleMs: [100, 3_600_000] });
  const env = { ...schedule, TAILRACE_EGRESS_PROXY: proxy.url, TAILRACE_EGRESS_PROXY_CREDENTIALS_FILE: file };
  await using control = await startControlHere(cluster, prefix, env);
  for (const own of [{ id: 'proxied' }, { id: 'direct', proxy: 'none' }]) {
    const settings = { webhooks: [{ url: `${receiver.url}/${own.id}` }] };
    const body = { type: 'Webhooks', settings, ...own };
    await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  }
  const testEvent = async (id: string) => {
    const { items } = await control.expect(200, { method: 'POST', path: `/v1/destinations/${id}/test` });
    const [{ response } = assert.fail()] = items as { response: Readonly<Record<string, unknown>> }[];
    const { status, reason, proxy: through } = response;
    return { status, reason, through };
  };
  const through = `127.0.0.1:${proxy.port}`;
  assert.deepEqual(await testEvent('proxied'), { status: 200, reason: undefined, through });
  assert.deepEqual(await testEvent('direct'), { status: 200, reason: undefined, through: undefined });

  await using _delivery = await startServiceHere(
    'delivery',
    { ...env, TAILRACE_TOPIC_PREFIX: prefix, TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8' },
    { cluster },
  );
  const publisher = kafka.publisher();
  const send = async (destinationId: string) => {
    await publisher.publish(encodeDelivery(names.deliveries, newDelivery(destinationId)));
  };
  const attempts = () =>
    cluster
      .records(names.attempts)
      .map(({ value }) => JSON.parse(String(value)) as AttemptRecord)
      .map(({ destinationId, outcome, reason = '' }) => `${destinationId}: ${outcome} ${reason}`.trim());
  const has = (wanted: string) => eventually(attempts, (found) => found.includes(wanted));
  await send('proxied');
  await has('proxied: delivered');

  await proxy.kill();
  assert.equal((await testEvent('proxied')).reason, 'proxy-unreachable');
  await send('direct');
  await has('direct: delivered');
  const before = receiver.requests.length;
  await send('proxied');
  await has('proxied: retry proxy-unreachable');
  assert.equal(receiver.requests.length, before);
  await proxy.restart();
  await control.expect(202, { method: 'POST', path: '/v1/destinations/proxied/retry' });
  await receiver.waitFor(before + 1);
});
