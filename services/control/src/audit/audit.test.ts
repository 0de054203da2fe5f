/** The audit log: every change with its actor, values and address, written together with the change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { decodeAudit, type AuditRecord } from '@tailrace/records';
import { names, newCluster, openApi, readToken, type Api } from '../testing/api.ts';
import { createFlow } from '../testing/flow.ts';
import { createBound } from './trail.ts';

function recordsOf({ cluster }: Api): AuditRecord[] {
  return cluster.records(names.audit).flatMap(({ value }) => decodeAudit(value) ?? []);
}

/** Entries that do not belong to a change of the configuration are written after the answer. */
function recorded(control: Api, count: number): Promise<AuditRecord[]> {
  return eventually(
    () => recordsOf(control),
    ({ length }) => length >= count,
  );
}

const url = 'https://crm.example.com/hook?token=S3CRET';
const destination = {
  id: 'crm',
  type: 'Webhooks',
  sources: [],
  settings: { sharedSecret: 'S3CRET', webhooks: [{ url, headers: { 'X-Key': 'S3CRET' } }] },
};

test('a change leaves who, what, before and after, and from which address, without secrets', async () => {
  await using control = await openApi();
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body: destination });
  await control.expect(200, { method: 'PATCH', path: '/v1/destinations/crm', body: { name: 'CRM' } });
  const settings = { ...destination.settings, sharedSecret: 'S3CRET-2' };
  await control.expect(200, { method: 'PATCH', path: '/v1/destinations/crm', body: { settings } });
  await control.expect(204, { method: 'DELETE', path: '/v1/destinations/crm' });
  const records = recordsOf(control);
  assert.deepEqual(
    records.map(({ action, target, outcome, actor, address }) => [
      action,
      target,
      outcome,
      actor.kind,
      actor.name,
      address,
    ]),
    ['create', 'update', 'update', 'delete'].map((verb) => [
      `destination.${verb}`,
      'destination/crm',
      'done',
      'setting',
      'TAILRACE_API_TOKEN',
      '127.0.0.1',
    ]),
  );
  assert.deepEqual(records[1]?.changes, [{ field: 'name', after: 'CRM' }]);
  assert.deepEqual(
    records[2]?.changes.map(({ field }) => field),
    ['settings.sharedSecret'],
  );
  assert.doesNotMatch(JSON.stringify(records), /S3CRET/);
});

test('the entry is written in the transaction of the change, or neither is', async () => {
  await using control = await openApi();
  Object.assign(control.cluster.topic(names.audit).config, { 'max.message.bytes': '50' });
  await control.refused(
    { method: 'POST', path: '/v1/sources', body: { id: 'web' } },
    413,
    'record-too-large',
  );
  assert.deepEqual(control.cluster.records(names.config), []);
  assert.equal((await control.ask({ path: '/v1/sources/web' })).status, 404);
});

test('refused requests leave an entry, wrong tokens on GET included, with the fingerprint alone', async () => {
  await using control = await openApi();
  await control.refused({ path: '/v1/sources', token: 'wrong-token-S3CRET' }, 401, 'unauthorized');
  await control.refused({ method: 'POST', path: '/v1/sources', token: readToken }, 403, 'forbidden');
  const records = await recorded(control, 2);
  assert.deepEqual(
    records.map(({ outcome, code, actor }) => [outcome, code, actor.kind, actor.name]),
    [
      ['refused', 'unauthorized', 'unknown', 'unknown'],
      ['refused', 'forbidden', 'setting', 'TAILRACE_API_READ_TOKEN'],
    ],
  );
  assert.match(records[0]?.actor.fingerprint ?? '', /^[0-9a-f]{8}$/);
  assert.doesNotMatch(JSON.stringify([records, control.log]), /S3CRET/);
});

test('a sign-in page that asks for its session leaves no entry, and a wrong token or cookie there does', async () => {
  await using control = await openApi();
  const asked = { path: '/v1/session', token: null } as const;
  await control.refused(asked, 401, 'unauthorized');
  await control.refused({ ...asked, headers: { cookie: 'other=1' } }, 401, 'unauthorized');
  await control.refused({ ...asked, headers: { cookie: 'tailrace_session=forged' } }, 401, 'unauthorized');
  await control.refused({ ...asked, token: 'wrong' }, 401, 'unauthorized');
  await control.refused({ path: '/v1/sources', token: null }, 401, 'unauthorized');
  const records = await recorded(control, 3);
  assert.deepEqual(
    records.map(({ action }) => action),
    ['GET /v1/session', 'GET /v1/session', 'GET /v1/sources'],
  );
});

