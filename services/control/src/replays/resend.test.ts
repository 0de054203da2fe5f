/** Sending again through the API, on an in-memory Kafka cluster. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deliveryKey, encodeDelivery, type AttemptRecord, type Delivery } from '@tailrace/records';
import { eventually } from '@tailrace/testing';
import { names, openApi, readToken, type Api } from '../testing/api.ts';

type Json = Readonly<Record<string, unknown>>;

let control: Api;
before(async () => {
  control = await openApi();
  await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'web' } });
  for (const id of ['crm', 'erp', 'off']) {
    const settings = { webhooks: [{ url: `https://${id}.example.com/` }] };
    const body = { id, type: 'Webhooks', enabled: id !== 'off', settings };
    await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  }
});
after(() => control[Symbol.asyncDispose]());

function delivery(id: string, destinationId: string, more: Partial<Delivery> = {}): Delivery {
  return {
    deliveryId: id,
    eventId: `event-${id}`,
    sourceId: 'web',
    destinationId,
    type: 'track',
    eventName: 'Signed Up',
    attempt: 0,
    step: 0,
    deferrals: 0,
    closedUrls: [],
    key: deliveryKey(destinationId, 'ada'),
    body: Buffer.from('{"event": "Signed Up"}'),
    ...more,
  };
}

async function write(topic: string, one: Delivery): Promise<void> {
  const publisher = control.kafka.publisher();
  await publisher.publish(encodeDelivery(topic, one));
  await publisher.close();
}

async function writeDelivered({ deliveryId, eventId, sourceId, destinationId }: Delivery): Promise<void> {
  const record: AttemptRecord = {
    deliveryId,
    eventId,
    sourceId,
    destinationId,
    type: 'track',
    userKey: 'ada',
    attempt: 1,
    startedAt: new Date().toISOString(),
    latencyMs: 2,
    outcome: 'delivered',
    urls: [],
  };
  const publisher = control.kafka.publisher();
  await publisher.publish({ topic: names.attempts, key: deliveryId, value: JSON.stringify(record) });
  await publisher.close();
}

const resend = (id: string) => ({ method: 'POST', path: `/v1/deliveries/${id}/resend` }) as const;

/** The records of the replay topic of a delivery. */
const replays = (id: string) =>
  control.cluster
    .records(names.deliveriesReplay)
    .filter(({ headers }) => headers['delivery-id']?.toString() === id);

async function ended(replay: Json): Promise<Json> {
  const id = String(replay['id']);
  await control.logged(({ msg, replay }) => msg === 'replay ended' && replay === id);
  return control.expect(200, { path: `/v1/replays/${id}` });
}

test('a delivered delivery is sent again with its id, its body and unknown headers, without its progress', async () => {
  const one = delivery('done', 'crm', { otherHeaders: [['x-newer', Buffer.from('1')]], acceptedAt: 1 });
  await write(names.deliveries, one);
  await writeDelivered(one);
  await control.historyRead();
  const answer = await control.expect(202, resend('done'));
  assert.deepEqual([answer['deliveryId'], answer['eventId']], ['done', 'event-done']);
  const [replay, ...more] = replays('done');
  assert.ok(replay);
  assert.equal(more.length, 0);
  assert.deepEqual(replay.value, one.body);
  assert.equal(replay.key?.toString(), one.key);
  const headers = Object.fromEntries(replay.headerList.map(([name, value]) => [name, String(value)]));
  assert.deepEqual(headers, {
    'delivery-id': 'done',
    'event-id': 'event-done',
    'source-id': 'web',
    'destination-id': 'crm',
    type: 'track',
    'event-name': 'Signed Up',
    attempt: '0',
    'x-newer': '1',
    'event-accepted-at': '1970-01-01T00:00:00.001Z',
    'replayed-by': 'TAILRACE_API_TOKEN',
  });
  await control.historyRead();
  const at = new Date(replay.timestamp).toISOString();
  const shown = await control.expect(200, { path: '/v1/deliveries/done' });
  assert.deepEqual(shown['resends'], [{ at, by: 'TAILRACE_API_TOKEN' }]);
  const body = { name: 'limited', scope: 'read', destinations: ['crm'] };
  const { token } = await control.expect(201, { method: 'POST', path: '/v1/tokens', body });
  const limited = await control.expect(200, { path: '/v1/deliveries/done', token: String(token) });
  assert.deepEqual(limited['resends'], [{ at }]);
  await control.logged((line) => line['audit'] === 'delivery.resend' && line['target'] === 'delivery/done');
});

