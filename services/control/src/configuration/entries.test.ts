/** Sources and destinations through the API: their life cycle, versions and preconditions. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { names, openApi, readToken, type Api, type ApiRequest } from '../testing/api.ts';

let control: Api;
let second: Api;
before(async () => {
  control = await openApi();
  second = await openApi(control.cluster);
});
after(async () => {
  await second[Symbol.asyncDispose]();
  await control[Symbol.asyncDispose]();
});

let ids = 0;

/** An id that no other test uses. */
function newId(): string {
  return `id-${(ids += 1)}`;
}

const webhooks = [{ url: 'https://crm.example.com/hook' }];

async function newSource(fields: object = {}): Promise<string> {
  const { id } = await control.expect(201, { method: 'POST', path: '/v1/sources', body: fields });
  return String(id);
}

async function newDestination(fields: object = {}): Promise<string> {
  const body = { type: 'Webhooks', settings: { webhooks }, ...fields };
  const { id } = await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  return String(id);
}

test('a source is created with an id and a write key, read, changed, and deleted', async () => {
  const created = await control.ask({ method: 'POST', path: '/v1/sources', body: { name: 'Website' } });
  assert.equal(created.status, 201, created.text);
  const { id, writeKeys } = created.json as { id: string; writeKeys: string[] };
  assert.equal(created.headers.get('location'), `/v1/sources/${id}`);
  assert.match(writeKeys[0] ?? '', /^wk_[\w-]{24}$/);

  const path = `/v1/sources/${id}`;
  const read = await control.ask({ path });
  assert.deepEqual([read.json, read.etag], [created.json, created.etag]);

  const patched = await control.ask({ method: 'PATCH', path, body: { enabled: false, name: null } });
  assert.deepEqual(patched.json, { id, writeKeys, enabled: false });
  assert.notEqual(patched.etag, created.etag);
  const replaced = await control.expect(200, { method: 'PUT', path, body: { writeKeys, rateLimit: 5 } });
  assert.deepEqual(replaced, { id, writeKeys, rateLimit: 5, enabled: true });

  assert.equal((await control.ask({ method: 'DELETE', path })).status, 204);
  await control.refused({ path }, 404, 'not-found');
  await control.refused({ method: 'PATCH', path, body: {} }, 404, 'not-found');
  await control.refused({ method: 'DELETE', path }, 404, 'not-found');
});

test('an existing id is a conflict, and a body cannot change the id of the path', async () => {
  const id = await newSource();
  await control.refused({ method: 'POST', path: '/v1/sources', body: { id } }, 409, 'conflict');
  await control.refused(
    { method: 'PATCH', path: `/v1/sources/${id}`, body: { id: newId() } },
    400,
    'invalid-configuration',
  );
});

test('write keys are added and removed, and the last one cannot be removed', async () => {
  const id = await newSource();
  const path = `/v1/sources/${id}`;
  const { writeKeys } = (await control.expect(200, { path })) as { writeKeys: string[] };
  const [first = ''] = writeKeys;
  const added = await control.expect(201, { method: 'POST', path: `${path}/write-keys` });
  const key = String(added['writeKey']);
  const left = await control.expect(200, { method: 'DELETE', path: `${path}/write-keys/${first}` });
  assert.deepEqual(left['writeKeys'], [key]);
  await control.refused({ method: 'DELETE', path: `${path}/write-keys/${first}` }, 404, 'not-found');
  await control.refused({ method: 'DELETE', path: `${path}/write-keys/${key}` }, 409, 'conflict');
});

test('a write key of another source is refused', async () => {
  const key = `wk_${newId()}`;
  const owner = await newSource({ writeKeys: [key] });
  const answer = await control.ask({ method: 'POST', path: '/v1/sources', body: { writeKeys: [key] } });
  assert.deepEqual(answer.json['problems'], [
    { field: 'writeKeys[0]', rule: `is already a write key of the source "${owner}"` },
  ]);
});

test('events are blocked and unblocked idempotently, also in the path', async () => {
  const id = await newSource();
  const event = encodeURIComponent('Order / "Completed"');
  const path = `/v1/sources/${id}/blocked-events?event=${event}`;
  const once = await control.ask({ method: 'PUT', path });
  assert.deepEqual(once.json['schema'], { track: { blocked: ['Order / "Completed"'] } });
  const twice = await control.ask({ method: 'PUT', path });
  assert.equal(twice.etag, once.etag);
  const unblocked = await control.ask({ method: 'DELETE', path });
  assert.deepEqual(unblocked.json['schema'], { track: { blocked: [] } });
  assert.equal((await control.ask({ method: 'DELETE', path })).etag, unblocked.etag);
  const inPath = `/v1/sources/${id}/blocked-events/${event}`;
  assert.deepEqual((await control.ask({ method: 'PUT', path: inPath })).json['schema'], once.json['schema']);
  const again = await control.ask({ method: 'DELETE', path: inPath });
  assert.deepEqual(again.json['schema'], { track: { blocked: [] } });
});

test('events are blocked whose names are steps of a path', async () => {
  const id = await newSource();
  const path = `/v1/sources/${id}/blocked-events`;
  for (const event of ['.', '..', '%2e'])
    await control.expect(200, { method: 'PUT', path: `${path}?event=${encodeURIComponent(event)}` });
  const { schema } = await control.expect(200, { path: `/v1/sources/${id}` });
  assert.deepEqual(schema, { track: { blocked: ['.', '..', '%2e'] } });
  await control.refused({ method: 'PUT', path }, 400, 'invalid-request');
  await control.refused({ method: 'PUT', path: `${path}?event=` }, 400, 'invalid-request');
});

