/** Deliveries that wait: until they are due, for their lane, for a circuit breaker, for an earlier one of their user. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { Delivery } from '@tailrace/records';
import { held, serverError, success } from '../testing/fake-sender.ts';
import { destinationOf, names, newDelivery, Stage, type Replica } from '../testing/stage.ts';

const crm = destinationOf('crm');
/** More than is read ahead of one partition of a retry topic, where bodies have 400 bytes. */
const many = 1_000;
const year2099 = Date.UTC(2099, 0, 1);

describe('a delivery that is not due', () => {
  test('is sent when it is due, and not earlier', async () => {
    await using stage = new Stage({ scheduleMs: [200] });
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    const sentAt = new Map<string, number>();
    sender.onRequest = ({ body }) => {
      sentAt.set(String(body), Date.now());
      return success;
    };
    const startedAt = Date.now();
    const deliveries = [-5_000, 50, 60, 70, 80].map((delayMs) =>
      newDelivery('crm', { attempt: 1, firstAttemptAt: startedAt, dueAt: startedAt + delayMs }),
    );
    await stage.publish(deliveries, names.retryTier(200));
    await stage.untilCommitted(deliveries.length, names.retryTier(200));
    for (const { body, dueAt } of deliveries) {
      const latenessMs = (sentAt.get(String(body)) ?? NaN) - Math.max(dueAt ?? NaN, startedAt);
      assert.ok(latenessMs >= 0 && latenessMs < 5_000, `${latenessMs} ms late`);
    }
  });

  test('waits at most for the delay of its retry topic, so that a retry topic never stalls', async () => {
    await using stage = new Stage({ scheduleMs: [50] });
    await stage.configure(crm);
    const times = { firstAttemptAt: Date.now(), dueAt: year2099 };
    const deliveries = Array.from({ length: many }, (_, nth) =>
      newDelivery('crm', { attempt: 1, ...times, body: Buffer.alloc(400, `${nth} `) }),
    );
    const last = newDelivery('crm', { attempt: 1, ...times, dueAt: Date.now() });
    await stage.publish([...deliveries, last], names.retryTier(50));
    const startedAt = Date.now();
    const { sender } = await stage.startReplica();
    let firstAt = Infinity;
    sender.onRequest = ({ body }) => {
      if (!body.equals(last.body)) firstAt = Math.min(firstAt, Date.now());
      return success;
    };
    await stage.untilCommitted(many + 1, names.retryTier(50));
    assert.equal(new Set(sender.bodies).size, many + 1);
    assert.ok(firstAt >= startedAt + 50);
  });

  test('waits in a retry topic only', async () => {
    await using stage = new Stage({ scheduleMs: [60_000] });
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    for (const topic of [names.deliveries, names.deliveriesReplay]) {
      await stage.publish(newDelivery('crm', { dueAt: year2099 }), topic);
    }
    await sender.sent(2);
  });

  test('is due if its due time is missing, also if its destination has an order', async () => {
    await using stage = new Stage({ scheduleMs: [60_000] });
    await stage.configure({ ...crm, ordering: 'user' });
    await stage.publish(newDelivery('crm', { key: 'crm/bob' }));
    await stage.publish(newDelivery('crm', { attempt: 1, sequence: 0 }), names.retryTier(60_000));
    await stage.startReplica();
    await stage.untilCommitted(1);
    await stage.untilCommitted(1, names.retryTier(60_000));
    assert.deepEqual(
      (await stage.attempts(2)).map(({ outcome }) => outcome),
      ['delivered', 'delivered'],
    );
  });
});

test('a first attempt in the future counts as made when the record was read, and the window ends', async () => {
  const scheduleMs = Array<number>(9).fill(50);
  await using stage = new Stage({ scheduleMs, windowMs: 200 });
  await stage.configure(crm);
  const { sender } = await stage.startReplica();
  sender.onRequest = () => serverError;
  const times = { firstAttemptAt: year2099, dueAt: Date.now() };
  await stage.publish(newDelivery('crm', { attempt: 1, ...times }), names.retryTier(50));
  const [written, retry] = await stage.records(names.retryTier(50), 2);
  assert.ok(written && retry);
  const firstAttemptAt = Date.parse(String(retry.headers['first-attempt-at']));
  assert.ok(firstAttemptAt <= retry.timestamp && firstAttemptAt >= written.timestamp - 1_000);
  assert.equal((await stage.deadLetter()).reason, 'window-exceeded');
});

