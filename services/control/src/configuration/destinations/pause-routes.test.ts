/** Pausing and resuming a destination through the API. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { encodeDelivery, type RecallRequest } from '@tailrace/records';
import { pauseTierMs } from '@tailrace/topology';
import { names, newCluster, openApi, readToken } from '../../testing/api.ts';

const settings = { webhooks: [{ url: 'https://crm.example.com/hook' }] };
const body = { id: 'crm', type: 'Webhooks', sources: [], settings };
const path = '/v1/destinations/crm';

test('a destination is paused and resumed, and its deliveries are recalled once', async () => {
  await using control = await openApi();
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  const requests = (): RecallRequest[] =>
    control.cluster
      .records(names.recalls)
      .filter(({ key }) => String(key).startsWith('request/'))
      .map(({ value }) => JSON.parse(String(value)) as RecallRequest);

  await control.refused({ method: 'POST', path: `${path}/pause`, token: readToken }, 403, 'forbidden');
  await control.refused({ method: 'POST', path: '/v1/destinations/erp/pause' }, 404, 'not-found');
  const stale = { 'if-match': '"9999"' };
  await control.refused(
    { method: 'POST', path: `${path}/pause`, headers: stale },
    412,
    'precondition-failed',
  );
  const paused = await control.ask({ method: 'POST', path: `${path}/pause` });
  assert.deepEqual([paused.status, paused.json['paused']], [200, true]);
  const again = await control.ask({ method: 'POST', path: `${path}/pause` });
  assert.deepEqual([again.status, again.etag], [200, paused.etag]);
  const retry = await control.refused({ method: 'POST', path: `${path}/retry` }, 409, 'conflict');
  assert.match(retry.text, /is paused/);
  assert.deepEqual(requests(), []);

  const resumed = await control.expect(200, { method: 'POST', path: `${path}/resume` });
  assert.equal('paused' in resumed, false);
  await control.expect(200, { method: 'POST', path: `${path}/resume` });
  assert.deepEqual(
    requests().map(({ kind, destinationId }) => [kind, destinationId]),
    [['retry', 'crm']],
  );
  for (const action of ['destination.pause', 'destination.resume']) {
    const line = await control.logged((line) => line['audit'] === action && line['outcome'] === 'done');
    assert.equal(line['target'], 'destination/crm');
  }
});

test('a resume does not end a drain', async () => {
  await using control = await openApi();
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body: { ...body, paused: true } });
  const drain = await control.expect(202, { method: 'POST', path: `${path}/drain` });
  await control.expect(200, { method: 'POST', path: `${path}/resume` });
  const { id, kind } = await control.expect(200, { path: `${path}/recall` });
  assert.deepEqual([id, kind], [drain['id'], 'drain']);
});

test('the history shows that a delivery waits because of the pause, and no due time', async () => {
  const cluster = newCluster();
  await using control = await openApi(cluster);
  const delivery = {
    deliveryId: 'd-1',
    eventId: 'e-1',
    sourceId: 'web',
    destinationId: 'crm',
    type: 'track',
    attempt: 0,
    step: 0,
    deferrals: 0,
    closedUrls: [],
    key: 'crm/ada',
    body: Buffer.from('{}'),
  };
  const waiting = { ...delivery, reason: 'paused', dueAt: Date.now() + pauseTierMs };
  await control.kafka.publisher().publish(encodeDelivery(names.retryTier(pauseTierMs), waiting, 0));
  const shown = await eventually(
    () => control.ask({ path: '/v1/deliveries/d-1' }),
    ({ status }) => status === 200,
  );
  assert.partialDeepStrictEqual(shown.json, { status: 'waiting', reason: 'paused', attempts: 0 });
  assert.equal('nextDueAt' in shown.json, false);
});
