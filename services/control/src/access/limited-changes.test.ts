/** Changes by a limited token: it cannot lift a limit that others have set for it, and learns nothing of other entries. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { openApi, type Api, type ApiRequest } from '../testing/api.ts';

type Method = NonNullable<ApiRequest['method']>;

let control: Api;
/** Reaches the source `web` and the destination `crm`, not `app` and `erp`. */
let token: string;
const settings = { webhooks: [{ url: 'https://example.com/' }] };
const writeKeys = ['wk_of_web'];

before(async () => {
  control = await openApi();
  for (const id of ['web', 'app']) {
    const body = { id, writeKeys: [`wk_of_${id}`] };
    await control.expect(201, { method: 'POST', path: '/v1/sources', body });
  }
  for (const id of ['crm', 'erp']) {
    const body = { id, type: 'Webhooks', sources: [], settings };
    await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  }
  const wanted = { name: 'team', scope: 'write', sources: ['web'], destinations: ['crm'] };
  token = String((await control.expect(201, { method: 'POST', path: '/v1/tokens', body: wanted }))['token']);
});
after(() => control[Symbol.asyncDispose]());

const web = '/v1/sources/web';
const crm = '/v1/destinations/crm';
const wholeCrm = { type: 'Webhooks', sources: ['web'], rateLimit: 10, settings };
/** Of which `app` is a source that the token does not reach. */
const shared = { ...wholeCrm, sources: ['web', 'app'] };

beforeEach(async () => {
  await control.expect(200, { method: 'PUT', path: web, body: { writeKeys, rateLimit: 10 } });
  await control.expect(200, { method: 'PUT', path: crm, body: wholeCrm });
});

const asTeam = (method: Method, path: string, body?: unknown): ApiRequest => ({ method, path, body, token });

test('a limited token lowers a rateLimit, and neither raises nor removes it', async () => {
  const refused: [Method, string, object][] = [
    ['PATCH', web, { rateLimit: null }],
    ['PATCH', web, { rateLimit: 11 }],
    ['PATCH', web, { rateLimitBytes: 1_000_000_000 }],
    ['PUT', web, { writeKeys }],
    ['PUT', web, { writeKeys, rateLimit: 1_000_000 }],
    ['PATCH', crm, { rateLimit: null }],
    ['PATCH', crm, { rateLimit: 11 }],
    ['PUT', crm, { ...wholeCrm, rateLimit: undefined }],
  ];
  for (const [method, path, body] of refused) {
    await control.refused(asTeam(method, path, body), 403, 'forbidden');
    assert.equal((await control.expect(200, { path }))['rateLimit'], 10);
  }
  for (const path of [web, crm]) {
    await control.expect(200, asTeam('PATCH', path, { name: 'renamed' }));
    assert.equal((await control.expect(200, asTeam('PATCH', path, { rateLimit: 5 })))['rateLimit'], 5);
    await control.refused(asTeam('PATCH', path, { rateLimit: 10 }), 403, 'forbidden');
    await control.expect(200, { method: 'PATCH', path, body: { rateLimit: null } });
    await control.expect(200, asTeam('PATCH', path, { name: 'without a limit' }));
  }
  await control.expect(200, asTeam('PATCH', crm, { rateLimit: 100 }));
  // It would take the place of the limit that a source without one has in ingest, which may be lower.
  await control.refused(asTeam('PATCH', web, { rateLimit: 1 }), 403, 'forbidden');
});

test('a limited token raises neither burst nor maxInFlight nor disableAfter, and keeps the egress proxy', async () => {
  await control.refused(asTeam('PATCH', crm, { burst: 2 }), 403, 'forbidden');
  await control.expect(200, {
    method: 'PATCH',
    path: crm,
    body: { burst: 5, maxInFlight: 3, disableAfter: '2d' },
  });
  const tooMuch = [
    { burst: 6 },
    { maxInFlight: 4 },
    { maxInFlight: null },
    { disableAfter: '3d' },
    { disableAfter: null },
    { proxy: 'none' },
  ];
  for (const change of tooMuch) await control.refused(asTeam('PATCH', crm, change), 403, 'forbidden');
  await control.expect(200, asTeam('PATCH', crm, { burst: 4, maxInFlight: 2, disableAfter: '36h' }));
  await control.expect(200, asTeam('PATCH', crm, { burst: null }));
});

test('a limited token does not create again what it has deleted', async () => {
  const entries: [string, object][] = [
    [crm, wholeCrm],
    [web, { writeKeys }],
  ];
  await control.expect(200, asTeam('DELETE', `${crm}/sources/web`));
  for (const [path, body] of entries) {
    await control.expect(204, asTeam('DELETE', path));
    const list = path.slice(0, path.lastIndexOf('/'));
    await control.refused(
      asTeam('POST', list, { ...body, id: path.slice(list.length + 1) }),
      403,
      'forbidden',
    );
    for (const method of ['PUT', 'PATCH'] as const)
      await control.refused(asTeam(method, path, body), 404, 'not-found');
  }
  await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'web', writeKeys } });
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body: { ...wholeCrm, id: 'crm' } });
});