describe('the retries of a replica with a wrong clock', () => {
  for (const [direction, aheadMs] of [
    ['ahead', 50 * 60_000],
    ['behind', -50 * 60_000],
  ] as const) {
    test(`are sent in time by the next owner: ${direction}`, async () => {
      const windowMs = 4 * 3_600_000;
      await using stage = new Stage({ scheduleMs: [100], windowMs });
      await stage.configure(crm);
      const wrong = await stage.startReplica({ now: () => Date.now() + aheadMs });
      wrong.sender.onRequest = () => serverError;
      const deliveries = Array.from({ length: 20 }, () => newDelivery('crm'));
      await stage.publish(deliveries);
      const [written] = await stage.deliveries(names.retryTier(100), deliveries.length);
      assert.ok(Math.abs((written?.firstAttemptAt ?? NaN) - Date.now() - aheadMs) < 60_000);
      await wrong.stop();
      const next = await stage.startReplica();
      await stage.untilCommitted(deliveries.length, names.retryTier(100));
      assert.equal(new Set(next.sender.bodies).size, deliveries.length);
    });
  }
});

test('the retries of a new owner are due behind those that are in the retry topic already', async () => {
  await using stage = new Stage({ scheduleMs: [60_000], windowMs: 4 * 3_600_000 });
  await stage.configure(crm);
  // An earlier owner has written these just now, as late as they may be due.
  const lastDueAt = Date.now() + 60_000;
  const earlier = Array.from({ length: many }, (_, nth) =>
    newDelivery('crm', { attempt: 1, firstAttemptAt: Date.now(), dueAt: lastDueAt - many + nth }),
  );
  await stage.publish(earlier, names.retryTier(60_000));
  const { sender } = await stage.startReplica();
  sender.onRequest = () => serverError;
  await stage.publish(newDelivery('crm'));
  const retry = (await stage.records(names.retryTier(60_000), many + 1))[many];
  assert.ok(retry);
  const dueAt = Date.parse(String(retry.headers['due-at']));
  assert.ok(dueAt >= lastDueAt, `${lastDueAt - dueAt} ms before the last that is in front of it`);
  assert.ok(dueAt <= retry.timestamp + 60_000);
});

describe('a full lane', () => {
  test('10.6 defers the delivery without a step of its schedule', async () => {
    await using stage = new Stage({ scheduleMs: [60_000], limits: { waiting: 4 } });
    await stage.configure({ ...crm, rateLimit: 1 });
    const { sender } = await stage.startReplica();
    sender.onRequest = () => held;
    const deliveries = Array.from({ length: 10 }, () => newDelivery('crm'));
    await stage.publish(deliveries);
    const deferred = await stage.delivery(names.retryTier(60_000));
    assert.partialDeepStrictEqual(deferred, { reason: 'lane-full', attempt: 0, step: 0, deferrals: 1 });
    assert.ok((deferred.placeAt ?? 0) > Date.now() - 60_000);
    assert.ok((deferred.dueAt ?? 0) > Date.now());
    assert.ok(!sender.bodies.includes(String(deferred.body)));
  });

  test('defers waiting deliveries to a receiver that asked for a pause', async () => {
    await using stage = new Stage({ scheduleMs: [1_000, 60_000], limits: { perLane: 1 } });
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    sender.onRequest = () => held;
    const [failing, waiting] = [newDelivery('crm'), newDelivery('crm')];
    await stage.publish([failing, waiting]);
    await sender.sent(1);
    sender.answerHeld({ kind: 'retryable', reason: 'server-error', status: 503, retryAfterMs: 60_000 });
    const inTier = await stage.deliveries(names.retryTier(60_000), 2);
    const of = ({ deliveryId }: Delivery) => inTier.find((delivery) => delivery.deliveryId === deliveryId);
    assert.partialDeepStrictEqual(of(failing), { reason: 'server-error', attempt: 1, deferrals: 0 });
    assert.partialDeepStrictEqual(of(waiting), { reason: 'lane-full', attempt: 0, step: 0 });
    for (const { dueAt } of inTier) assert.ok((dueAt ?? 0) >= Date.now() + 40_000);
    assert.equal(sender.requests.length, 1);
  });
});

test('5.5 7.7 a higher rate limit applies within a second to deliveries that wait already', async () => {
  await using stage = new Stage();
  await stage.configure({ ...crm, rateLimit: 1 });
  const { sender } = await stage.startReplica();
  await stage.publish(Array.from({ length: 50 }, () => newDelivery('crm')));
  await sender.sent(1);
  await stage.configure({ ...crm, rateLimit: 1_000 });
  const changedAt = Date.now();
  await stage.untilCommitted(50);
  assert.ok(Date.now() - changedAt < 5_000, `${Date.now() - changedAt} ms`);
});

/** Opens the circuit breakers of a replica; the next probe is due in `probeInMs` for the first that asks. */
function openBreakers(t: TestContext, { lanes: { breakers } }: Replica, probeInMs?: number): void {
  const claims = [probeInMs];
  t.mock.method(breakers, 'isBlocked', () => true);
  t.mock.method(breakers, 'permit', () => []);
  t.mock.method(breakers, 'stateOf', () => ({ state: 'open', since: 0 }));
  t.mock.method(breakers, 'claimProbe', () => claims.shift());
}

