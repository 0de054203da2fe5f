/** Audiences and deletion requests over HTTP, with a control process that is killed while it works. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { applyConfiguration } from '@tailrace/config';
import {
  adminToken,
  readToken,
  startControl,
  startControlPlane,
  type Control,
  type ControlPlane,
} from '../support/processes/control.ts';
import { eventually } from '@tailrace/testing';
import { headerOf, readAll, watchTopic } from '../support/kafka/topics.ts';

let plane: ControlPlane;
let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tailrace-control-audiences-'));
  plane = await startControlPlane({ TAILRACE_DATA_DIR: path.join(folder, 'one') });
  const ids = Array.from({ length: 10 }, (_, nth) => `source-${nth}`);
  await applyConfiguration(plane.kafka, plane.names.config, {
    sources: ['web', ...ids].map((id) => ({ id, writeKeys: [`wk_${id}`], enabled: true })),
    destinations: ids.map((id) => ({
      id: `crm-${id}`,
      type: 'Webhooks',
      enabled: true,
      sources: [id],
      settings: { webhooks: [{ url: 'https://crm.example.com/' }] },
    })),
  });
});
after(async () => {
  await plane[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const pathOf = (name: string): string => `/v1/sources/web/audiences/${encodeURIComponent(name)}`;
const ndjson = { 'content-type': 'application/x-ndjson' };
const users = (count: number): string[] => Array.from({ length: count }, (_, nth) => `user-${nth}`);
const linesOf = (userIds: readonly string[]): string => userIds.map((id) => `{"userId":"${id}"}\n`).join('');

async function untilDone(control: Control, name: string): Promise<Readonly<Record<string, unknown>>> {
  const { json } = await eventually(
    () => control.ask({ path: pathOf(name) }),
    ({ json }) => (json['sync'] as { state?: string } | undefined)?.state === 'done',
  );
  return json;
}

/** `+user` or `-user` for each readable call with the trait, unordered. */
async function sentChanges(trait: string): Promise<string[]> {
  return (await readAll(plane.kafka, plane.names.events)).flatMap(({ value }) => {
    const { userId, traits } = JSON.parse(value?.toString() ?? '') as { userId: string; traits?: object };
    const isMember = (traits as Record<string, boolean> | undefined)?.[trait];
    return isMember === undefined ? [] : [`${isMember ? '+' : '-'}${userId}`];
  });
}

test('an upload is NDJSON or CSV, compressed or not, and only changes are sent', async () => {
  const name = 'Été / 2024';
  const upload = { method: 'PUT', path: pathOf(name) };
  const sync = await plane.expect(202, { ...upload, bytes: linesOf(['ada', 'bob']), headers: ndjson });
  assert.deepEqual([sync['kind'], sync['members']], ['replace', 2]);
  const audience = await untilDone(plane, name);
  assert.deepEqual([audience['name'], audience['trait'], audience['members']], [name, 'été_2024', 2]);
  const csv = { 'content-type': 'text/csv; charset=utf-8', 'content-encoding': 'gzip' };
  const bytes = gzipSync('plan,userId\npro,bob\nfree,"cleo"\n');
  const second = await plane.expect(202, { ...upload, bytes, headers: csv });
  await eventually(
    () => plane.ask({ path: pathOf(name) }),
    ({ json }) => {
      const { id, state } = json['sync'] as { id: string; state: string };
      return id === second['id'] && state === 'done';
    },
  );
  assert.deepEqual((await sentChanges('été_2024')).sort(), ['+ada', '+bob', '+cleo', '-ada']);
  const list = await plane.expect(200, { path: '/v1/sources/web/audiences' });
  assert.deepEqual(
    (list['items'] as { name: string }[]).map(({ name }) => name),
    [name],
  );
  await plane.expect(202, { method: 'DELETE', path: pathOf(name) });
  await eventually(
    () => plane.ask({ path: pathOf(name) }),
    ({ status }) => status === 404,
  );
  assert.equal((await sentChanges('été_2024')).length, 6);
});

