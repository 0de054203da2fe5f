/** Deliveries of deleted users, through all stages: nothing that was accepted before the deletion is sent. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deliveryKey, type Delivery } from '@tailrace/records';
import { allSources, deletedKey, encodeDeleted, type UserDeletion } from '@tailrace/suppressions';
import { simulatedStart } from '@tailrace/testing';
import { serverError } from '../testing/fake-sender.ts';
import { destinationOf, names, newDelivery, Stage } from '../testing/stage.ts';

const crm = destinationOf('crm');
const now = simulatedStart;
/** Accepted before the deletion, and after it. */
const [before, deletedAt, after] = [now - 60_000, now - 30_000, now - 1_000];

function deliveryOf(userId: string, more: Partial<Delivery> = {}): Delivery {
  const body = Buffer.from(JSON.stringify({ version: 1, type: more.type ?? 'track', userId }));
  return newDelivery('crm', { key: deliveryKey('crm', userId), acceptedAt: before, body, ...more });
}

async function deleteUser(
  stage: Stage,
  userId: string,
  scope = allSources,
  deletion: Partial<UserDeletion> = {},
): Promise<void> {
  const requests = [{ id: 'r-1', at: new Date(deletedAt).toISOString(), ...deletion }];
  const record = encodeDeleted(names.suppressions, { kind: 'deleted', userId, scope, requests });
  await stage.write(record);
}

/** Writes the deliveries, and returns the ids of those that were sent when all have ended. */
async function sentOf(stage: Stage, deliveries: readonly Delivery[], topic = names.deliveries) {
  const { sender } = await stage.startReplica();
  await stage.publish(deliveries, topic);
  await stage.untilCommitted(deliveries.length, topic);
  const sent = sender.bodies;
  return deliveries.filter(({ body }) => sent.includes(String(body))).map(({ deliveryId }) => deliveryId);
}

