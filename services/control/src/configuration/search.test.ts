import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { adminToken, openApi, type Api } from '../testing/api.ts';

let control: Api;
before(async () => {
  control = await openApi();
  for (const [id, name] of [
    ['web', 'Shop'],
    ['app', 'Web app'],
    ['shop-server', undefined],
  ]) {
    await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id, name } });
  }
  for (const [id, name, sources] of [
    ['crm', 'Customers', ['web', 'app']],
    ['erp', 'Orders of customers', ['app']],
    ['mailer', undefined, []],
  ]) {
    const settings = { webhooks: [{ url: 'https://crm.example/hook' }] };
    const body = { id, name, type: 'Webhooks', sources, settings };
    await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  }
});
after(() => control[Symbol.asyncDispose]());

async function idsOf(path: string, token = adminToken): Promise<string[]> {
  const { items } = await control.expect(200, { path, token });
  return (items as { id: string }[]).map(({ id }) => id);
}

test('sources and destinations are found by a part of the id or the name, in any case', async () => {
  assert.deepEqual(await idsOf('/v1/sources?search=WEB'), ['app', 'web']);
  assert.deepEqual(await idsOf('/v1/sources?search=server'), ['shop-server']);
  assert.deepEqual(await idsOf('/v1/destinations?search=customers'), ['crm', 'erp']);
  assert.deepEqual(await idsOf('/v1/destinations?search=none'), []);
  await control.refused({ path: '/v1/sources?search=' }, 400, 'invalid-request');
});

test('the destinations of a source are found, also page by page and with a search', async () => {
  assert.deepEqual(await idsOf('/v1/destinations?source=app'), ['crm', 'erp']);
  assert.deepEqual(await idsOf('/v1/destinations?source=app&search=orders'), ['erp']);
  assert.deepEqual(await idsOf('/v1/destinations?source=none'), []);
  const { items, next } = await control.expect(200, { path: '/v1/destinations?source=app&limit=1' });
  assert.equal((items as unknown[]).length, 1);
  assert.deepEqual(await idsOf(`/v1/destinations?source=app&limit=1&cursor=${String(next)}`), ['erp']);
});

test('a search finds only what the token reaches', async () => {
  const body = { name: 'orders', scope: 'read', destinations: ['erp'], expiresIn: '1h' };
  const { token } = await control.expect(201, { method: 'POST', path: '/v1/tokens', body });
  assert.deepEqual(await idsOf('/v1/destinations?search=customers', String(token)), ['erp']);
});
