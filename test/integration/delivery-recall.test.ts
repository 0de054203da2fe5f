/** Recalls: the pending retries of one destination are brought forward or drained, each delivery once. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import type { Destination } from '@tailrace/config';
import {
  decodeRecall,
  deliveryKey,
  encodeDelivery,
  encodeRecallRequest,
  type Delivery,
  type RecallKind,
  type RecallProgress,
} from '@tailrace/topics';
import * as answers from '../support/receivers/answers.ts';
import {
  destinationOf,
  newDelivery,
  openDeliveryStage,
  type DeliveryStage,
} from '../support/processes/delivery.ts';
import { eventually } from '@tailrace/testing';
import { startReceiver, type ReceivedRequest } from '../support/receivers/receiver.ts';
import { headerOf } from '../support/kafka/topics.ts';

const hourMs = 3_600_000;
const partitions = 2;

function openStage(): Promise<DeliveryStage> {
  return openDeliveryStage({
    partitions,
    scheduleMs: [300, hourMs],
    env: { TAILRACE_RETRY_WINDOW: '4h' },
  });
}

/** Writes deliveries of a destination that wait in a retry topic for an hour. */
async function wait(
  { names, publisher }: DeliveryStage,
  destination: Destination,
  count: number,
  more: (nth: number) => Partial<Delivery> = () => ({}),
): Promise<Delivery[]> {
  const now = Date.now();
  const deliveries = Array.from({ length: count }, (_, nth) =>
    newDelivery(destination.id, {
      ...{ attempt: 1, step: 1, firstAttemptAt: now, dueAt: now + 0.9 * hourMs, reason: 'server-error' },
      key: deliveryKey(destination.id, `user ${nth}`),
      ...more(nth),
    }),
  );
  const tier = names.retryTier(hourMs);
  await Promise.all(
    deliveries.map((delivery, nth) => publisher.publish(encodeDelivery(tier, delivery, nth % partitions))),
  );
  return deliveries;
}

async function request(stage: DeliveryStage, kind: RecallKind, { id: destinationId }: Destination) {
  const id = randomUUID();
  const requestedAt = new Date().toISOString();
  await stage.publisher.publish(
    encodeRecallRequest(stage.names.recalls, { id, kind, destinationId, requestedAt, partitions }),
  );
  return id;
}

/** Resolves with the progress of each partition, when all have finished the request. */
async function progressOf(stage: DeliveryStage, id: string): Promise<readonly RecallProgress[]> {
  const records = await stage.watch(stage.names.recalls);
  const find = (): RecallProgress[] => {
    const last = new Map<number, RecallProgress>();
    for (const record of records.items) {
      const decoded = decodeRecall(record);
      if (decoded?.kind !== 'state' || decoded.state.request?.id !== id) continue;
      last.set(decoded.state.partition, decoded.state.request);
    }
    return [...last.values()];
  };
  await records.waitFor(() => {
    const progress = find();
    return progress.length === partitions && progress.every(({ state }) => state !== 'running');
  });
  return find();
}

function total(progress: readonly RecallProgress[]): number {
  return progress.reduce((sum, { count }) => sum + count, 0);
}

function eventOf(request: ReceivedRequest): string {
  return (request.json() as { readonly event: string }).event;
}

function eventsOf(deliveries: readonly Delivery[]): string[] {
  return deliveries.map(({ eventId }) => eventId).sort();
}

/** Resolves when the group has committed every record of the retry topic. */
async function tierIsEmpty({ kafka, names }: DeliveryStage): Promise<void> {
  const groupId = names.deliveries.replace(/deliveries$/, 'delivery');
  const tier = names.retryTier(hourMs);
  await eventually(
    () => kafka.inspectGroup(groupId, [tier]),
    ({ lag }) => lag.get(tier) === 0,
  );
}

