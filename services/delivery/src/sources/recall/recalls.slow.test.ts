/** Recalls on an in-memory cluster, from the request to the receiver: by request, and after a recovery. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  decodeRecall,
  deliveryKey,
  encodeDelivery,
  encodeRecallRequest,
  type Delivery,
  type RecallKind,
  type RecallProgress,
} from '@tailrace/records';
import { bodiesOf, deliveriesFor } from '../../testing/crowd.ts';
import { held, serverError, success } from '../../testing/fake-sender.ts';
import { destinationOf, names, newDelivery, Stage } from '../../testing/stage.ts';

const hourMs = 3_600_000;
const tier = names.retryTier(hourMs);
const crm = destinationOf('crm');
const other = destinationOf('other');

/** Requests a recall, and resolves with the progress of each partition when it is over. */
async function recall(stage: Stage, id: string, destinationId = 'crm', kind: RecallKind = 'retry') {
  const { partitions } = stage;
  const requestedAt = new Date(Date.now() + 1).toISOString();
  await stage.write(encodeRecallRequest(names.recalls, { id, kind, destinationId, requestedAt, partitions }));
  const progress = (): RecallProgress[] => {
    const last = new Map<number, RecallProgress>();
    for (const record of stage.cluster.records(names.recalls)) {
      const decoded = decodeRecall(record);
      if (decoded?.kind !== 'state' || decoded.state.request?.id !== id) continue;
      last.set(decoded.state.partition, decoded.state.request);
    }
    return [...last.values()];
  };
  await stage.until(
    () => progress().length === partitions && progress().every(({ state }) => state !== 'running'),
  );
  return progress();
}

function total(progress: readonly RecallProgress[]): number {
  return progress.reduce((sum, { count }) => sum + count, 0);
}

/** Writes deliveries of a destination that wait in a retry topic for an hour. */
async function wait(
  stage: Stage,
  destinationId: string,
  count: number,
  more: (nth: number) => Partial<Delivery> = () => ({}),
): Promise<Delivery[]> {
  const now = Date.now();
  const deliveries = Array.from({ length: count }, (_, nth) =>
    newDelivery(destinationId, {
      attempt: 1,
      step: 1,
      firstAttemptAt: now,
      dueAt: now + 0.9 * hourMs,
      reason: 'server-error',
      key: deliveryKey(destinationId, `user ${nth}`),
      ...more(nth),
    }),
  );
  await stage.write(
    ...deliveries.map((delivery, nth) => encodeDelivery(tier, delivery, nth % stage.partitions)),
  );
  return deliveries;
}

function committed(stage: Stage): Promise<void> {
  return stage.untilCommitted(stage.cluster.records(tier).length, tier);
}

test('where a recalled delivery fails, the later ones of its user wait behind it, and the next recall has all of them', async () => {
  await using stage = new Stage({ scheduleMs: [20, hourMs], windowMs: 4 * hourMs });
  await stage.configure(destinationOf('crm', { ordering: 'user' }));
  const now = Date.now();
  // In the retry topic the later ones come first.
  const deliveries = [4, 3, 2, 1].map((sequence) =>
    newDelivery('crm', {
      attempt: 1,
      step: 1,
      firstAttemptAt: now,
      dueAt: now + 0.9 * hourMs,
      sequence,
      body: Buffer.from(String(sequence)),
    }),
  );
  await stage.publish(deliveries, tier);
  await stage.publish(deliveries.concat(deliveries).map(() => newDelivery('nowhere')));
  const { sender } = await stage.startReplica();
  sender.onRequest = ({ body }) =>
    String(body) === '2' && sender.requests.length === 2 ? serverError : success;

  assert.deepEqual(await recall(stage, 'r1'), [{ id: 'r1', state: 'done', count: 4 }]);
  const waiting = (await stage.deliveries(tier, 7)).slice(4);
  assert.deepEqual(
    waiting.map(({ sequence, reason }) => [sequence, reason]),
    [
      [2, 'server-error'],
      [3, 'behind'],
      [4, 'behind'],
    ],
  );
  assert.ok(waiting.every(({ dueAt = 0 }) => dueAt > now + hourMs / 2));
  assert.deepEqual(sender.bodies, ['1', '2']);

  assert.deepEqual(await recall(stage, 'r2'), [{ id: 'r2', state: 'done', count: 3 }]);
  assert.deepEqual(sender.bodies, ['1', '2', '2', '3', '4']);
  await stage.untilCommitted(7, tier);
});

