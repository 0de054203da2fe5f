/** Audiences and deletion requests over HTTP, on an in-memory Kafka cluster. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { eventually } from '@tailrace/testing';
import { adminToken, names, openApi, readToken, type Api, type ApiRequest } from '../testing/api.ts';

let control: Api;
let address: string;
before(async () => {
  control = await openApi();
  address = await control.listen();
  for (const id of ['web', 'app'])
    await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id } });
  const settings = { webhooks: [{ url: 'https://crm.example.com/' }] };
  const body = { id: 'crm', type: 'Webhooks', sources: ['app'], settings };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
});
after(() => control[Symbol.asyncDispose]());

const pathOf = (name: string): string => `/v1/sources/web/audiences/${encodeURIComponent(name)}`;
const ndjson = { 'content-type': 'application/x-ndjson' };
const users = (count: number): string[] => Array.from({ length: count }, (_, nth) => `user-${nth}`);
const linesOf = (userIds: readonly string[]): string => userIds.map((id) => `{"userId":"${id}"}\n`).join('');

async function untilDone(name: string): Promise<Readonly<Record<string, unknown>>> {
  const { json } = await eventually(
    () => control.ask({ path: pathOf(name) }),
    ({ json }) => (json['sync'] as { state?: string } | undefined)?.state === 'done',
  );
  return json;
}

/** `+user` or `-user` for each readable call with the trait, unordered. */
function sentChanges(trait: string): string[] {
  return control.cluster.records(names.events).flatMap(({ value }) => {
    const { userId, traits } = JSON.parse(value?.toString() ?? '') as { userId: string; traits?: object };
    const isMember = (traits as Record<string, boolean> | undefined)?.[trait];
    return isMember === undefined ? [] : [`${isMember ? '+' : '-'}${userId}`];
  });
}

test('an upload is NDJSON or CSV, compressed or not, and only changes are sent', async () => {
  const name = 'Été / 2024';
  const upload = { method: 'PUT', path: pathOf(name) } as const;
  const sync = await control.expect(202, { ...upload, bytes: linesOf(['ada', 'bob']), headers: ndjson });
  assert.deepEqual([sync['kind'], sync['members']], ['replace', 2]);
  const audience = await untilDone(name);
  assert.deepEqual([audience['name'], audience['trait'], audience['members']], [name, 'été_2024', 2]);
  const csv = { 'content-type': 'text/csv; charset=utf-8', 'content-encoding': 'gzip' };
  const bytes = gzipSync('plan,userId\npro,bob\nfree,"cleo"\n');
  const second = await control.expect(202, { ...upload, bytes, headers: csv });
  await eventually(
    () => control.ask({ path: pathOf(name) }),
    ({ json }) => {
      const { id, state } = json['sync'] as { id: string; state: string };
      return id === second['id'] && state === 'done';
    },
  );
  assert.deepEqual(sentChanges('été_2024').sort(), ['+ada', '+bob', '+cleo', '-ada']);
  const list = await control.expect(200, { path: '/v1/sources/web/audiences' });
  assert.deepEqual(
    (list['items'] as { name: string }[]).map(({ name }) => name),
    [name],
  );
  await control.expect(202, { method: 'DELETE', path: pathOf(name) });
  await eventually(
    () => control.ask({ path: pathOf(name) }),
    ({ status }) => status === 404,
  );
  assert.equal(sentChanges('été_2024').length, 6);
});

test('all members are in a file, for a token that may write', async () => {
  const members = users(501).sort();
  const path = pathOf('Exported');
  const file = `${path}/members.csv`;
  await control.refused({ path: file }, 404, 'not-found');
  await control.expect(202, { method: 'PUT', path, bytes: linesOf(['zoe', ...members]), headers: ndjson });
  await untilDone('Exported');
  await control.expect(202, { method: 'PUT', path, bytes: linesOf(members), headers: ndjson });
  await untilDone('Exported');
  // More of them than may be open at a time.
  for (let nth = 0; nth < 9; nth += 1) {
    const { text } = await control.ask({ path: file });
    assert.equal(text, ['userId', ...members].map((line) => `"${line}"\r\n`).join(''));
  }
  await control.refused({ path: file, token: readToken }, 403, 'forbidden');
});

test('a file of members may be uploaded again, also where a spreadsheet would read an id as a formula', async () => {
  const ids = ['+49 30 1234', '-1', '=1+1', '@ada', "'=ada", "'ada", ';=ada', 'ada, bob'];
  const path = pathOf('Formulas');
  await control.expect(202, { method: 'PUT', path, bytes: linesOf(ids), headers: ndjson });
  await untilDone('Formulas');
  const { text: bytes } = await control.ask({ path: `${path}/members.csv` });
  assert.ok(bytes.includes(`"'+49 30 1234"`));
  const headers = { 'content-type': 'text/csv' };
  const again = { method: 'PUT', path: `${path}?dryRun=true`, bytes, headers } as const;
  const { members, added, removed } = await control.expect(200, again);
  assert.deepEqual([members, added, removed], [ids.length, 0, 0]);
});

