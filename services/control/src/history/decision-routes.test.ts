/** The list of the events that destinations did not get, over HTTP. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openApi, readToken, type Api } from '../testing/api.ts';
import { createFlow } from '../testing/flow.ts';

let api: Api;
const decidedAt = Math.floor(Date.now() / 1_000) * 1_000;
before(async () => {
  api = await openApi();
  const flow = createFlow(api.kafka);
  const rule = { path: 'condition', text: 'properties.total atLeast 100' };
  await flow.decision('e-1', [{ reason: 'filter', rule, destinations: [{ id: 'crm' }] }], decidedAt);
  await flow.decision(
    'e-2',
    [{ reason: 'disabled', destinations: [{ id: 'crm' }, { id: 'erp' }] }],
    decidedAt + 1,
  );
  await flow.decision('e-3', [], decidedAt + 2);
  await api.historyRead();
});
after(() => api[Symbol.asyncDispose]());

type Item = Readonly<Record<string, unknown>>;

async function list(query: string, token = readToken): Promise<readonly Item[]> {
  return (await api.expect(200, { path: `/v1/decisions${query}`, token }))['items'] as Item[];
}

test('each event and destination is one item, with the reason and the rule', async () => {
  const shown = { sourceId: 'web', type: 'track', event: 'Order Completed', userKey: '***' };
  assert.deepEqual(await list(''), [
    { ...shown, eventId: 'e-3', reason: 'no-destination', decidedAt: new Date(decidedAt + 2).toISOString() },
    ...['erp', 'crm'].map((destinationId) => ({
      ...shown,
      eventId: 'e-2',
      destinationId,
      reason: 'disabled',
      decidedAt: new Date(decidedAt + 1).toISOString(),
    })),
    {
      ...shown,
      eventId: 'e-1',
      destinationId: 'crm',
      reason: 'filter',
      decidedAt: new Date(decidedAt).toISOString(),
      rule: { path: 'condition', text: 'properties.total atLeast 100' },
    },
  ]);
  const ids = async (query: string) => (await list(query)).map(({ eventId }) => eventId);
  assert.deepEqual(await ids('?reason=disabled&destination=erp'), ['e-2']);
  assert.deepEqual(await ids('?source=app'), []);
  assert.deepEqual(await ids('?userId=ada&reason=filter'), ['e-1']);
  assert.deepEqual(await ids('?userId=ben'), []);
  assert.deepEqual(await ids(`?until=${new Date(decidedAt + 1).toISOString()}`), ['e-1']);
});

test('the list continues with its cursor, and refuses another', async () => {
  const found: string[] = [];
  for (let query = '?limit=1'; ;) {
    const page = await api.expect(200, { path: `/v1/decisions${query}` });
    const { items, next } = page as { items: Readonly<Record<string, string>>[]; next?: string };
    found.push(...items.map(({ eventId, destinationId = 'none' }) => `${eventId} ${destinationId}`));
    if (next === undefined) break;
    query = `?limit=1&cursor=${next}`;
  }
  assert.deepEqual(found, ['e-3 none', 'e-2 erp', 'e-2 crm', 'e-1 crm']);
  const other = Buffer.from('{"decidedAt":1,"eventId":2}').toString('base64url');
  await api.refused({ path: `/v1/decisions?cursor=${other}` }, 400, 'invalid-request');
});

test('a token that is limited to a destination sees only what that one did not get', async () => {
  const body = { name: 'erp', scope: 'read', destinations: ['erp'] };
  const settings = { webhooks: [{ url: 'https://erp.example/hook' }] };
  const erp = { id: 'erp', type: 'Webhooks', settings };
  await api.expect(201, { method: 'POST', path: '/v1/destinations', body: erp });
  const { token } = await api.expect(201, { method: 'POST', path: '/v1/tokens', body });
  assert.deepEqual(
    (await list('', String(token))).map(({ destinationId }) => destinationId),
    ['erp'],
  );
  await api.refused({ path: '/v1/decisions?destination=crm', token: String(token) }, 404, 'not-found');
});
