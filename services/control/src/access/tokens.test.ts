/** Tokens: created, limited, expired, revoked, and never shown again. */
import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { names, newCluster, openApi, readToken, type Api, type ApiRequest } from '../testing/api.ts';
import { digestOf } from './token.ts';

const cluster = newCluster();
let control: Api;
let other: Api;
before(async () => {
  [control, other] = await Promise.all([openApi(cluster), openApi(cluster)]);
  for (const id of ['web', 'app']) {
    await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id, writeKeys: [`wk_${id}`] } });
  }
  for (const id of ['crm', 'erp']) {
    const settings = { webhooks: [{ url: 'https://example.com/' }] };
    const body = { id, type: 'Webhooks', sources: ['web'], settings };
    await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  }
});
after(async () => {
  await other[Symbol.asyncDispose]();
  await control[Symbol.asyncDispose]();
});

let count = 0;
async function create(wanted: object): Promise<{ readonly id: string; readonly token: string }> {
  count += 1;
  const body = { name: `token ${count}`, ...wanted };
  return (await control.expect(201, { method: 'POST', path: '/v1/tokens', body })) as never;
}

async function statusOf(request: ApiRequest): Promise<number> {
  return (await control.ask(request)).status;
}

test('a token is shown once, and only its hash is stored', async () => {
  const { id, token } = await create({ name: 'ci', scope: 'write', expiresIn: '90d' });
  assert.match(token, /^tlr_[0-9a-f]{12}_[A-Za-z0-9_-]{43}$/);
  const stored = cluster.records(names.config).findLast(({ key }) => String(key) === `token/${id}`);
  assert.ok(stored?.value?.includes(digestOf(token).toString('hex')));
  assert.ok(!cluster.records(names.config).some(({ value }) => value?.includes(token)));
  const secret = token.slice(-43);
  for (const path of ['/v1/tokens', `/v1/tokens/${id}`]) {
    const { text } = await control.ask({ path });
    assert.ok(text.includes('"ci"') && !text.includes(secret) && !text.includes('hash'), text);
  }
  assert.ok(!JSON.stringify(control.log).includes(secret));
});

test('each scope allows what it names, and no more', async () => {
  const [read, write] = [await create({ scope: 'read' }), await create({ scope: 'write' })];
  const admin = await create({ scope: 'admin' });
  const put = { method: 'PUT', path: '/v1/sources/web/blocked-events/Debug' } as const;
  const tokens = { path: '/v1/tokens' } as const;
  const statuses = async (token: string) => [
    await statusOf({ path: '/v1/sources', token }),
    await statusOf({ ...put, token }),
    await statusOf({ ...tokens, token }),
  ];
  assert.deepEqual(await statuses(read.token), [200, 403, 403]);
  assert.deepEqual(await statuses(write.token), [200, 200, 403]);
  assert.deepEqual(await statuses(admin.token), [200, 200, 200]);
  const shown = await control.expect(200, { path: '/v1/sources/web', token: read.token });
  assert.deepEqual(shown['writeKeys'], ['********']);
});

test('a limited token reaches only what it names', async () => {
  const { token } = await create({ scope: 'write', sources: ['web'], destinations: ['crm'] });
  const ids = async (path: string) =>
    ((await control.expect(200, { path, token }))['items'] as { id: string }[]).map(({ id }) => id);
  assert.deepEqual(await ids('/v1/sources'), ['web']);
  assert.deepEqual(await ids('/v1/destinations'), ['crm']);
  assert.equal(await statusOf({ path: '/v1/catalog', token }), 200);
  assert.equal(await statusOf({ path: '/v1/destinations/crm', token }), 200);
  const foreign: [ApiRequest['method'], string][] = [
    ['GET', '/v1/sources/app'],
    ['GET', '/v1/destinations/erp'],
    ['PATCH', '/v1/destinations/erp'],
    ['DELETE', '/v1/destinations/erp'],
    ['PUT', '/v1/destinations/crm/sources/app'],
    ['POST', '/v1/destinations/erp/drain'],
    ['GET', '/v1/deliveries?source=app'],
    ['GET', '/v1/deliveries?destination=erp'],
    ['GET', '/v1/attempts/stream?destination=erp'],
  ];
  for (const [method = 'GET', path] of foreign) {
    await control.refused({ method, path, token, body: method === 'GET' ? undefined : {} }, 404, 'not-found');
  }
  const closed: [ApiRequest['method'], string][] = [
    ['POST', '/v1/sources'],
    ['POST', '/v1/destinations'],
    ['POST', '/v1/replays'],
    ['GET', '/v1/overview'],
    ['GET', '/v1/deletions'],
    ['GET', '/v1/tokens'],
  ];
  for (const [method = 'GET', path] of closed) {
    await control.refused({ method, path, token, body: method === 'GET' ? undefined : {} }, 403, 'forbidden');
  }
});

