/** Streams of copies of the deliveries of a destination, signed as its receiver gets them. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Delivery } from '@tailrace/records';
import { verifySignature } from '@tailrace/signing';
import { encodeDeleted } from '@tailrace/suppressions';
import { eventually } from '@tailrace/testing';
import { amounts } from '../access/shared.ts';
import { adminToken, names, openApi, readToken, type Api } from '../testing/api.ts';
import { createFlow, type Flow } from '../testing/flow.ts';
import { openLines, type LineStream } from '../testing/lines.ts';
import type { Copy } from './feed.ts';

type Line = Partial<Copy> & { readonly missed?: number };

const sharedSecret = 's3cret of crm';
const token = 'token of the real receiver';

let control: Api;
let flow: Flow;
let url: string;
let streams: LineStream<Line>[] = [];
before(async () => {
  control = await openApi();
  flow = createFlow(control.kafka);
  for (const id of ['web', 'app'])
    await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id } });
  for (const id of ['crm', 'erp']) {
    const webhooks = [{ url: `https://${id}.example.com/hook`, headers: { 'X-Api-Key': token } }];
    const settings = { sharedSecret, auth: { token }, deliveryIdHeader: 'X-Delivery-Id', webhooks };
    const body = { id, type: 'Webhooks', settings };
    await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  }
  url = await control.listen();
});
after(() => control[Symbol.asyncDispose]());
afterEach(() => {
  for (const stream of streams) stream.leave();
  streams = [];
});

const path = (destination: string): string => `/v1/destinations/${destination}/copies/stream`;

async function listen(destination: string, query = '', by = adminToken): Promise<LineStream<Line>> {
  const stream = await openLines<Line>(`${url}${path(destination)}${query}`, by);
  streams.push(stream);
  return stream;
}

async function deliver(changes: Partial<Delivery> = {}, topic = names.deliveries): Promise<Delivery> {
  const delivery = flow.delivery('crm', changes);
  await flow.publish(topic, delivery);
  return delivery;
}

test('each delivery of the destination is copied once, with the body and the signature that its receiver gets', async () => {
  const stream = await listen('crm');
  await flow.publish(names.deliveries, flow.delivery('erp'));
  const body = Buffer.from(
    '{"version":1,"type":"track","userId":"ada","event":"Größe","properties":{"total":25.50}}',
  );
  const delivery = await deliver({ body, eventName: 'Größe' });
  await flow.publish(names.retryTier(1_000), { ...delivery, attempt: 1 });
  const resent = await deliver({}, names.deliveriesReplay);
  const last = await deliver();
  await stream.waitFor(3);
  assert.deepEqual(
    stream.items.map(({ deliveryId }) => deliveryId).sort(),
    [delivery, resent, last].map(({ deliveryId }) => deliveryId).sort(),
  );
  const copy = stream.items.find(({ deliveryId }) => deliveryId === delivery.deliveryId);
  assert.partialDeepStrictEqual(copy, {
    type: 'track',
    event: 'Größe',
    method: 'POST',
    body: body.toString(),
  });
  const { 'X-Signature': signature = '', ...headers } = copy?.headers ?? {};
  assert.ok(verifySignature(sharedSecret, Buffer.from(copy?.body ?? ''), signature));
  assert.deepEqual(headers, {
    'Content-Type': 'application/json',
    'User-Agent': 'Tailrace/1.0',
    'X-Delivery-Id': delivery.deliveryId,
  });
  assert.ok(!JSON.stringify(stream.items).includes(token), 'no credential of the receiver');
});

test('a listener gets the deliveries of an event and a user, and a limited token those of its sources', async () => {
  const limits = { name: 'crm team', scope: 'write', sources: ['web'], destinations: ['crm'] };
  const created = await control.expect(201, { method: 'POST', path: '/v1/tokens', body: limits });
  const limited = await listen('crm', '', String(created['token']));
  const filtered = await listen('crm', '?event=Signed%20Up&userId=ben');
  const all = await listen('crm');
  await deliver({ eventName: 'Signed Up', key: 'crm/ada' });
  await deliver({ eventName: 'Paid', key: 'crm/ben' });
  await deliver({ eventName: 'Signed Up', key: 'crm/ben', sourceId: 'app' });
  const last = await deliver({ eventName: 'Signed Up', key: 'crm/ben', sourceId: 'web' });
  await all.waitFor(4);
  for (const stream of [limited, filtered])
    await stream.find(({ deliveryId }) => deliveryId === last.deliveryId);
  assert.deepEqual(
    filtered.items.map(({ sourceId, userKey }) => `${sourceId ?? ''} ${userKey ?? ''}`),
    ['app ben', 'web ben'],
  );
  assert.ok(limited.items.every(({ sourceId }) => sourceId === 'web'));
  await control.refused({ path: path('erp'), token: String(created['token']) }, 404, 'not-found');
});

test('nothing that was accepted before the deletion of its user is copied', async () => {
  const requests = [{ id: 'r-1', at: new Date().toISOString() }];
  const deleted = { kind: 'deleted', userId: 'eve', scope: 'web', requests } as const;
  await control.kafka.publisher().publish(encodeDeleted(names.suppressions, deleted));
  // A preview waits until the deletion is in force.
  const preview = { method: 'PUT', path: '/v1/sources/web/audiences/vip?dryRun=true' } as const;
  await control.expect(200, { ...preview, bytes: '', headers: { 'content-type': 'text/csv' } });
  const stream = await listen('crm');
  const ofEve = { key: 'crm/eve', sourceId: 'web', acceptedAt: Date.now() - 60_000 };
  await deliver({ ...ofEve, body: Buffer.from('{"type":"track","userId":"eve"}') });
  await deliver({ ...ofEve, body: Buffer.alloc(0) });
  const last = await deliver({ ...ofEve, type: 'delete' });
  await stream.waitFor(1);
  assert.deepEqual(
    stream.items.map(({ deliveryId }) => deliveryId),
    [last.deliveryId],
  );
});

test('it needs the right to test the destination, and each stream is in the audit log', async () => {
  await control.refused({ path: path('crm'), token: readToken }, 403, 'forbidden');
  await control.refused({ path: path('none') }, 404, 'not-found');
  await listen('erp');
  await eventually(
    () => control.expect(200, { path: '/v1/audit?limit=200' }),
    ({ items }) =>
      (items as { action: string; target?: string }[]).some(
        ({ action, target }) => action === 'destination.listen' && target === 'destination/erp',
      ),
  );
});

test('what is beyond the limit of a second is counted, and nothing is read when nobody listens', async () => {
  const groups = (): number =>
    control.cluster.activeGroups.filter((id) => id.startsWith(`${names.deliveries}.tail.`)).length;
  const before = await eventually(groups, (count) => count <= 1);
  const stream = await listen('crm');
  assert.equal(groups(), before + 1);
  const sent = 3 * amounts.copies.ofOne;
  await Promise.all(Array.from({ length: sent }, () => deliver()));
  const lines = await stream.waitFor(
    (found) => found.reduce((sum, { missed = 1 }) => sum + missed, 0) === sent,
  );
  assert.ok(lines.some(({ missed }) => missed !== undefined));
  stream.leave();
  await eventually(groups, (count) => count === before);
});