describe('a recall to retry', () => {
  test('10.7 brings forward each pending delivery of the destination once, also after a restart', async () => {
    await using stage = new Stage({ partitions: 2 });
    await stage.configure(crm, other);
    const ofCrm = [...(await wait(stage, 'crm', 700)), ...(await wait(stage, 'crm', 700))];
    const ofOther = await wait(stage, 'other', 700);
    ofCrm.push(...(await wait(stage, 'crm', 700)));
    const first = await stage.startReplica();
    assert.equal(total(await recall(stage, 'r1')), ofCrm.length);
    assert.deepEqual(bodiesOf(first.sender.requests), bodiesOf(ofCrm));

    // The next owner reads the retry topic again, and drops finished deliveries.
    await stage.stopReplicas();
    const second = await stage.startReplica();
    assert.equal(total(await recall(stage, 'r2', 'other')), ofOther.length);
    await committed(stage);
    assert.deepEqual(bodiesOf(second.sender.requests), bodiesOf(ofOther));
  });

  test('sends each delivery once where the clock of the replica is behind those that wrote the records', async () => {
    await using stage = new Stage();
    await stage.configure(crm, other);
    // More than the group reads ahead.
    const ofOther = await wait(stage, 'other', 2_000);
    const ofCrm = await wait(stage, 'crm', 100);
    const first = await stage.startReplica({ now: () => Date.now() - 600_000 });
    assert.equal(total(await recall(stage, 'r1')), ofCrm.length);
    await stage.stopReplicas();
    const second = await stage.startReplica();
    await committed(stage);
    const sent = [...first.sender.requests, ...second.sender.requests];
    assert.deepEqual(bodiesOf(sent), bodiesOf([...ofCrm, ...ofOther]));
  });

  test('is carried out by all replicas, each for its partitions, and continued by the next owner', async () => {
    await using stage = new Stage({ partitions: 2 });
    await stage.configure(crm);
    const deliveries = await wait(stage, 'crm', 2_000);
    const [first, second] = [await stage.startReplica(), await stage.startReplica()];
    for (const { sender } of [first, second]) sender.onRequest = () => stage.time.after(20, success);
    const recalling = recall(stage, 'r1');
    await first.sender.sent(300);
    assert.ok(second.sender.requests.length > 0);
    await first.stop();
    await recalling;
    await committed(stage);
    const { requests } = second.sender;
    assert.ok(first.sender.requests.length < deliveries.length / 2, 'the second replica continued it');
    assert.deepEqual(bodiesOf([...first.sender.requests, ...requests]), bodiesOf(deliveries));
  });

  test('keeps the order of each user', async () => {
    const partitions = 2;
    await using stage = new Stage({ partitions });
    await stage.configure({ ...crm, ordering: 'user' });
    const users = 20;
    const count = 1_600;
    // In a retry topic, later events of a user can precede earlier ones.
    await wait(stage, 'crm', count, (nth) => {
      const place = count - 1 - nth;
      return {
        key: deliveryKey('crm', `user ${Math.floor(place / partitions) % users}`),
        sequence: place,
        body: Buffer.from(JSON.stringify({ event: place, padding: 'x'.repeat(4_000) })),
      };
    });
    // The order is known when `deliveries` has been read beyond the offsets of these events.
    await stage.write(
      ...Array.from({ length: count * partitions }, (_, nth) =>
        encodeDelivery(names.deliveries, newDelivery('nowhere'), nth % partitions),
      ),
    );
    const { sender } = await stage.startReplica();
    assert.equal(total(await recall(stage, 'r1')), count);
    const arrived = sender.bodies.map((body) => (JSON.parse(body) as { readonly event: number }).event);
    assert.equal(new Set(arrived).size, count);
    assert.equal(arrived.length, count);
    const last = new Map<string, number>();
    for (const place of arrived) {
      const user = `${place % partitions}/${Math.floor(place / partitions) % users}`;
      assert.ok((last.get(user) ?? -1) < place, `${place} of ${user} after ${last.get(user)}`);
      last.set(user, place);
    }
  });
});

