/** The health of destinations, and what it leaves out. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { names, openApi, readToken, type Api } from '../testing/api.ts';
import { createFlow, type Flow } from '../testing/flow.ts';

const succeededAt = new Date(Date.now() - 60_000).toISOString();
let control: Api;
let flow: Flow;
before(async () => {
  control = await openApi();
  flow = createFlow(control.kafka);
  for (const id of ['web', 'app'])
    await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id } });
  for (const id of ['crm', 'erp', 'idle', 'mailer', 'off', 'paused']) {
    const settings = { webhooks: [{ url: `https://${id}.example.com` }] };
    const states = { enabled: id !== 'off', ...(id === 'paused' && { paused: true }) };
    const body = { id, type: 'Webhooks', sources: id === 'idle' ? ['app'] : ['web'], settings, ...states };
    await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  }
  for (const id of ['crm', 'mailer']) {
    await flow.attempt(flow.delivery(id), 'delivered', { startedAt: succeededAt, latencyMs: 0 });
  }
  // A deleted user and an operator have ended more deliveries than were made otherwise.
  for (const reason of ['user-deleted', 'drained', 'drained']) {
    await flow.publish(names.deliveriesDead, { ...flow.delivery('crm'), reason, body: Buffer.alloc(0) });
  }
  for (const attempt of [1, 2, 3]) {
    const refused = flow.delivery('erp');
    await flow.attempt(refused, 'dead', { reason: 'client-error' });
    await flow.publish(names.deliveriesDead, { ...refused, attempt, reason: 'client-error' });
  }
  const retried = flow.delivery('mailer');
  await flow.attempt(retried, 'retry', { reason: 'timeout' });
  await flow.publish(names.retryTier(1_000), {
    ...retried,
    attempt: 1,
    dueAt: Date.now(),
    reason: 'timeout',
  });
  await flow.publish(names.deliveries, flow.delivery('mailer'));
  await control.historyRead();
});
after(() => control[Symbol.asyncDispose]());

interface Item {
  readonly destination: { readonly id: string };
  readonly health?: Readonly<Record<string, unknown>>;
}

async function list(query = '', token = readToken): Promise<readonly Item[]> {
  const { items } = await control.expect(200, { path: `/v1/destination-health${query}`, token });
  return items as Item[];
}

const statesIn = (items: readonly Item[]): string[] =>
  items.map(({ destination, health }) => `${destination.id} ${String(health?.['state'])}`);

test('destinations are listed with their health, worst first, in pages, by source and by a search', async () => {
  const all = [
    'erp failing',
    'mailer retrying',
    'crm healthy',
    'idle no-traffic',
    'paused paused',
    'off disabled',
  ];
  assert.deepEqual(statesIn(await list()), all);
  const first = await control.expect(200, { path: '/v1/destination-health?limit=2' });
  const second = await list(`?limit=200&cursor=${String(first['next'])}`);
  assert.deepEqual(statesIn([...(first['items'] as Item[]), ...second]), all);
  assert.deepEqual(statesIn(await list('?source=app')), ['idle no-traffic']);
  assert.deepEqual(statesIn(await list('?search=MAIL')), ['mailer retrying']);
});

test('health counts attempts of the last hour, what is pending, and when an attempt was last delivered', async () => {
  const [, mailer, crm] = await list();
  const own = await control.expect(200, { path: '/v1/destinations/mailer/health', token: readToken });
  assert.deepEqual(own, mailer?.health);
  const counts = { attempts: 2, delivered: 1, pending: 2, retrying: 1 };
  assert.deepEqual(own, { state: 'retrying', ...counts, lastSuccessAt: succeededAt });
  assert.deepEqual([crm?.health?.['attempts'], crm?.health?.['pending']], [1, 0]);
  await control.refused({ path: '/v1/destinations/nothing/health' }, 404, 'not-found');
});

test('a token that is limited to sources sees the destination without the health of all its sources', async () => {
  const tokenOf = async (limits: object): Promise<string> => {
    const body = { name: JSON.stringify(limits), scope: 'read', ...limits };
    return String((await control.expect(201, { method: 'POST', path: '/v1/tokens', body }))['token']);
  };
  const ofBoth = await tokenOf({ sources: ['web'], destinations: ['erp', 'crm'] });
  assert.deepEqual(statesIn(await list('', ofBoth)), ['crm undefined', 'erp undefined']);
  await control.refused({ path: '/v1/destinations/erp/health', token: ofBoth }, 403, 'forbidden');
  const ofDestinations = await tokenOf({ destinations: ['crm', 'erp'] });
  assert.deepEqual(statesIn(await list('', ofDestinations)), ['erp failing', 'crm healthy']);
});

test('the overview counts dead letters that need no action apart, and none of them as not replayed', async () => {
  const { total, deadLetters } = await control.expect(200, { path: '/v1/overview' });
  const { dead, canceled, deadReasons, canceledReasons } = total as Record<string, unknown>;
  assert.deepEqual([dead, canceled, deadLetters], [3, 3, 3]);
  assert.deepEqual(deadReasons, [{ reason: 'client-error', count: 3 }]);
  assert.deepEqual(canceledReasons, [
    { reason: 'drained', count: 2 },
    { reason: 'user-deleted', count: 1 },
  ]);
  const { items } = await control.expect(200, { path: '/v1/dead-letters/summary?destination=crm' });
  const replayable = (items as { reason: string; replayable: boolean }[]).map((row) => [
    row.reason,
    row.replayable,
  ]);
  assert.deepEqual(replayable, [
    ['drained', true],
    ['user-deleted', false],
  ]);
});