test('a preview says who would join and leave, and changes nothing', async () => {
  const upload = { method: 'PUT', path: pathOf('Preview'), headers: ndjson } as const;
  const preview = (bytes: string) =>
    control.expect(200, { ...upload, path: `${upload.path}?dryRun=true`, bytes });
  assert.deepEqual(await preview(linesOf(['ada', 'bob', 'bob'])), {
    read: 3,
    members: 2,
    added: 2,
    removed: 0,
    joining: ['ada', 'bob'],
    leaving: [],
  });
  await control.expect(404, { path: upload.path });
  await control.expect(202, { ...upload, bytes: linesOf(['ada', 'bob', 'cleo']) });
  await untilDone('Preview');
  const { added, removed, joining, leaving } = await preview(linesOf(['bob', ...users(30)]));
  assert.deepEqual([added, removed, leaving], [30, 2, ['ada', 'cleo']]);
  assert.deepEqual(joining, users(30).sort().slice(0, 20));
  assert.deepEqual(sentChanges('preview').sort(), ['+ada', '+bob', '+cleo']);
  assert.equal((await control.expect(200, { path: upload.path }))['members'], 3);
  const empty = { ...upload, path: `${upload.path}?dryRun=true`, bytes: '' };
  await control.refused(empty, 400, 'invalid-membership');
});

test('changes are uploaded, and the members are sent to one destination', async () => {
  const path = pathOf('Changed');
  const csv = { 'content-type': 'text/csv' };
  await control.expect(202, { method: 'PUT', path, bytes: linesOf(['ada', 'bob']), headers: ndjson });
  await untilDone('Changed');
  const change = { method: 'PATCH', path, bytes: 'added,removed\ncleo,bob\n,bob\n', headers: csv } as const;
  const preview = await control.expect(200, { ...change, path: `${path}?dryRun=true` });
  assert.deepEqual([preview['joining'], preview['leaving']], [['cleo'], ['bob']]);
  const sync = await control.expect(202, change);
  assert.deepEqual([sync['kind'], sync['read'], sync['members']], ['change', 3, 2]);
  assert.equal((await untilDone('Changed'))['members'], 2);
  assert.deepEqual(sentChanges('changed').sort(), ['+ada', '+bob', '+cleo', '-bob']);

  const send = { method: 'PUT', path: `${path}?destination=crm` } as const;
  await control.refused(send, 409, 'conflict');
  await control.expect(200, { method: 'PUT', path: '/v1/destinations/crm/sources/web' });
  await control.refused({ ...send, bytes: '"ada"', headers: ndjson }, 400, 'invalid-request');
  await control.refused({ method: 'PUT', path: `${path}?destination=nothing` }, 404, 'not-found');
  const sending = await control.expect(202, send);
  assert.deepEqual([sending['kind'], sending['destination']], ['send', 'crm']);
  assert.equal((await untilDone('Changed'))['members'], 2);
  assert.deepEqual(sentChanges('changed').sort(), ['+ada', '+ada', '+bob', '+cleo', '+cleo', '-bob']);
  await control.expect(200, { method: 'DELETE', path: '/v1/destinations/crm/sources/web' });
});

test('a limited token sends the members of its audiences to its own destinations alone', async () => {
  const path = pathOf('Limited');
  const tokenOf = async (limits: object): Promise<string> => {
    const body = { name: JSON.stringify(limits), scope: 'write', ...limits };
    return String((await control.expect(201, { method: 'POST', path: '/v1/tokens', body }))['token']);
  };
  await control.expect(202, { method: 'PUT', path, bytes: linesOf(['ada']), headers: ndjson });
  await untilDone('Limited');
  const send = { method: 'PUT', path: `${path}?destination=crm&dryRun=true` } as const;
  const change = {
    method: 'PATCH',
    path: `${path}?dryRun=true`,
    bytes: '{"added":[]}',
    headers: ndjson,
  } as const;
  const source = await tokenOf({ sources: ['web'] });
  await control.refused({ ...send, token: source }, 404, 'not-found');
  await control.expect(200, { ...change, token: source });
  const other = await tokenOf({ sources: ['app'], destinations: ['crm'] });
  await control.refused({ ...send, token: other }, 404, 'not-found');
  await control.refused({ ...change, token: other }, 404, 'not-found');
  // It reaches both, which are not connected.
  const both = await tokenOf({ sources: ['web'], destinations: ['crm'] });
  await control.refused({ ...send, token: both }, 409, 'conflict');
});

