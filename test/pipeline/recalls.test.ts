/** Retry and drain of a destination through the API and the command line, on an in-memory Kafka cluster. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { eventually } from '@tailrace/testing';
import { deliveryKey, encodeDelivery } from '@tailrace/records';
import { createTopics } from '../support/kafka/topics.ts';
import { tailrace, type Run } from '../support/processes/cli.ts';
import { adminToken, readToken, startControlHere } from '../support/processes/control.ts';
import { newDelivery } from '../support/processes/delivery.ts';
import { startServiceHere } from '../support/processes/here.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const cluster = new MemoryCluster();
const kafka = opened.use(cluster.connect());
const prefix = 'recalls.';
const hourMs = 3_600_000;
const names = await createTopics(kafka, prefix, { partitions: 2, retryScheduleMs: [1_000, hourMs] });
const control = opened.use(await startControlHere(cluster, prefix, { TAILRACE_RETRY_SCHEDULE: '1s,1h' }));

async function newDestination(url: string, enabled = true): Promise<string> {
  const body = { type: 'Webhooks', enabled, settings: { webhooks: [{ url }] } };
  const { id } = await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  return String(id);
}

async function refused(path: string, status: number, token = adminToken): Promise<unknown> {
  const method = path.endsWith('/recall') ? 'GET' : 'POST';
  return (await control.expect(status, { method, path, token }))['code'];
}

const command = (...args: readonly string[]): Promise<Run> =>
  tailrace(args, { TAILRACE_API_TOKEN: adminToken, TAILRACE_URL: control.url });

/** Deliveries that are due in an hour. */
async function waiting(destinationId: string, count: number): Promise<void> {
  const publisher = kafka.publisher();
  const tier = names.retryTier(hourMs);
  for (let nth = 0; nth < count; nth += 1) {
    const more = {
      attempt: 1,
      step: 1,
      dueAt: Date.now() + 0.9 * hourMs,
      key: deliveryKey(destinationId, String(nth)),
    };
    await publisher.publish(encodeDelivery(tier, newDelivery(destinationId, more), nth % 2));
  }
}

test('a retry needs an admin token and an enabled destination; a drain needs an admin token', async () => {
  const off = await newDestination('https://crm.example.com/hook', false);
  const on = await newDestination('https://crm.example.com/hook');
  assert.equal(await refused('/v1/destinations/nothing/retry', 404), 'not-found');
  assert.equal(await refused(`/v1/destinations/${off}/retry`, 409), 'conflict');
  assert.equal(await refused(`/v1/destinations/${on}/retry`, 403, readToken), 'forbidden');
  assert.equal(await refused(`/v1/destinations/${on}/drain`, 403, readToken), 'forbidden');
  assert.equal(await refused(`/v1/destinations/a%2Fb/drain`, 400), 'invalid-request');
  assert.equal(await refused(`/v1/destinations/${on}/recall`, 404), 'not-found');

  const line = control.service.log.find(({ audit }) => audit === 'destination.drain');
  await control.expect(202, { method: 'POST', path: `/v1/destinations/${off}/drain` });
  assert.ok(await line);
  const asked = await control.ask({ method: 'POST', path: `/v1/destinations/${on}/retry` });
  assert.equal(asked.headers.get('location'), `/v1/destinations/${on}/recall`);
  const { id, requestedAt, ...rest } = asked.json;
  assert.deepEqual(rest, {
    kind: 'retry',
    destinationId: on,
    state: 'running',
    count: 0,
    partitions: { total: 2, ended: 0 },
  });
  // A later request replaces an earlier one.
  const later = await control.expect(202, { method: 'POST', path: `/v1/destinations/${on}/drain` });
  assert.notEqual(later['id'], id);
  assert.ok(String(later['requestedAt']) >= String(requestedAt));
  assert.deepEqual(
    await control.expect(200, { path: `/v1/destinations/${on}/recall`, token: readToken }),
    later,
  );
});

test('the command line requests a recall, waits for it, and prints the number of deliveries', async () => {
  await using receiver = await startReceiver();
  const [retried, drained] = [await newDestination(receiver.url), await newDestination(receiver.url)];
  await waiting(retried, 3);
  await waiting(drained, 2);
  const requested = await command('retry', '--destination', retried);
  assert.equal(requested.exitCode, 0, requested.stderr);
  assert.match(requested.stdout, new RegExp(`tailrace get recall ${retried}`));
  const running = await command('get', 'recall', retried);
  assert.equal(running.stdout, '0 deliveries brought forward; 0 of 2 partitions done\n');

  // A request is executed once a replica runs.
  const ended = command('drain', '--destination', drained, '--yes', '--wait');
  await using replica = await startServiceHere(
    'delivery',
    {
      TAILRACE_TOPIC_PREFIX: prefix,
      TAILRACE_RETRY_SCHEDULE: '1s,1h',
      TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
    },
    { cluster },
  );
  assert.equal(replica.name, 'delivery');
  const end = await ended;
  assert.equal(end.exitCode, 0, end.stderr);
  assert.equal(end.stdout, '2 dead letters made.\n');
  const again = await command('retry', '--destination', drained, '--wait', '--output', 'json');
  const { state, count, partitions } = JSON.parse(again.stdout) as Record<string, unknown>;
  assert.deepEqual([again.exitCode, state, count, partitions], [0, 'done', 0, { total: 2, ended: 2 }]);
  await receiver.waitFor(3);
  const done = await eventually(
    () => command('get', 'recall', retried),
    ({ stdout }) => !stdout.includes('partitions'),
  );
  assert.equal(done.stdout, '3 deliveries brought forward.\n');
});
