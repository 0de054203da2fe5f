/** The default schedule and the window of four hours, through the whole deliverer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '@tailrace/webhook';
import { serverError, success } from '../testing/fake-sender.ts';
import { destinationOf, names, newDelivery, Stage } from '../testing/stage.ts';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
const schedule = [10 * second, minute, 5 * minute, 20 * minute, hour, hour, hour, 20 * minute];
const windowMs = 4 * hour;
const crm = destinationOf('crm');

/** Starts a replica and publishes one delivery. `at` has the time of each of its attempts, from the first one. */
async function deliver(stage: Stage, answer: (nth: number, ms: number) => Answer) {
  await stage.configure(crm);
  const { sender } = await stage.startReplica();
  const delivery = newDelivery('crm');
  const at: number[] = [];
  const startedAt = Date.now();
  sender.onRequest = ({ body }) => {
    if (!body.equals(delivery.body)) return success;
    at.push(Date.now() - startedAt);
    return answer(at.length, Date.now() - startedAt);
  };
  await stage.publish(delivery);
  return { at, sender, delivery };
}

test('10.1 by default, a delivery that fails is attempted nine times, each after the delay of its retry topic', async () => {
  await using stage = new Stage();
  const { at, delivery } = await deliver(stage, () => serverError);
  for (const nth of schedule.keys()) {
    await stage.until(() => at.length > nth);
    // Another delivery arrives, so that no circuit breaker opens.
    await stage.publish(newDelivery('crm'));
  }
  const letter = await stage.deadLetter();
  assert.deepEqual(
    [letter.deliveryId, letter.reason, letter.attempt],
    [delivery.deliveryId, 'attempts-exhausted', 9],
  );
  assert.equal(at.length, 9);
  for (const [nth, delayMs] of schedule.entries()) {
    const passed = (at[nth + 1] ?? NaN) - (at[nth] ?? NaN);
    // A delay is shortened by up to a fifth.
    assert.ok(passed >= 0.8 * delayMs && passed <= delayMs + second, `${passed} ms after attempt ${nth + 1}`);
  }
  for (const delayMs of new Set(schedule)) {
    const count = schedule.filter((other) => other === delayMs).length;
    assert.equal(stage.cluster.records(names.retryTier(delayMs)).length, count);
    await stage.untilCommitted(count, names.retryTier(delayMs));
  }
});

test('10.3 no attempt is later than four hours after the first, also where the receiver asks for an hour each time', async () => {
  await using stage = new Stage();
  const { at } = await deliver(stage, () => ({ ...serverError, retryAfterMs: hour }));
  const letter = await stage.deadLetter();
  assert.deepEqual([letter.reason, letter.attempt], ['window-exceeded', at.length]);
  assert.ok(
    at.every((ms, nth) => nth === 0 || ms - (at[nth - 1] ?? NaN) >= hour),
    at.join(),
  );
  assert.ok(at.length >= 4 && (at.at(-1) ?? NaN) <= windowMs, at.join());
  await stage.time.pass(hour);
  assert.equal(at.length, letter.attempt);
});

test('9.5 a delivery to a receiver that is down for four hours becomes a dead letter when its window ends', async () => {
  await using stage = new Stage();
  const startedAt = Date.now();
  const { at } = await deliver(stage, () => serverError);
  const letter = await stage.deadLetter();
  assert.equal(letter.reason, 'circuit-open');
  const diedAfterMs = Date.now() - startedAt;
  assert.ok(diedAfterMs > 0.9 * windowMs && diedAfterMs <= windowMs + minute, `${diedAfterMs}`);
  assert.ok((at.at(-1) ?? NaN) <= windowMs);
  assert.equal(letter.attempt, at.length);
});

test('10.3 a retry that is read after its window becomes a dead letter without a request', async () => {
  await using stage = new Stage();
  const { at } = await deliver(stage, () => serverError);
  await stage.records(names.retryTier(minute));
  await stage.stopReplicas();
  await stage.time.pass(windowMs);
  const { sender } = await stage.startReplica();
  assert.equal((await stage.deadLetter()).reason, 'window-exceeded');
  assert.deepEqual([sender.requests.length, at.length], [0, 2]);
});