describe('an open circuit breaker', () => {
  test('10.6 parks deliveries without an attempt, one of them until the next probe', async (t) => {
    await using stage = new Stage({ scheduleMs: [10_000, 60_000] });
    await stage.configure(crm);
    const replica = await stage.startReplica();
    openBreakers(t, replica, 5_000);
    await stage.publish([newDelivery('crm'), newDelivery('crm')]);
    const [probe, other] = await stage.deliveries(names.retryTier(10_000), 2);
    const now = Date.now();
    for (const parked of [probe, other]) {
      assert.partialDeepStrictEqual(parked, { reason: 'circuit-open', attempt: 0, step: 0 });
      assert.ok((parked?.firstAttemptAt ?? NaN) <= now);
      assert.ok((parked?.dueAt ?? NaN) > now && (parked?.dueAt ?? NaN) <= now + 10_000);
    }
    assert.deepEqual([probe?.deferrals, other?.deferrals], [0, 1]);
    await stage.untilCommitted(2);
    assert.equal(replica.sender.requests.length, 0);
    assert.deepEqual(stage.cluster.records(names.attempts), []);
  });

  test('makes a dead letter of a delivery whose window has ended', async (t) => {
    await using stage = new Stage({ scheduleMs: [20], windowMs: 60_000 });
    await stage.configure(crm);
    const replica = await stage.startReplica();
    openBreakers(t, replica);
    const firstAttemptAt = Date.now() - 61_000;
    await stage.publish(newDelivery('crm', { attempt: 1, firstAttemptAt }), names.retryTier(20));
    assert.equal((await stage.deadLetter()).reason, 'circuit-open');
    assert.equal(replica.sender.requests.length, 0);
  });

  test('of one URL leaves the other URLs of a delivery open', async (t) => {
    await using stage = new Stage({ scheduleMs: [60_000] });
    const webhooks = [{ url: 'https://down.example.com/' }, { url: 'https://up.example.com/' }];
    await stage.configure({ ...crm, settings: { webhooks } });
    const { sender, lanes } = await stage.startReplica();
    const permit = { isProbe: false, report: () => undefined };
    t.mock.method(lanes.breakers, 'permit', () => [undefined, permit]);
    await stage.publish(newDelivery('crm'));
    await stage.untilCommitted(1);
    assert.deepEqual(
      sender.requests.map(({ origin }) => origin),
      ['https://up.example.com'],
    );
    const [attempt] = await stage.attempts();
    assert.equal(attempt?.outcome, 'delivered');
    assert.deepEqual(
      attempt.urls.map(({ reason }) => reason),
      ['circuit-open', undefined],
    );
  });
});

describe('a destination with an order', () => {
  test('11.4 gets a replayed delivery of a user at once, also while an earlier one is retried', async () => {
    await using stage = new Stage({ scheduleMs: [60_000] });
    await stage.configure({ ...crm, ordering: 'user' });
    const { sender } = await stage.startReplica();
    const [retried, replayed] = [newDelivery('crm'), newDelivery('crm')];
    sender.onRequest = ({ body }) => (body.equals(retried.body) ? serverError : success);
    await stage.publish(retried);
    await stage.untilCommitted(1);
    await stage.publish(replayed, names.deliveriesReplay);
    await stage.untilCommitted(1, names.deliveriesReplay);
    assert.deepEqual(
      sender.bodies,
      [retried, replayed].map(({ body }) => String(body)),
    );
    assert.equal(stage.cluster.records(names.retryTier(60_000)).length, 1);
  });

  test('10.6 lets later deliveries of a user wait behind one that is retried, and not those of others', async () => {
    await using stage = new Stage({ scheduleMs: [60_000] });
    await stage.configure({ ...crm, ordering: 'user' });
    const { sender } = await stage.startReplica();
    const [first, second] = [newDelivery('crm'), newDelivery('crm')];
    const ofBob = newDelivery('crm', { key: 'crm/bob' });
    let failures = 1;
    sender.onRequest = ({ body }) => {
      if (!body.equals(first.body) || failures === 0) return success;
      failures -= 1;
      return serverError;
    };
    await stage.publish([first, second, ofBob]);
    await stage.untilCommitted(3);
    assert.deepEqual(
      sender.bodies,
      [first, ofBob].map(({ body }) => String(body)),
    );
    const [retry, behind] = await stage.deliveries(names.retryTier(60_000), 2);
    assert.partialDeepStrictEqual(retry, { reason: 'server-error', attempt: 1, sequence: 0 });
    assert.partialDeepStrictEqual(behind, { reason: 'behind', attempt: 0, step: 0, sequence: 1 });
    assert.ok((behind?.dueAt ?? NaN) > (retry?.dueAt ?? NaN));
    await stage.untilCommitted(2, names.retryTier(60_000));
    assert.deepEqual(
      sender.bodies,
      [first, ofBob, first, second].map(({ body }) => String(body)),
    );
  });
});