describe('a recall to retry', () => {
  test('brings forward each pending delivery of the destination once, also after a restart', async () => {
    await using stage = await openStage();
    await using receiver = await startReceiver();
    const [wanted, other] = [destinationOf([`${receiver.url}/a`]), destinationOf([`${receiver.url}/b`])];
    await stage.configure(wanted, other);
    const ofWanted = [...(await wait(stage, wanted, 700)), ...(await wait(stage, wanted, 700))];
    const ofOther = await wait(stage, other, 700);
    ofWanted.push(...(await wait(stage, wanted, 700)));
    const replica = await stage.startReplica();

    const id = await request(stage, 'retry', wanted);
    assert.equal(total(await progressOf(stage, id)), ofWanted.length);
    assert.deepEqual(receiver.requests.map(eventOf).sort(), eventsOf(ofWanted));

    // The next owner reads the retry topic again, and drops finished deliveries.
    await replica.stop();
    await stage.startReplica();
    assert.equal(total(await progressOf(stage, await request(stage, 'retry', other))), ofOther.length);
    await tierIsEmpty(stage);
    assert.deepEqual(receiver.requests.map(eventOf).sort(), eventsOf([...ofWanted, ...ofOther]));
  });

  test('is carried out by all replicas, each for its partitions, and continued by the next owner', async () => {
    await using stage = await openStage();
    await using receiver = await startReceiver();
    const destination = destinationOf([receiver.url]);
    await stage.configure(destination);
    const deliveries = await wait(stage, destination, 2_000);
    const first = await stage.startReplica();
    await stage.startReplica();

    const id = await request(stage, 'retry', destination);
    await receiver.waitFor(300);
    await first.stop();
    await progressOf(stage, id);
    await tierIsEmpty(stage);
    assert.deepEqual(receiver.requests.map(eventOf).sort(), eventsOf(deliveries));
  });

  test('keeps the order of each user', async () => {
    await using stage = await openStage();
    await using receiver = await startReceiver();
    const destination = destinationOf([receiver.url], { ordering: 'user' });
    await stage.configure(destination);
    const users = 20;
    // In a retry topic, later events of a user can precede earlier ones.
    const count = 1_600;
    const deliveries = await wait(stage, destination, count, (nth) => {
      const place = count - 1 - nth;
      return {
        key: deliveryKey(destination.id, `user ${Math.floor(place / partitions) % users}`),
        sequence: place,
        body: Buffer.from(JSON.stringify({ event: String(place), padding: 'x'.repeat(4_000) })),
      };
    });
    // The order is known when `deliveries` has been read beyond the offsets of these events.
    const later = Array.from({ length: count * partitions }, (_, nth) =>
      encodeDelivery(stage.names.deliveries, newDelivery('nowhere'), nth % partitions),
    );
    await Promise.all(later.map((record) => stage.publisher.publish(record)));
    await stage.startReplica();

    const id = await request(stage, 'retry', destination);
    assert.equal(total(await progressOf(stage, id)), deliveries.length);
    const arrived = receiver.requests.map((request) => Number(eventOf(request)));
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

test('a drain makes one dead letter of each pending delivery of the destination', async () => {
  await using stage = await openStage();
  await using receiver = await startReceiver();
  const [wanted, other] = [destinationOf([receiver.url]), destinationOf([receiver.url])];
  // The drained destination is deleted: only its id is known.
  await stage.configure(other);
  const ordered = (nth: number): Partial<Delivery> => ({ sequence: nth });
  const ofWanted = [...(await wait(stage, wanted, 700)), ...(await wait(stage, wanted, 700, ordered))];
  await wait(stage, other, 10);
  const replica = await stage.startReplica();

  const id = await request(stage, 'drain', wanted);
  assert.equal(total(await progressOf(stage, id)), ofWanted.length);
  await replica.stop();
  await stage.startReplica();
  await progressOf(stage, await request(stage, 'retry', other));
  await tierIsEmpty(stage);
  const letters = await stage.watch(stage.names.deliveriesDead);
  await letters.refresh();
  assert.deepEqual(
    letters.items.map((letter) => headerOf(letter, 'event-id') ?? '').sort(),
    eventsOf(ofWanted),
  );
  assert.ok(letters.items.every((letter) => headerOf(letter, 'reason') === 'drained'));
  assert.equal(receiver.requests.length, 10);
});

for (const ordering of [undefined, 'user'] as const) {
  test(`no delivery is lost while replicas are killed and join${ordering ? ', ordered' : ''}`, async () => {
    await using stage = await openStage();
    const accepted = new Set<string>();
    await using receiver = await startReceiver({
      answer(request, nth) {
        const isRefused = nth % 5 === 0;
        if (!isRefused) accepted.add(eventOf(request));
        return answers.delayed(10, answers.status(isRefused ? 400 : 200));
      },
    });
    const destination = destinationOf([receiver.url], ordering && { ordering });
    await stage.configure(destination);
    const count = 3_000;
    const deliveries = await wait(stage, destination, count, (nth) => ({
      // In a retry topic, later events of a user can precede earlier ones.
      ...(ordering && { sequence: Math.floor((count - 1 - nth) / partitions) }),
      key: deliveryKey(destination.id, `user ${nth % 200}`),
    }));
    // The order is known when `deliveries` has been read beyond the offsets of these events.
    const later = Array.from({ length: count }, (_, nth) =>
      encodeDelivery(stage.names.deliveries, newDelivery('nowhere'), nth % partitions),
    );
    if (ordering) await Promise.all(later.map((record) => stage.publisher.publish(record)));
    const first = await stage.startReplica();
    const id = await request(stage, 'retry', destination);
    await receiver.waitFor(200);
    const second = await stage.startReplica();
    await receiver.waitFor(500);
    await first.kill();
    await receiver.waitFor(1_000);
    await first.restart();
    await receiver.waitFor(1_800);
    await second.kill();
    await progressOf(stage, id);
    const letters = await stage.watch(stage.names.deliveriesDead);
    const missing = (): number => {
      const dead = letters.items.map((letter) => headerOf(letter, 'event-id') ?? '');
      const over = new Set([...accepted, ...dead]);
      return deliveries.filter(({ eventId }) => !over.has(eventId)).length;
    };
    await eventually(missing, (count) => count === 0);
  });
}

test('when a parked delivery arrives, the other parked ones are brought forward', async () => {
  await using stage = await openStage();
  await using receiver = await startReceiver();
  const destination = destinationOf([receiver.url]);
  await stage.configure(destination);
  const deliveries = await wait(stage, destination, 1_500, () => ({ reason: 'circuit-open' }));
  await stage.startReplica();
  const probe = newDelivery(destination.id, {
    attempt: 1,
    step: 1,
    dueAt: Date.now(),
    reason: 'circuit-open',
  });
  await stage.publish(probe, stage.names.retryTier(300));
  await tierIsEmpty(stage);
  assert.deepEqual(receiver.requests.map(eventOf).sort(), eventsOf([...deliveries, probe]));
});