test('an invalid upload is refused with its reason', async () => {
  const put: ApiRequest = { method: 'PUT', path: pathOf('Refused'), headers: ndjson };
  const refused = async (
    asked: Partial<ApiRequest>,
    status: number,
    code: string,
    message = /\.$/,
  ): Promise<void> => {
    const answer = await control.ask({ ...put, ...asked });
    assert.deepEqual([answer.status, answer.json['code']], [status, code], answer.text);
    assert.match(String(answer.json['message']), message);
  };
  await refused(
    { bytes: '"ada"\n{}\n' },
    400,
    'invalid-membership',
    /^Line 2 has no userId\. Nothing was changed\.$/,
  );
  // Larger than one chunk: the client is still sending when the upload is refused.
  const long = await fetch(`${address}${pathOf('Refused')}`, {
    method: 'PUT',
    headers: { ...ndjson, authorization: `Bearer ${adminToken}` },
    body: `not JSON\n${linesOf(users(200_000))}`,
  });
  assert.equal(long.status, 400);
  assert.match(await long.text(), /"code":"invalid-membership".*"message":"Line 1 is not JSON/);
  const gzip = { ...ndjson, 'content-encoding': 'gzip' };
  await refused({ bytes: '"ada"', headers: gzip }, 400, 'invalid-membership', /not gzip/);
  await refused(
    { bytes: gzipSync('"ada"').subarray(0, -4), headers: gzip },
    400,
    'invalid-membership',
    /incomplete/,
  );
  await refused(
    { bytes: '"ada"', headers: { ...ndjson, 'content-encoding': 'br' } },
    415,
    'unsupported-encoding',
  );
  await refused({ bytes: '"ada"', headers: {} }, 415, 'unsupported-media-type');
  await refused({ bytes: '"ada"', path: pathOf('!') }, 400, 'invalid-request', /^name is not/);
  await refused({ bytes: '"ada"', path: `${pathOf('Refused')}?allowEmpty=maybe` }, 400, 'invalid-request');
  await refused({ bytes: '"ada"', path: '/v1/sources/nowhere/audiences/x' }, 404, 'not-found');
  await refused({ bytes: '"ada"', token: readToken }, 403, 'forbidden');
  await refused({ method: 'GET', headers: {} }, 404, 'not-found');
  await refused({ method: 'DELETE', headers: {} }, 404, 'not-found');
});

test('an incomplete upload changes nothing', async () => {
  const name = 'Broken off';
  const headers = { ...ndjson, authorization: `Bearer ${adminToken}`, 'content-length': '1000000' };
  const upload = request(`${address}${pathOf(name)}`, { method: 'PUT', headers });
  upload.on('error', () => undefined);
  upload.write(linesOf(['eve']), () => upload.destroy());
  await new Promise((resolve) => upload.once('close', resolve));
  await control.logged(({ audit, status }) => audit === 'audience.sync' && status === 400);
  await control.expect(404, { path: pathOf(name) });
  await control.expect(202, { method: 'PUT', path: pathOf(name), bytes: '"ada"', headers: ndjson });
  await untilDone(name);
  assert.deepEqual(sentChanges('broken_off'), ['+ada']);
});

test('a deletion request is executed once, and can be read and listed', async () => {
  const userIds = users(1_000);
  const deletion = { method: 'POST', path: '/v1/deletions' } as const;
  const body = { requestId: 'gdpr-1', userIds };
  const created = await control.expect(202, { ...deletion, body });
  assert.deepEqual([created['id'], created['users'], created['state']], ['gdpr-1', 1_000, 'sending']);
  assert.deepEqual(created['unaffected'], [{ sourceId: 'web', reason: 'no-destination' }]);
  const found = await eventually(
    () => control.expect(200, { path: '/v1/deletions/gdpr-1' }),
    ({ state }) => state === 'sent',
  );
  const sources = found['sources'] as { sourceId: string; sent: number; waiting: number }[];
  assert.deepEqual(
    sources.map(({ sourceId, sent, waiting }) => [sourceId, sent, waiting]),
    [['app', 1_000, 1_000]],
  );

  await control.expect(200, { ...deletion, body });
  await control.refused({ ...deletion, body: { ...body, userIds: ['ada'] } }, 409, 'conflict');
  for (const wrong of [
    { userIds: [] },
    { userIds: ['\ud800'] },
    { userIds: ['ada'], sources: ['nowhere'] },
    { userIds: ['ada'], requestId: 'a/b' },
    { userId: 'ada' },
  ]) {
    await control.refused({ ...deletion, body: wrong }, 400, 'invalid-request');
  }
  await control.expect(202, { ...deletion, body: { userIds: ['ada'], sources: ['app'] } });
  const page = await control.expect(200, { path: '/v1/deletions?limit=1' });
  const next = await control.expect(200, { path: `/v1/deletions?limit=1&cursor=${String(page['next'])}` });
  assert.deepEqual(
    [(next['items'] as { id: string }[]).map(({ id }) => id), next['next']],
    [['gdpr-1'], undefined],
  );
  await control.expect(404, { path: '/v1/deletions/nothing' });
});