test('9.5 a drain makes one dead letter of each pending delivery of the destination, which may be deleted', async () => {
  await using stage = new Stage({ partitions: 2 });
  await stage.configure(other);
  const ordered = (nth: number): Partial<Delivery> => ({ sequence: nth });
  const ofCrm = [...(await wait(stage, 'crm', 700)), ...(await wait(stage, 'crm', 700, ordered))];
  await wait(stage, 'other', 10);
  await stage.startReplica();
  assert.equal(total(await recall(stage, 'r1', 'crm', 'drain')), ofCrm.length);
  await stage.stopReplicas();
  const { sender } = await stage.startReplica();
  await recall(stage, 'r2', 'other');
  await committed(stage);
  const letters = await stage.deliveries(names.deliveriesDead, ofCrm.length);
  assert.deepEqual(letters.map(({ eventId }) => eventId).sort(), ofCrm.map(({ eventId }) => eventId).sort());
  assert.ok(letters.every(({ reason }) => reason === 'drained'));
  assert.equal(sender.requests.length, 10);
});

test('a recall dispatches nothing while commits are late', async () => {
  await using stage = new Stage();
  const { cluster, time } = stage;
  await stage.configure(crm, other);
  await wait(stage, 'crm', 5);
  const { lanes, sender } = await stage.startReplica();
  cluster.pauseOffsetCommits();
  await stage.publish(newDelivery('other'));
  await stage.until(() => lanes.paused);
  const drained = recall(stage, 'r1', 'crm', 'drain');
  await time.pass(30_000);
  assert.equal(cluster.records(names.deliveriesDead).length, 0);
  cluster.resumeOffsetCommits();
  assert.equal(total(await drained), 5);
  assert.equal(sender.requests.length, 1);
});

test('a recall whose progress cannot be published goes no further than what it has in flight', async () => {
  await using stage = new Stage();
  const { cluster, time } = stage;
  await stage.configure(crm);
  await wait(stage, 'crm', 2_000);
  const { sender } = await stage.startReplica();
  sender.onRequest = () => held;
  const recalled = recall(stage, 'r1');
  await stage.until(() => sender.holding > 0);
  cluster.pauseWrites(names.recalls);
  while (sender.holding > 0) {
    sender.release();
    await time.pass(1_000);
  }
  assert.ok(sender.requests.length < 500, `${sender.requests.length} of 2000 were sent`);
  cluster.resumeWrites();
  sender.onRequest = () => success;
  assert.equal(total(await recalled), 2_000);
});

test('10.7 when a parked delivery arrives, the other parked ones are brought forward', async () => {
  await using stage = new Stage({ partitions: 2 });
  await stage.configure(crm);
  const deliveries = await wait(stage, 'crm', 1_500, () => ({ reason: 'circuit-open' }));
  const { sender } = await stage.startReplica();
  const startedAt = Date.now();
  const probe = newDelivery('crm', { attempt: 1, step: 1, dueAt: startedAt, reason: 'circuit-open' });
  await stage.publish(probe, names.retryTier(10_000));
  await committed(stage);
  assert.ok(Date.now() - startedAt < 0.1 * hourMs, 'they did not wait until they were due');
  assert.deepEqual(bodiesOf(sender.requests), bodiesOf([...deliveries, probe]));
});

test('a destination that is resumed after a pause of hours gets its deliveries within a minute, and new ones', async () => {
  await using stage = new Stage();
  await stage.configure({ ...crm, paused: true });
  const { sender } = await stage.startReplica();
  const deliveries = deliveriesFor([crm], 300);
  await stage.publish(deliveries);
  await stage.time.pass(3 * hourMs);
  assert.equal(sender.requests.length, 0);
  await stage.configure(crm);
  const resumedAt = Date.now();
  const later = deliveriesFor([crm], 10);
  await stage.publish(later);
  await sender.sent(310);
  assert.ok(Date.now() - resumedAt < 60_000, `${Date.now() - resumedAt}`);
  assert.deepEqual(bodiesOf(sender.requests), bodiesOf([...deliveries, ...later]));
});

test('a destination that is resumed while it is disabled gets its deliveries when it is enabled', async () => {
  await using stage = new Stage();
  await stage.configure({ ...crm, paused: true });
  const { sender } = await stage.startReplica();
  const deliveries = deliveriesFor([crm], 30);
  await stage.publish(deliveries);
  await stage.time.pass(hourMs);
  await stage.configure({ ...crm, enabled: false });
  await stage.time.pass(60_000);
  assert.equal(sender.requests.length, 0);
  await stage.configure(crm);
  const enabledAt = Date.now();
  await sender.sent(30);
  assert.ok(Date.now() - enabledAt < 60_000, `${Date.now() - enabledAt}`);
  assert.deepEqual(bodiesOf(sender.requests), bodiesOf(deliveries));
});