test('a dead letter of a transform is resent with what the transform of today makes, and a delivery as it was sent', async () => {
  const change = (code: string) =>
    control.expect(200, { method: 'PATCH', path: '/v1/destinations/erp', body: { transform: { code } } });
  const transformFailure = 'Transform of version 1: TypeError: no';
  const body = Buffer.from('{"event":"Signed Up","timestamp":"2026-11-22T10:00:00.000Z"}');
  const bodyOfPage = Buffer.from('{"type":"page","timestamp":"2026-11-22T10:00:00.000Z"}');
  await change("({ event, type }) => ({ body: { event }, headers: { 'X-A': type === 'page' ? 1 : 'b' } })");
  for (const id of ['unmade', 'made', 'unmade-again']) {
    const isMade = id === 'made';
    const one = isMade
      ? { transformVersion: 1, requestHeaders: { 'X-A': 'a' } }
      : { transformFailure, lastAnswer: transformFailure, body: id === 'unmade' ? body : bodyOfPage };
    await write(
      names.deliveriesDead,
      delivery(id, 'erp', { ...one, reason: 'transform-failed', eventName: 'Made' }),
    );
    await control.historyRead();
    await control.expect(202, resend(id));
  }
  const shown = (id: string) => {
    const [{ value, headers } = assert.fail()] = replays(id);
    const names = ['transform-version', 'request-headers', 'transform-failed', 'step'];
    return [value, ...names.map((name) => headers[name])].map((part) => part?.toString());
  };
  assert.deepEqual(shown('unmade'), ['{"event":"Signed Up"}', '1', '{"X-A":"b"}', undefined, undefined]);
  assert.deepEqual(shown('made'), ['{"event": "Signed Up"}', '1', '{"X-A":"a"}', undefined, undefined]);
  const [again, , , failure, step] = shown('unmade-again');
  assert.equal(again, bodyOfPage.toString());
  assert.match(failure ?? '', /^Transform of version 1: /);
  // A release without transforms cannot read it, and so does not send the body.
  assert.equal(step, 'unmade-0');

  const read = await control.expect(200, { path: '/v1/deliveries/made/body', token: readToken });
  assert.deepEqual([read['body'], read['transformVersion']], [{ event: '***' }, 1]);
  const { items } = await control.expect(200, { path: '/v1/dead-letters/unmade', token: readToken });
  assert.deepEqual(
    (items as Json[]).map(({ lastAnswer }) => lastAnswer),
    ['Transform of version 1: ***'],
  );
});

test('a dead letter that is resent counts as replayed, and a replay does not send it again', async () => {
  const letter = delivery('dead', 'crm', { attempt: 9, reason: 'client-error' });
  await write(names.deliveriesDead, letter);
  await control.historyRead();
  // Of one millisecond, the history takes the dead letter for the later record.
  const written = Date.now();
  await eventually(() => Date.now() > written);
  await control.expect(202, resend('dead'));
  await control.historyRead();
  const list = await control.expect(200, { path: '/v1/dead-letters?destination=crm&userId=ada' });
  assert.deepEqual(
    (list['items'] as Json[]).map(({ replayed, event }) => [replayed, event]),
    [[true, 'Signed Up']],
  );
  await control.refused(resend('dead'), 409, 'conflict');
  const replay = {
    method: 'POST',
    path: '/v1/replays',
    body: { event: 'Signed Up', userId: 'ada' },
  } as const;
  const done = await ended(await control.expect(202, replay));
  assert.deepEqual([done['state'], done['due']], ['done', 0]);
  assert.equal(replays('dead').length, 1);
});