describe('a delivery of a deleted user', () => {
  test('9.5 12.6 that was accepted before the deletion becomes a dead letter without content', async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    await deleteUser(stage, 'ada');
    const [old, other, later] = [
      deliveryOf('ada', { sequence: undefined, eventName: 'Order' }),
      deliveryOf('bob'),
      deliveryOf('ada', { acceptedAt: after, body: Buffer.from('{"userId":"ada","new":1}') }),
    ];
    assert.deepEqual(await sentOf(stage, [old, other, later]), [other.deliveryId, later.deliveryId]);
    const letters = await stage.deliveries(names.deliveriesDead);
    assert.deepEqual(
      letters.map(({ deliveryId, reason, body, attempt }) => [deliveryId, reason, body.length, attempt]),
      [[old.deliveryId, 'user-deleted', 0, 0]],
    );
  });

  test('9.5 12.6 is not sent where the user was deleted while its destination was looked up', async () => {
    await using stage = new Stage();
    await stage.configure({ ...crm, enabled: false });
    const replica = await stage.startReplica();
    const { sender, lanes } = replica;
    const release = replica.holdLookUp();
    await stage.publish(deliveryOf('ada'));
    await stage.until(() => lanes.running === 1);
    await stage.configure(crm);
    await deleteUser(stage, 'ada');
    await stage.time.pass(1_000);
    release();
    assert.equal((await stage.deadLetter()).reason, 'user-deleted');
    assert.equal(sender.requests.length, 0);
  });

  test('9.5 12.6 is not sent as a form either', async () => {
    await using stage = new Stage();
    await stage.configure({ ...crm, settings: { ...crm.settings, contentType: 'form' } });
    await deleteUser(stage, 'ada');
    const payload = JSON.stringify({ version: 1, type: 'track', userId: 'ada' });
    const body = Buffer.from(new URLSearchParams({ payload }).toString());
    assert.deepEqual(await sentOf(stage, [deliveryOf('ada', { contentType: 'form', body })]), []);
    assert.equal((await stage.deadLetter()).reason, 'user-deleted');
  });

  test('9.5 12.6 is not sent as a transform has made it, and leaves nothing of what that has thrown or added', async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    await deleteUser(stage, 'ada');
    const made = {
      transformFailure: 'Transform of version 1: thrown: ada@example.com',
      requestHeaders: { 'X-User': 'ada' },
      body: Buffer.from('{"type":"track","userId":"ada"}'),
    };
    const sent = { transformVersion: 1, body: Buffer.from('{"text":"Ada has ordered"}') };
    assert.deepEqual(await sentOf(stage, [deliveryOf('ada', sent), deliveryOf('ada', made)]), []);
    await stage.until(() => stage.cluster.records(names.deliveriesDead).length === 2);
    for (const letter of await stage.deliveries(names.deliveriesDead)) {
      const { reason, body, lastAnswer, transformFailure, requestHeaders } = letter;
      assert.deepEqual(
        [reason, body.length, lastAnswer, transformFailure, requestHeaders],
        ['user-deleted', 0, undefined, undefined, undefined],
      );
    }
  });

  const minuteMs = 60_000;
  for (const [clock, aheadMs] of [
    ['50 minutes ahead', 50 * minuteMs],
    ['ten minutes behind', -10 * minuteMs],
  ] as const) {
    test(`12.6 is judged by its place in events, where the clock of the deletion is ${clock}`, async () => {
      await using stage = new Stage();
      await stage.configure(crm);
      const at = new Date(now + aheadMs).toISOString();
      await deleteUser(stage, 'ada', allSources, { at, before: { partition: 3, offset: 10 } });
      const at9 = deliveryOf('ada', { acceptedAt: now - 1, eventPosition: '3/9' });
      const at10 = {
        acceptedAt: now + 1,
        eventPosition: '3/10',
        body: Buffer.from('{"userId":"ada","n":10}'),
      };
      const next = deliveryOf('ada', at10);
      assert.deepEqual(await sentOf(stage, [at9, next]), [next.deliveryId]);
    });
  }

  test('is judged by time where its event is in another partition, or events was created again', async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    const dayMs = 86_400_000;
    const deletedAt = now - 3 * dayMs;
    const at = new Date(deletedAt).toISOString();
    await deleteUser(stage, 'ada', allSources, { at, before: { partition: 3, offset: 10 } });
    const body = (n: number): Buffer => Buffer.from(`{"userId":"ada","n":${n}}`);
    const [old, later, oldLog, newLog] = [
      deliveryOf('ada', { acceptedAt: deletedAt - 1, eventPosition: '2/99', body: body(1) }),
      deliveryOf('ada', { acceptedAt: deletedAt + 1, eventPosition: '2/1', body: body(2) }),
      deliveryOf('ada', { acceptedAt: deletedAt - 2 * dayMs, eventPosition: '3/99', body: body(3) }),
      deliveryOf('ada', { acceptedAt: deletedAt + 2 * dayMs, eventPosition: '3/1', body: body(4) }),
    ];
    const sent = await sentOf(stage, [old, later, oldLog, newLog]);
    assert.deepEqual(sent, [later.deliveryId, newLog.deliveryId]);
  });

  test('of another source than the deleted ones is sent', async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    await deleteUser(stage, 'ada', 'app');
    const [web, app] = [deliveryOf('ada'), deliveryOf('ada', { sourceId: 'app', eventName: 'app' })];
    const { sender } = await stage.startReplica();
    await stage.publish([web, app]);
    await stage.untilCommitted(2);
    assert.equal(sender.requests.length, 1);
    assert.equal((await stage.deadLetter()).deliveryId, app.deliveryId);
  });

  test('is sent where only its anonymous id is that of the deleted user, and not where it is an alias', async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    await deleteUser(stage, 'ada');
    const anonymous = deliveryOf('ada', { body: Buffer.from('{"anonymousId":"ada"}') });
    const alias = deliveryOf('ada', { type: 'alias', body: Buffer.from('{"User ID":"ada"}') });
    assert.deepEqual(await sentOf(stage, [anonymous, alias]), [anonymous.deliveryId]);
  });

  test('of type delete is sent, also after her earlier events where the destination has an order', async () => {
    await using stage = new Stage({ scheduleMs: [20, 40] });
    await stage.configure({ ...crm, ordering: 'user' });
    const { sender } = await stage.startReplica();
    sender.onRequest = () => serverError;
    const old = deliveryOf('ada');
    await stage.publish(old);
    await stage.records(names.retryTier(20));
    await deleteUser(stage, 'ada');
    sender.onRequest = () => ({ kind: 'success', status: 200 });
    const notice = deliveryOf('ada', {
      type: 'delete',
      body: Buffer.from('{"type":"delete","userId":"ada"}'),
    });
    await stage.publish([deliveryOf('ada', { eventName: 'behind' }), notice]);
    await stage.until(() => sender.bodies.some((body) => body.includes('delete')));
    const letters = await stage.deliveries(names.deliveriesDead, 2);
    assert.deepEqual(
      letters.map(({ reason }) => reason),
      ['user-deleted', 'user-deleted'],
    );
    assert.equal(letters[0]?.deliveryId, old.deliveryId);
  });

  test('that was parked ends without an attempt', async () => {
    await using stage = new Stage({ scheduleMs: [20] });
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    await deleteUser(stage, 'ada');
    const waiting = deliveryOf('ada', {
      attempt: 3,
      step: 2,
      firstAttemptAt: before,
      reason: 'circuit-open',
    });
    await stage.publish(waiting, names.retryTier(20));
    assert.equal((await stage.deadLetter()).reason, 'user-deleted');
    assert.equal(sender.requests.length, 0);
  });

  test('12.6 that is replayed is judged by when its event was accepted', async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    await deleteUser(stage, 'ada');
    const replay = { replayedFrom: '0/1', acceptedAt: undefined };
    const old = deliveryOf('ada', { ...replay, eventAcceptedAt: before });
    const unknown = deliveryOf('ada', { ...replay, body: Buffer.from('{"userId":"ada","of":"97d5248"}') });
    const recent = deliveryOf('ada', {
      ...replay,
      eventAcceptedAt: after,
      body: Buffer.from('{"userId":"ada","new":1}'),
    });
    const sent = await sentOf(stage, [old, unknown, recent], names.deliveriesReplay);
    assert.deepEqual(sent, [recent.deliveryId]);
  });

  test('is sent after the deletion was lifted, but not where its dead letter has lost its content', async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    await deleteUser(stage, 'ada');
    await stage.write({ topic: names.suppressions, key: deletedKey(allSources, 'ada'), value: null });
    const [pending, ended] = [deliveryOf('ada'), deliveryOf('ada', { body: Buffer.alloc(0) })];
    const { sender } = await stage.startReplica();
    await stage.publish([pending, ended]);
    await stage.untilCommitted(2);
    assert.deepEqual(sender.bodies, [pending.body.toString()]);
    assert.equal((await stage.deadLetter()).reason, 'user-deleted');
  });
});