test('a destination is connected and disconnected, and a source with a connected destination is not deleted', async () => {
  const sourceId = await newSource();
  const id = await newDestination({ enabled: false });
  const path = `/v1/destinations/${id}/sources/${sourceId}`;
  const connected = await control.ask({ method: 'PUT', path });
  assert.deepEqual([connected.json['sources'], connected.json['enabled']], [[sourceId], false]);
  assert.equal((await control.ask({ method: 'PUT', path })).etag, connected.etag);
  await control.refused({ method: 'PUT', path: `/v1/destinations/${id}/sources/nowhere` }, 404, 'not-found');

  await control.refused({ method: 'DELETE', path: `/v1/sources/${sourceId}` }, 409, 'conflict');
  assert.equal(
    (await control.ask({ method: 'DELETE', path: `/v1/sources/${sourceId}?force=true` })).status,
    204,
  );
  assert.deepEqual((await control.expect(200, { path: `/v1/destinations/${id}` }))['sources'], []);
  const again = await newSource();
  await control.expect(200, { method: 'PUT', path: `/v1/destinations/${id}/sources/${again}` });
  const left = await control.expect(200, {
    method: 'DELETE',
    path: `/v1/destinations/${id}/sources/${again}`,
  });
  assert.deepEqual(left['sources'], []);
});

test('a list is paged, in the order of ids', async () => {
  const ids = [await newSource(), await newSource(), await newSource()];
  const seen: string[] = [];
  for (let cursor = ''; ;) {
    const page = await control.expect(200, { path: `/v1/sources?limit=2${cursor}` });
    const { items, next } = page as { items: { id: string }[]; next?: string };
    seen.push(...items.map(({ id }) => id));
    if (next === undefined) break;
    cursor = `&cursor=${next}`;
  }
  assert.deepEqual(seen, [...new Set(seen)].sort());
  for (const id of ids) assert.ok(seen.includes(id));
});

test('a read-only token cannot change anything', async () => {
  const id = await newSource();
  await control.refused({ method: 'POST', path: '/v1/sources', token: readToken }, 403, 'forbidden');
  await control.refused({ method: 'DELETE', path: `/v1/sources/${id}`, token: readToken }, 403, 'forbidden');
  await control.expect(200, { path: `/v1/sources/${id}`, token: readToken });
});

test('If-Match refuses a change if the entry was changed in between', async () => {
  const id = await newSource();
  const path = `/v1/sources/${id}`;
  const { etag } = await control.ask({ path });
  const change = (ifMatch: string): ApiRequest => ({
    method: 'PATCH',
    path,
    body: { name: ifMatch },
    headers: { 'if-match': ifMatch },
  });
  const first = await control.ask(change(etag));
  assert.equal(first.status, 200, first.text);
  await control.refused(change(etag), 412, 'precondition-failed');
  await control.refused({ ...change('"x"'), method: 'DELETE' }, 412, 'precondition-failed');
  await control.expect(200, change(`"x", ${first.etag}`));
  await control.expect(200, change('*'));
});

test('a change that one instance acknowledged is visible to the next change of another', async () => {
  const id = await newSource({ name: 'a' });
  const path = `/v1/sources/${id}`;
  await second.expect(200, { method: 'PATCH', path, body: { rateLimit: 7 } });
  const both = await control.expect(200, { method: 'PATCH', path, body: { name: 'b' } });
  assert.deepEqual([both['name'], both['rateLimit']], ['b', 7]);
});

test('every change is a line in the audit log, with actor and outcome', async () => {
  const id = await newSource();
  await control.ask({ method: 'PATCH', path: `/v1/sources/${id}`, body: { enabled: 'yes' } });
  const line = control.log.find(
    (found) => found['target'] === `source/${id}` && found['outcome'] === 'refused',
  );
  assert.ok(line);
  assert.deepEqual(
    [line['audit'], line['actor'], line['status'], line['code']],
    ['source.update', 'admin', 400, 'invalid-configuration'],
  );
  assert.match(String(line['tokenFingerprint']), /^[0-9a-f]{8}$/);
  assert.ok(!JSON.stringify(control.log).includes('test-admin-token'));
});

test('the features of a newer release are removed by their keys, and their requirements with them', async () => {
  const id = await newDestination();
  const publisher = control.kafka.publisher();
  const requires = [{ feature: 'sampling', level: 99, by: 'router' }];
  const newer = { id, type: 'Webhooks', enabled: true, sources: [], settings: { webhooks } };
  const value = JSON.stringify({ ...newer, sampling: 0.1, requires });
  await publisher.publish({ topic: names.config, key: `destination/${id}`, value });
  await publisher.close();

  const path = `/v1/destinations/${id}`;
  const read = await control.expect(200, { path });
  assert.deepEqual([read['sampling'], read['requires']], [0.1, requires]);
  const refused = await control.ask({ method: 'PUT', path, body: read });
  assert.equal(refused.status, 400);
  assert.match(String(refused.json['message']), /sampling/);
  assert.doesNotMatch(String(refused.json['message']), /requires: /);
  assert.deepEqual(await control.expect(200, { method: 'PATCH', path, body: { sampling: null } }), newer);
  const stored = control.cluster
    .records(names.config)
    .findLast(({ key }) => String(key) === `destination/${id}`);
  assert.deepEqual(JSON.parse(String(stored?.value)), newer);
});