test('a dead letter is not resent while a replay may send it', async () => {
  const ids = Array.from({ length: 60 }, (_, nth) => `shipped-${nth}`);
  for (const id of ids)
    await write(names.deliveriesDead, delivery(id, 'erp', { eventName: 'Shipped', reason: 'client-error' }));
  await control.historyRead();
  const body = { destination: 'erp', event: 'Shipped', ratePerSecond: 1 };
  const { id } = await control.expect(202, { method: 'POST', path: '/v1/replays', body });
  const path = `/v1/replays/${String(id)}`;
  await eventually(() => replays('shipped-0').length === 1);
  await control.refused(resend('shipped-59'), 409, 'conflict');
  await control.expect(202, { method: 'POST', path: `${path}/pause` });
  await control.refused(resend('shipped-59'), 409, 'conflict');
  await control.expect(202, { method: 'DELETE', path });
  await eventually(
    () => control.expect(200, { path }),
    ({ endedAt }) => endedAt !== undefined,
  );
  await control.expect(202, resend('shipped-59'));
  assert.equal(replays('shipped-59').length, 1);
});

test('a resend of a pending, expired or unknown delivery, or to a disabled destination, is refused with the reason', async () => {
  await write(names.deliveries, delivery('pending', 'crm'));
  await write(names.deliveriesDead, delivery('nowhere', 'off', { reason: 'client-error' }));
  await write(names.deliveriesDead, delivery('gone', 'erp', { reason: 'client-error' }));
  await control.historyRead();
  await control.refused(resend('pending'), 409, 'conflict');
  await control.refused(resend('nowhere'), 409, 'conflict');
  await control.refused(resend('none'), 404, 'not-found');
  await control.refused({ ...resend('gone'), token: readToken }, 403, 'forbidden');
  const [letter] = control.cluster
    .records(names.deliveriesDead)
    .filter(({ headers }) => headers['delivery-id']?.toString() === 'gone');
  assert.ok(letter);
  await control.cluster.expire(names.deliveriesDead, letter.partition, letter.offset + 1);
  await control.refused(resend('gone'), 410, 'expired');
  assert.equal(replays('gone').length, 0);
});

test('a recovery replays the dead letters of the destination since a time, and of no other', async () => {
  for (const id of ['one', 'two']) {
    await write(names.deliveriesDead, delivery(`erp-${id}`, 'erp', { reason: 'server-error' }));
    await write(names.deliveriesDead, delivery(`crm-${id}`, 'crm', { reason: 'server-error' }));
  }
  const recover = (id: string, body: object) =>
    ({ method: 'POST', path: `/v1/destinations/${id}/recover`, body }) as const;
  const none = await ended(await control.expect(202, recover('erp', { since: '2h', until: '1h' })));
  assert.equal(none['due'], 0);
  const done = await ended(await control.expect(202, recover('erp', { since: '1h', ratePerSecond: 1_000 })));
  assert.deepEqual([done['state'], done['replayed']], ['done', 2]);
  assert.deepEqual(
    [replays('erp-one').length, replays('erp-two').length, replays('crm-one').length],
    [1, 1, 0],
  );
  assert.equal(String(replays('erp-one')[0]?.headers['replayed-by']), 'TAILRACE_API_TOKEN');
  const again = await ended(await control.expect(202, recover('erp', { since: '1h', dryRun: true })));
  assert.deepEqual([again['due'], again['dryRun']], [0, true]);
  await control.refused(recover('erp', {}), 400, 'invalid-request');
  await control.refused(recover('erp', { since: 'soon' }), 400, 'invalid-request');
  await control.refused(recover('off', { since: '1h' }), 409, 'conflict');
  await control.refused(recover('none', { since: '1h' }), 404, 'not-found');
});

test('what a deleted user did is neither sent again nor replayed: its body was removed', async () => {
  const dead = { attempt: 1, reason: 'user-deleted', body: Buffer.alloc(0) };
  await write(names.deliveriesDead, delivery('of-deleted', 'erp', dead));
  await control.historyRead();
  const refused = await control.expect(410, resend('of-deleted'));
  assert.match(String(refused['message']), /its user was deleted/);
  const filter = { destination: 'erp', reason: 'user-deleted' };
  const replay = await control.expect(202, { method: 'POST', path: '/v1/replays', body: filter });
  const { state, replayed, malformed } = await ended(replay);
  assert.deepEqual({ state, replayed, malformed }, { state: 'done', replayed: 0, malformed: 1 });
  assert.deepEqual(replays('of-deleted'), []);
});