test('a read of a body leaves an entry, and no other read does', async () => {
  await using control = await openApi();
  const flow = createFlow(control.kafka);
  const delivery = flow.delivery('crm');
  await flow.publish(names.deliveries, delivery);
  await flow.publish(names.deliveriesDead, { ...delivery, reason: 'client-error' });
  await control.historyRead();
  const { deliveryId } = delivery;
  const ofDelivery = `/v1/deliveries/${deliveryId}`;
  const { items } = await control.expect(200, { path: '/v1/dead-letters' });
  const ref = String((items as { ref: string }[])[0]?.ref);
  await control.expect(200, { path: ofDelivery });
  await control.expect(200, { path: `/v1/events/${delivery.eventId}` });
  await control.refused({ path: '/v1/deliveries/nothing/body' }, 404, 'not-found');
  await control.refused({ path: '/v1/dead-letters/nothing' }, 404, 'not-found');

  await control.expect(200, { path: `${ofDelivery}/body` });
  await control.expect(200, { path: `/v1/dead-letters/${ref}` });
  await control.expect(200, { path: `/v1/dead-letters/${deliveryId}`, token: readToken });
  const records = await recorded(control, 3);
  assert.deepEqual(
    records.map(({ action, target, outcome, actor }) => [action, target, outcome, actor.name]),
    [
      ['delivery.read-body', `delivery/${deliveryId}`, 'done', 'TAILRACE_API_TOKEN'],
      ['dead-letter.read-body', `dead-letter/${ref}`, 'done', 'TAILRACE_API_TOKEN'],
      ['dead-letter.read-body', `dead-letter/${deliveryId}`, 'done', 'TAILRACE_API_READ_TOKEN'],
    ],
  );
});

test('a flood of wrong tokens leaves a bounded number of entries and log lines', async () => {
  await using control = await openApi();
  for (let sent = 0; sent < 300; sent += 1)
    await control.ask({ path: '/v1/sources', token: `wrong-${sent}` });
  await recorded(control, 50);
  const lines = control.log.filter(({ audit }) => audit !== undefined);
  assert.ok(lines.length < 100, String(lines.length));
  assert.ok(recordsOf(control).length < 100);
});

test('a token with many refused requests hides none of another token', async () => {
  await using control = await openApi();
  const body = { name: 'other', scope: 'write' };
  const { token } = await control.expect(201, { method: 'POST', path: '/v1/tokens', body });
  for (let sent = 0; sent < 210; sent += 1)
    await control.ask({ method: 'POST', path: '/v1/sources', token: readToken });
  await control.refused({ path: '/v1/tokens', token: String(token) }, 403, 'forbidden');
  await eventually(() =>
    recordsOf(control).some(({ actor, outcome }) => actor.name === 'other' && outcome === 'refused'),
  );
  assert.ok(recordsOf(control).length < 100);
});

test('a bound permits a burst, then one in each interval, and counts what it refused', () => {
  const bound = createBound({ burst: 2, intervalMs: 1_000 }, 0);
  const taken = [0, 0, 0, 0, 1_500, 1_600, 3_000].map((after) => bound.take(after));
  assert.deepEqual(taken, [0, 0, undefined, undefined, 2, undefined, 1]);
});

test('the list is filtered and paged, newest first, for admin tokens only', async () => {
  await using control = await openApi();
  for (let n = 0; n < 7; n += 1) {
    await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id: `s${n}` } });
  }
  await control.expect(204, { method: 'DELETE', path: '/v1/sources/s3' });
  const targets = ({ items }: Readonly<Record<string, unknown>>) =>
    (items as AuditRecord[]).map(({ target }) => target);
  const first = await control.expect(200, { path: '/v1/audit?limit=3' });
  assert.deepEqual(targets(first), ['source/s3', 'source/s6', 'source/s5']);
  const next = await control.expect(200, { path: `/v1/audit?limit=50&cursor=${String(first['next'])}` });
  assert.deepEqual(targets(next), ['source/s4', 'source/s3', 'source/s2', 'source/s1', 'source/s0']);
  assert.equal(next['next'], undefined);
  const deleted = await control.expect(200, { path: '/v1/audit?action=source.delete&since=1h' });
  assert.deepEqual(targets(deleted), ['source/s3']);
  const mine = await control.expect(200, { path: '/v1/audit?actor=another' });
  assert.deepEqual(targets(mine), []);
  for (const since of ['1960-01-01', '1969-12-31T23:59:59.999Z', '999999d']) {
    const all = await control.expect(200, { path: `/v1/audit?since=${since}` });
    assert.equal(targets(all).length, 8, since);
  }
  await control.refused({ path: '/v1/audit', token: readToken }, 403, 'forbidden');
  await control.refused({ path: '/v1/audit?cursor=x' }, 400, 'invalid-request');
});

test('X-Forwarded-For is believed from a trusted proxy only', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.7, 127.0.0.2' };
  const addressSeen = async (networks: string): Promise<string | undefined> => {
    await using control = await openApi(newCluster(), { TAILRACE_TRUSTED_PROXIES: networks });
    await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'web' }, headers });
    return recordsOf(control)[0]?.address;
  };
  assert.equal(await addressSeen(''), '127.0.0.1');
  assert.equal(await addressSeen('10.0.0.0/8'), '127.0.0.1');
  assert.equal(await addressSeen('127.0.0.0/8'), '203.0.113.7');
});

test('instances share one log', async () => {
  const cluster = newCluster();
  await using first = await openApi(cluster);
  await using second = await openApi(cluster);
  await first.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'web' } });
  await second.expect(204, { method: 'DELETE', path: '/v1/sources/web' });
  const { items } = await first.expect(200, { path: '/v1/audit' });
  assert.deepEqual(
    (items as AuditRecord[]).map(({ action }) => action),
    ['source.delete', 'source.create'],
  );
});
