/** Deliveries of paused destinations, on an in-memory Kafka cluster. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeRecallRequest } from '@tailrace/records';
import { pauseTierMs } from '@tailrace/topology';
import { held, serverError, success } from '../testing/fake-sender.ts';
import { destinationOf, names, newDelivery, Stage } from '../testing/stage.ts';

const crm = destinationOf('crm');
const paused = { ...crm, paused: true };
const pauseTopic = names.retryTier(pauseTierMs);
const hour = 3_600_000;

function bodyOf(nth: number): Buffer {
  return Buffer.from(JSON.stringify({ version: 1, type: 'track', event: `event ${nth}` }));
}

describe('a paused destination', () => {
  test('10.8 gets nothing, and its deliveries wait for a day without an attempt or a window', async () => {
    await using stage = new Stage({ windowMs: 1_000 });
    await stage.configure(paused, destinationOf('erp'));
    const { sender } = await stage.startReplica();
    await stage.publish([newDelivery('crm'), newDelivery('crm'), newDelivery('erp')]);
    const waiting = await stage.deliveries(pauseTopic, 2);
    for (const delivery of waiting) {
      assert.partialDeepStrictEqual(delivery, {
        reason: 'paused',
        heldBy: 'paused',
        attempt: 0,
        deferrals: 0,
      });
      assert.equal(delivery.firstAttemptAt, undefined);
      assert.ok((delivery.dueAt ?? NaN) > Date.now() + 23 * hour);
    }
    await stage.untilCommitted(3);
    assert.deepEqual(
      sender.requests.map(({ destinationId }) => destinationId),
      ['erp'],
    );
  });

  test('10.8 loses nothing in a pause of five days, and its waits are written again daily, without a count', async () => {
    await using stage = new Stage();
    await stage.configure(paused);
    await stage.startReplica();
    await stage.publish([newDelivery('crm'), newDelivery('crm', { attempt: 1 })]);
    await stage.publish(
      newDelivery('crm', {
        attempt: 3,
        firstAttemptAt: Date.now() - hour,
        dueAt: Date.now(),
        reason: 'timeout',
      }),
      names.retryTier(20 * 60_000),
    );
    await stage.deliveries(pauseTopic, 3);
    for (let day = 1; day <= 5; day += 1) {
      // Time without a replica passes at no cost.
      await stage.stopReplicas();
      await stage.time.pass(23.5 * hour);
      await stage.startReplica();
      await stage.time.pass(0.5 * hour + 60_000);
      assert.equal((await stage.deliveries(pauseTopic)).length, 3 * (day + 1), `day ${day}`);
    }
    const waiting = (await stage.deliveries(pauseTopic)).slice(-3);
    for (const { reason, deferrals, step } of waiting) {
      assert.deepEqual({ reason, deferrals, step }, { reason: 'paused', deferrals: 0, step: 0 });
    }
    assert.deepEqual(stage.cluster.records(names.deliveriesDead), []);
    assert.deepEqual(stage.cluster.records(names.attempts), []);
    await stage.configure(crm);
    const attempts = await stage.attempts(3);
    assert.deepEqual(
      attempts
        .map(({ outcome, attempt }) => [outcome, attempt])
        .sort(([, a], [, b]) => Number(a) - Number(b)),
      [
        ['delivered', 1],
        ['delivered', 2],
        ['delivered', 4],
      ],
    );
  });

  test('ends attempts in flight, and pauses pending deliveries of its lane and those that become due', async () => {
    await using stage = new Stage({ scheduleMs: [20, 60_000], limits: { perLane: 1 } });
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    sender.onRequest = () => held;
    await stage.publish([newDelivery('crm'), newDelivery('crm')]);
    await sender.sent(1);
    await stage.configure(paused);
    await stage.publish(newDelivery('crm'));
    await stage.records(pauseTopic, 1);
    sender.answerHeld(serverError);
    const [retry] = await stage.deliveries(names.retryTier(20), 1);
    assert.partialDeepStrictEqual(retry, { attempt: 1, step: 1, reason: 'server-error' });
    const waiting = await stage.deliveries(pauseTopic, 3);
    assert.deepEqual(waiting.map(({ attempt, step }) => [attempt, step]).sort(), [
      [0, 0],
      [0, 0],
      [1, 0],
    ]);
    assert.equal(sender.requests.length, 1);
  });

  test('gives the deliveries of an open breaker a new window, and is probed by the first after the resume', async () => {
    await using stage = new Stage({ scheduleMs: [50, 60_000], windowMs: hour });
    await stage.configure(paused);
    const replica = await stage.startReplica();
    const parkedAt = Date.now() - 2 * hour;
    const parked = { reason: 'circuit-open', firstAttemptAt: parkedAt, deferrals: 4, dueAt: Date.now() };
    await stage.publish(newDelivery('crm', parked), names.retryTier(50));
    const waiting = await stage.delivery(pauseTopic);
    assert.deepEqual([waiting.firstAttemptAt, waiting.deferrals], [undefined, 0]);
    const closed: string[] = [];
    const { breakers } = replica.lanes;
    const close = breakers.close.bind(breakers);
    breakers.close = (id) => {
      closed.push(id);
      close(id);
    };
    await stage.configure(crm);
    const [attempt] = await stage.attempts(1);
    assert.equal(attempt?.outcome, 'delivered');
    assert.deepEqual(closed, ['crm']);
  });

  test('is drained on request, and its deliveries die where it is disabled', async () => {
    await using stage = new Stage();
    await stage.configure(paused);
    const { sender } = await stage.startReplica();
    await stage.publish([newDelivery('crm'), newDelivery('crm')]);
    await stage.records(pauseTopic, 2);
    const request = { id: 'r1', kind: 'drain', destinationId: 'crm', partitions: 1 } as const;
    const requestedAt = new Date(Date.now() + 1).toISOString();
    const { key, value } = encodeRecallRequest(names.recalls, { ...request, requestedAt });
    await stage.write({ topic: names.recalls, key, value });
    for (const { reason } of await stage.deliveries(names.deliveriesDead, 2)) assert.equal(reason, 'drained');
    await stage.configure({ ...paused, enabled: false });
    await stage.publish(newDelivery('crm'));
    const [, , disabled] = await stage.deliveries(names.deliveriesDead, 3);
    assert.equal(disabled?.reason, 'destination-disabled');
    assert.equal(sender.requests.length, 0);
  });

  test('does not slow others: ten thousand of its deliveries, and its resume, beside those of another', async () => {
    await using stage = new Stage({ limits: { waiting: 100 } });
    await stage.configure(paused, destinationOf('erp'));
    const { sender, lanes } = await stage.startReplica();
    const count = 10_000;
    await stage.publish(Array.from({ length: count }, (_, nth) => newDelivery('crm', { key: `crm/${nth}` })));
    await stage.publish(newDelivery('erp'));
    await sender.sent(1);
    assert.equal(sender.requests[0]?.destinationId, 'erp');
    await stage.records(pauseTopic, count);
    assert.equal(lanes.waiting, 0);
    let most = 0;
    sender.onRequest = ({ destinationId }) => {
      most = Math.max(most, lanes.running);
      return destinationId === 'crm' ? success : success;
    };
    await stage.configure(crm, destinationOf('erp'));
    await sender.sent(count + 1);
    assert.ok(most <= 200, `${most} in flight`);
    assert.equal(new Set(sender.bodies).size, count + 1);
    assert.deepEqual(stage.cluster.records(names.deliveriesDead), []);
  });
});

describe('a resumed destination', () => {
  test('10.8 gets its deliveries in the order in which they began to wait', async () => {
    await using stage = new Stage({ limits: { perLane: 1 } });
    await stage.configure(paused);
    const { sender } = await stage.startReplica();
    const count = 300;
    const deliveries = Array.from({ length: count }, (_, nth) => newDelivery('crm', { body: bodyOf(nth) }));
    await stage.publish(deliveries);
    await stage.records(pauseTopic, count);
    await stage.configure(crm);
    await sender.sent(count);
    assert.deepEqual(
      sender.bodies,
      deliveries.map(({ body }) => String(body)),
    );
  });

  test('10.8 begins the schedule and the window of a delivery again, and keeps its number of attempts', async () => {
    await using stage = new Stage({ scheduleMs: [50, 60_000], windowMs: hour });
    await stage.configure(paused);
    const { sender } = await stage.startReplica();
    const before = { attempt: 5, step: 2, firstAttemptAt: Date.now() - 2 * hour, closedUrls: ['a'] };
    await stage.publish(newDelivery('crm', { ...before, dueAt: Date.now() }), names.retryTier(50));
    const waiting = await stage.delivery(pauseTopic);
    assert.partialDeepStrictEqual(waiting, { attempt: 5, step: 0, closedUrls: ['a'] });
    sender.onRequest = (_, nth) => (nth === 1 ? serverError : success);
    const resumedAt = Date.now();
    await stage.configure(crm);
    await sender.sent(2);
    const attempts = await stage.attempts(2);
    assert.deepEqual(
      attempts.map(({ attempt, outcome }) => [attempt, outcome]),
      [
        [6, 'retry'],
        [7, 'delivered'],
      ],
    );
    const retry = (await stage.deliveries(names.retryTier(50), 2))[1];
    assert.ok((retry?.firstAttemptAt ?? NaN) >= resumedAt);
  });

  test('gets its pending deliveries where no replica saw the resume', async () => {
    await using stage = new Stage();
    await stage.configure(paused);
    const first = await stage.startReplica();
    const count = 50;
    await stage.publish(Array.from({ length: count }, () => newDelivery('crm')));
    await stage.records(pauseTopic, count);
    await stage.untilCommitted(count);
    await first.stop();
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    await sender.sent(count);
    assert.equal(new Set(sender.bodies).size, count);
  });

  test('gets the rest of its deliveries where it was paused again meanwhile', async () => {
    await using stage = new Stage({ limits: { perLane: 1 } });
    await stage.configure(paused);
    const { sender } = await stage.startReplica();
    const count = 20;
    const deliveries = Array.from({ length: count }, (_, nth) => newDelivery('crm', { body: bodyOf(nth) }));
    await stage.publish(deliveries);
    await stage.records(pauseTopic, count);
    sender.onRequest = () => held;
    await stage.configure(crm);
    await sender.sent(1);
    await stage.configure(paused);
    await stage.publish(newDelivery('crm', { body: bodyOf(count) }));
    sender.onRequest = () => success;
    sender.release();
    // Those that the recall had sent to the lane wait again.
    await stage.until(() => stage.cluster.records(pauseTopic).length > count);
    assert.equal(sender.requests.length, 1);
    await stage.configure(crm);
    await sender.sent(count + 1);
    assert.equal(new Set(sender.bodies).size, count + 1);
    assert.equal(sender.requests.length, count + 1);
  });
});

describe('with an order', () => {
  const ordered = destinationOf('crm', { ordering: 'user' });

  test('a resumed destination gets the events of each user one after another', async () => {
    await using stage = new Stage({ scheduleMs: [20, 60_000] });
    await stage.configure(ordered);
    const { sender, lanes } = await stage.startReplica();
    sender.onRequest = () => held;
    const users = 10;
    const each = 20;
    const deliveries = Array.from({ length: users * each }, (_, nth) =>
      newDelivery('crm', { key: `crm/user-${nth % users}`, body: bodyOf(nth) }),
    );
    await stage.publish(deliveries.slice(0, users * 2));
    // One is in flight, the others wait in their lane or behind it, in memory.
    await sender.sent(1);
    await stage.until(() => lanes.waiting === users - 1);
    await stage.configure({ ...ordered, paused: true });
    await stage.publish(deliveries.slice(users * 2));
    await stage.records(pauseTopic, users * (each - 2));
    sender.onRequest = () => success;
    sender.release();
    await stage.records(pauseTopic, users * each - 1);
    assert.equal(sender.requests.length, 1);
    await stage.configure(ordered);
    await sender.sent(users * each);
    const seen = new Map<number, number>();
    for (const body of sender.bodies) {
      const nth = Number(/event (\d+)/.exec(body)?.[1]);
      const user = nth % users;
      assert.ok(nth > (seen.get(user) ?? -1), `${nth} after ${seen.get(user) ?? ''}`);
      seen.set(user, nth);
    }
    assert.equal(sender.requests.length, users * each);
    assert.deepEqual(stage.cluster.records(names.deliveriesDead), []);
  });

  test('a new delivery waits behind those of its user that are recalled', async () => {
    await using stage = new Stage({ scheduleMs: [20, 60_000] });
    await stage.configure({ ...ordered, paused: true });
    const { sender } = await stage.startReplica();
    sender.onRequest = () => held;
    const deliveries = [0, 1, 2].map((nth) => newDelivery('crm', { body: bodyOf(nth) }));
    await stage.publish(deliveries.slice(0, 2));
    await stage.records(pauseTopic, 2);
    await stage.configure(ordered);
    await sender.sent(1);
    await stage.publish(deliveries.slice(2));
    await stage.untilCommitted(3);
    sender.onRequest = () => success;
    sender.release();
    await sender.sent(3);
    assert.deepEqual(
      sender.bodies,
      deliveries.map(({ body }) => String(body)),
    );
  });
});