test('a limited token cannot reach more through a body or through a second entry', async () => {
  const { token } = await create({ scope: 'write', sources: ['app'], destinations: ['crm'] });
  const path = '/v1/destinations/crm';
  const sources = ['web', 'app'];
  await control.expect(200, { method: 'PATCH', path, token, body: { sources } });
  await control.expect(200, { method: 'PATCH', path, body: { sources: ['app'] } });
  await control.refused({ method: 'PATCH', path, token, body: { sources } }, 403, 'forbidden');
  await control.expect(200, { method: 'PATCH', path, body: { sources: ['web'] } });
  const ofWeb = await create({ scope: 'write', sources: ['web'] });
  const force = { method: 'DELETE', path: '/v1/sources/web?force=true', token: ofWeb.token } as const;
  await control.refused(force, 403, 'forbidden');
});

test('a token ends to the second, and a revoked one within two seconds in every instance', async () => {
  const { token } = await create({ scope: 'read', expiresIn: '60s' });
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 59_000 });
  try {
    assert.equal(await statusOf({ path: '/v1/catalog', token }), 200);
    mock.timers.tick(1_001);
    await control.refused({ path: '/v1/catalog', token }, 401, 'unauthorized');
  } finally {
    mock.timers.reset();
  }
  const revoked = await create({ scope: 'read' });
  const request = { path: '/v1/catalog', token: revoked.token } as const;
  const isKnown = async () => (await other.ask(request)).status === 200;
  while (!(await isKnown())) await new Promise(setImmediate);
  await other.expect(204, { method: 'DELETE', path: `/v1/tokens/${revoked.id}` });
  await other.refused(request, 401, 'unauthorized');
  while ((await statusOf(request)) !== 401) await new Promise(setImmediate);
});

test('tokens that cannot mean anything are refused with the field', async () => {
  const refused: [object, string][] = [
    [{ scope: 'root' }, 'scope'],
    [{ scope: 'admin', sources: ['web'] }, 'scope'],
    [{ scope: 'read', sources: [] }, 'sources'],
    [{ scope: 'read', sources: ['nothing'] }, 'sources[0]'],
    [{ scope: 'read', destinations: ['nothing'] }, 'destinations[0]'],
    [{ scope: 'read', expiresAt: '2001-01-01' }, 'expiresAt'],
    [{ scope: 'read', expiresAt: 'soon' }, 'expiresAt'],
    [{ scope: 'read', expiresIn: '0s' }, 'expiresIn'],
    [{ scope: 'read', name: '' }, 'name'],
    [{ scope: 'read', name: 'a\u0000' }, 'name'],
  ];
  for (const [body, field] of refused) {
    const request = { method: 'POST', path: '/v1/tokens', body: { name: 'bad', ...body } } as const;
    const { json } = await control.refused(request, 400, 'invalid-request');
    assert.equal((json['problems'] as { field: string }[])[0]?.field, field, JSON.stringify(body));
  }
  await create({ name: 'twice', scope: 'read' });
  const again = { method: 'POST', path: '/v1/tokens', body: { name: 'twice', scope: 'read' } } as const;
  await control.refused(again, 409, 'conflict');
  await control.refused({ ...again, token: readToken }, 403, 'forbidden');
});

test('a text that resembles a token is refused', async () => {
  const { id, token } = await create({ scope: 'admin' });
  const last = token.at(-1) === 'A' ? 'B' : 'A';
  for (const wrong of [
    token.slice(0, -1),
    `${token.slice(0, -1)}${last}`,
    token.toUpperCase(),
    `tlr_${id}_`,
  ]) {
    await control.refused({ path: '/v1/catalog', token: wrong }, 401, 'unauthorized');
  }
});