test('an invalid upload is refused with its reason', async () => {
  const put = { method: 'PUT', path: pathOf('Refused'), headers: ndjson };
  const refused = async (asked: object, status: number, code: string, message = /\.$/): Promise<void> => {
    const answer = await plane.ask({ ...put, ...asked });
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
  const long = `not JSON\n${linesOf(users(200_000))}`;
  await refused({ bytes: long }, 400, 'invalid-membership', /^Line 1 is not JSON/);
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
  const upload = request(`${plane.url}${pathOf(name)}`, { method: 'PUT', headers });
  upload.on('error', () => undefined);
  upload.write(linesOf(['eve']), () => upload.destroy());
  await new Promise((resolve) => upload.once('close', resolve));
  await plane.process.log.find(({ audit, status }) => audit === 'audience.sync' && status === 400);
  await plane.expect(404, { path: pathOf(name) });
  await plane.expect(202, { method: 'PUT', path: pathOf(name), bytes: '"ada"', headers: ndjson });
  await untilDone(plane, name);
  assert.deepEqual(await sentChanges('broken_off'), ['+ada']);
});

test('a control that was killed during a sync reports it as interrupted, and the same upload sends the rest', async () => {
  const name = 'Killed';
  const env = { TAILRACE_DATA_DIR: path.join(folder, 'two') };
  const bytes = linesOf(users(4_000));
  const before = (await readAll(plane.kafka, plane.names.events)).length;
  await using events = await watchTopic(plane.kafka, plane.names.events);
  const first = await startControl(plane.brokers, plane.prefix, { ...env, TAILRACE_AUDIENCE_RATE: '400' });
  await first.expect(202, { method: 'PUT', path: pathOf(name), bytes, headers: ndjson });
  await events.waitFor(before + 800);
  await first.process.kill();

  await using second = await startControl(plane.brokers, plane.prefix, env);
  const { json } = await second.ask({ path: pathOf(name) });
  const { state, sent } = json['sync'] as { state: string; sent: number };
  assert.deepEqual([state, json['members']], ['interrupted', sent]);
  assert.ok(sent >= 800 && sent < 4_000, String(sent));
  assert.equal((await sentChanges('killed')).length, sent);
  await second.expect(202, { method: 'PUT', path: pathOf(name), bytes, headers: ndjson });
  const { sync } = await untilDone(second, name);
  assert.equal((sync as { total: number }).total, 4_000 - sent);
  assert.deepEqual(
    (await sentChanges('killed')).sort(),
    users(4_000)
      .map((id) => `+${id}`)
      .sort(),
  );
  await second.process.stop();
});

test('a deletion request is executed once, can be read, and is finished by another instance', async () => {
  const env = { TAILRACE_DATA_DIR: path.join(folder, 'three') };
  const first = await startControl(plane.brokers, plane.prefix, env);
  const body = { requestId: 'gdpr-1', userIds: users(1_000) };
  const created = await first.expect(202, { method: 'POST', path: '/v1/deletions', body });
  await first.process.kill();
  assert.deepEqual([created['id'], created['users'], created['state']], ['gdpr-1', 1_000, 'sending']);
  assert.deepEqual(created['unaffected'], [{ sourceId: 'web', reason: 'no-destination' }]);

  const { json } = await eventually(
    () => plane.ask({ path: '/v1/deletions/gdpr-1' }),
    ({ json }) => json['state'] === 'sent',
  );
  const sources = json['sources'] as { sourceId: string; sent: number; waiting: number }[];
  assert.deepEqual(
    sources.map(({ sent, waiting }) => [sent, waiting]),
    Array.from({ length: 10 }, () => [1_000, 1_000]),
  );
  const records = (await readAll(plane.kafka, plane.names.events)).filter(({ value }) =>
    value?.includes('"type":"delete"'),
  );
  const pairs = new Set(
    records.map((record) => `${headerOf(record, 'source-id') ?? ''} ${record.key?.toString() ?? ''}`),
  );
  assert.deepEqual([records.length, pairs.size], [10_000, 10_000]);

  await plane.expect(200, { method: 'POST', path: '/v1/deletions', body });
  const other = { ...body, userIds: ['ada'] };
  assert.equal(
    (await plane.expect(409, { method: 'POST', path: '/v1/deletions', body: other }))['code'],
    'conflict',
  );
  for (const wrong of [
    { userIds: [] },
    { userIds: ['\ud800'] },
    { userIds: ['ada'], sources: ['nowhere'] },
    { userIds: ['ada'], requestId: 'a/b' },
    { userId: 'ada' },
  ]) {
    const { code } = await plane.expect(400, { method: 'POST', path: '/v1/deletions', body: wrong });
    assert.equal(code, 'invalid-request');
  }
  await plane.expect(202, {
    method: 'POST',
    path: '/v1/deletions',
    body: { userIds: ['ada'], sources: ['source-1'] },
  });
  const page = await plane.expect(200, { path: '/v1/deletions?limit=1' });
  const next = await plane.expect(200, { path: `/v1/deletions?limit=1&cursor=${String(page['next'])}` });
  assert.deepEqual(
    [(next['items'] as { id: string }[]).map(({ id }) => id), next['next']],
    [['gdpr-1'], undefined],
  );
  await plane.expect(404, { path: '/v1/deletions/nothing' });
});