test('a limited token disconnects a source that it does not reach by no route', async () => {
  await control.expect(200, { method: 'PUT', path: crm, body: shared });
  await control.refused(asTeam('DELETE', `${crm}/sources/app`), 404, 'not-found');
  for (const sources of [[], ['web']]) {
    await control.refused(asTeam('PATCH', crm, { sources }), 403, 'forbidden');
    await control.refused(asTeam('PUT', crm, { ...shared, sources }), 403, 'forbidden');
  }
  assert.deepEqual((await control.expect(200, { path: crm }))['sources'], ['web', 'app']);
  await control.expect(200, asTeam('PATCH', crm, { sources: ['app'] }));
  await control.expect(200, asTeam('PATCH', crm, { sources: ['app', 'web'] }));
});

test('17.6 a limited token decides nothing about the events of a source that it does not reach', async () => {
  const mine = { webhooks: [{ url: 'https://mine.example/' }] };
  const oauth2 = { tokenUrl: 'https://mine.example/', clientId: 'c', clientSecret: 's' };
  const refused: [Method, string, object?][] = [
    ['PATCH', crm, { settings: mine }],
    ['PATCH', crm, { settings: { sharedSecret: 'mine' } }],
    ['PATCH', crm, { settings: { oauth2 } }],
    ['PATCH', crm, { enabled: false }],
    ['PATCH', crm, { paused: true }],
    ['PATCH', crm, { filter: { types: ['track'] } }],
    ['PATCH', crm, { sample: { percent: 1 } }],
    ['PATCH', crm, { fields: { exclude: ['context.ip'] } }],
    ['PATCH', crm, { retry: { for: '1s' } }],
    ['PATCH', crm, { ordering: 'user' }],
    ['PATCH', crm, { rateLimit: 1 }],
    ['PATCH', crm, { name: 'renamed', timeout: '1s' }],
    ['PATCH', crm, { sources: ['app'], enabled: false }],
    ['PUT', crm, { ...shared, settings: mine }],
    ['POST', `${crm}/pause`],
    ['POST', `${crm}/rotate-secret`],
    ['DELETE', crm],
  ];
  await control.expect(200, { method: 'PUT', path: crm, body: shared });
  const stored = await control.expect(200, { path: crm });
  for (const [method, path, body] of refused) {
    const { json } = await control.refused(asTeam(method, path, body), 403, 'forbidden');
    assert.match(String(json['message']), /may only rename it/, `${method} ${path}`);
  }
  assert.deepEqual(await control.expect(200, { path: crm }), stored);
  await control.expect(200, asTeam('DELETE', `${crm}/sources/web`));
  await control.refused(asTeam('PATCH', crm, { settings: mine }), 403, 'forbidden');
  await control.expect(200, asTeam('PUT', `${crm}/sources/web`));
  await control.expect(200, asTeam('PATCH', crm, { name: 'renamed' }));
  await control.expect(200, asTeam('PUT', crm, { ...shared, name: 'renamed again' }));

  await control.expect(200, { method: 'PATCH', path: crm, body: { sources: ['web'] } });
  await control.expect(200, asTeam('PATCH', crm, { settings: mine, enabled: false }));
});

test('a token that is limited to a destination alone decides about the events of all its sources', async () => {
  await control.expect(200, { method: 'PUT', path: crm, body: shared });
  const body = { name: 'owner of crm', scope: 'write', destinations: ['crm'] };
  const owner = String((await control.expect(201, { method: 'POST', path: '/v1/tokens', body }))['token']);
  await control.expect(200, { ...asTeam('PATCH', crm, { enabled: false }), token: owner });
});

test('a source that the token does not reach is answered as one that does not exist', async () => {
  await control.expect(200, { method: 'PATCH', path: crm, body: { sources: ['web'] } });
  const answers = await Promise.all(
    ['app', 'nothing', 'ap'].map(async (id) => {
      const { status, text } = await control.ask(asTeam('PATCH', crm, { sources: ['web', id] }));
      return `${status} ${text.replaceAll(id, '<id>')}`;
    }),
  );
  assert.equal(new Set(answers).size, 1, answers.join('\n'));
});

test('errors name no entry that the token does not reach', async () => {
  await control.expect(200, { method: 'PUT', path: crm, body: shared });
  const erp = { sources: ['web'], type: 'Webhooks', settings };
  await control.expect(200, { method: 'PUT', path: '/v1/destinations/erp', body: erp });
  const taken = { writeKeys: ['wk_of_app'] };
  const refused = [
    asTeam('DELETE', web),
    asTeam('DELETE', `${web}?force=true`),
    asTeam('PATCH', web, taken),
    asTeam('PUT', web, taken),
    asTeam('PATCH', crm, { sources: ['web', 'app', 'ap'] }),
  ];
  for (const request of refused) {
    const { status, text } = await control.ask(request);
    assert.ok([400, 403, 409].includes(status), text);
    assert.doesNotMatch(text, /erp|"app\\"/, `${request.method} ${request.path}`);
  }
  const { json } = await control.refused(asTeam('DELETE', web), 409, 'conflict');
  assert.match(String(json['message']), /"crm" and 1 that the token does not reach/);
  const { text } = await control.ask({ method: 'PATCH', path: web, body: taken });
  assert.match(text, /write key of the source \\"app\\"/);
});
