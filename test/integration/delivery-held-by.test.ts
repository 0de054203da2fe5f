/** The delay of first attempts, by what held the deliveries back: with a real receiver for each cause. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { decodeDelivery, deliveryKey, encodeDelivery, type Delivery } from '@tailrace/topics';
import type { Destination } from '@tailrace/config';
import { closedGate } from '../support/crowd.ts';
import { eventually } from '@tailrace/testing';
import { scrape, sumOf } from '../support/metrics/scrape.ts';
import {
  destinationOf,
  newDelivery,
  openDeliveryStage,
  type DeliveryStage,
  type Replica,
} from '../support/processes/delivery.ts';
import { status, type Answer } from '../support/receivers/answers.ts';
import { startReceiver, type ReceivedRequest } from '../support/receivers/receiver.ts';

const delay = 'tailrace_delivery_first_attempt_delay_seconds';
const causes = ['none', 'breaker', 'rate', 'order', 'lane'] as const;
type Counts = Readonly<Partial<Record<(typeof causes)[number], number>>>;

let stage: DeliveryStage;
let service: Replica;
before(async () => {
  // No pause is granted that is longer than the last step.
  stage = await openDeliveryStage({ scheduleMs: [1_000, 2_000, 2_000, 2_000, 2_000, 2_000, 2_000, 10_000] });
  service = await stage.startReplica();
});
after(() => stage[Symbol.asyncDispose]());

/** The number of first attempts by cause, without causes that held none. */
async function counts(): Promise<Counts> {
  const series = await scrape([service.metricsUrl]);
  const found = causes.map((held_by) => [
    held_by,
    sumOf(series, { name: `${delay}_count`, labels: { held_by } }),
  ]);
  return Object.fromEntries(found) as Counts;
}

/** What `act` adds to the counts, when there are `total` more first attempts. */
async function added(total: number, act: () => Promise<unknown>): Promise<Counts> {
  const before = await counts();
  await act();
  const difference = (now: Counts): [string, number][] =>
    causes.map((cause) => [cause, (now[cause] ?? 0) - (before[cause] ?? 0)]);
  const reached = await eventually(
    async () => difference(await counts()),
    (found) => found.reduce((sum, [, count]) => sum + count, 0) >= total,
  );
  return Object.fromEntries(reached.filter(([, count]) => count > 0));
}

async function open(
  answer: (request: ReceivedRequest, nth: number) => Answer,
  more: Partial<Destination> = {},
) {
  const receiver = await startReceiver({ answer });
  const destination = destinationOf([receiver.url], more);
  await stage.configure(destination);
  const send = (user: string): Promise<void> =>
    stage.publish(newDelivery(destination.id, { key: deliveryKey(destination.id, user) }));
  return { receiver, destination, send, [Symbol.asyncDispose]: () => receiver.close() };
}

/**
 * Writes a delivery for each user to one partition, and behind them one to a receiver of its own; resolves when that one has
 * arrived. So the service has read all of them then.
 */
async function readAll({ destination }: { readonly destination: Destination }, users: readonly string[]) {
  await using behind = await open(() => status(200));
  const deliveries = [
    ...users.map((user) => newDelivery(destination.id, { key: deliveryKey(destination.id, user) })),
    newDelivery(behind.destination.id),
  ];
  await Promise.all(
    deliveries.map((delivery) =>
      stage.publisher.publish(encodeDelivery(stage.names.deliveries, delivery, 0)),
    ),
  );
  await behind.receiver.waitFor(1);
}

const many = (count: number, send: (user: string) => Promise<void>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, (_, nth) => send(`user-${nth}`)));

test('a delivery that waits for nothing is held by none', async () => {
  await using held = await open(() => status(200));
  assert.deepEqual(await added(1, () => held.send('ada')), { none: 1 });
});

test('deliveries beyond the rate limit are held by rate', async () => {
  // A request in a second, so that a slow answer is over before the next one may begin.
  await using held = await open(() => status(200), { rateLimit: 1 });
  const found = await added(6, () => many(6, held.send));
  assert.ok((found.rate ?? 0) >= 4, JSON.stringify(found));
  assert.equal((found.rate ?? 0) + (found.none ?? 0) + (found.lane ?? 0), 6);
});

test('deliveries of one user that wait for an earlier one are held by order', async () => {
  const gate = closedGate();
  await using held = await open(() => gate.answer(status(200)), { ordering: 'user' });
  const found = await added(4, async () => {
    await readAll(held, ['ada', 'ada', 'ada']);
    gate.open();
  });
  // The first one may wait until the retry topics were read for earlier deliveries of the user.
  assert.ok((found.order ?? 0) >= 2, JSON.stringify(found));
  // One of them is the delivery behind these.
  assert.equal((found.order ?? 0) + (found.none ?? 0), 4);
});

test('deliveries that wait while others of the destination are in flight are held by lane', async () => {
  const gate = closedGate();
  await using held = await open(() => gate.answer(status(200)));
  const found = await added(5, async () => {
    await readAll(held, ['ada', 'bob', 'cy', 'dan']);
    gate.open();
  });
  assert.ok((found.lane ?? 0) >= 2, JSON.stringify(found));
  // One of them is the delivery behind these.
  assert.equal((found.lane ?? 0) + (found.none ?? 0), 5);
});

test('deliveries that wait because the receiver asked for a pause are held by rate', async () => {
  await using held = await open((_request, nth) =>
    nth === 1 ? status(429, { 'retry-after': '10' }) : status(200),
  );
  const attempts = await stage.watch(stage.names.attempts);
  await held.send('ada');
  await attempts.find(({ value }) => String(value).includes(held.destination.id));
  assert.deepEqual(await added(2, () => many(2, held.send)), { rate: 2 });
});

test('deliveries that were parked because a circuit breaker was open are held by breaker', async () => {
  let isRepaired = false;
  await using held = await open(() => status(isRepaired ? 200 : 500));
  const isParked = async (): Promise<boolean> =>
    sumOf(await scrape([service.metricsUrl]), {
      name: 'tailrace_destination_parked_total',
      labels: { destination_id: held.destination.id },
    }) > 0;
  await many(6, held.send);
  await eventually(isParked, (parked) => parked);
  const waiting: Delivery[] = [0, 1, 2].map(() => newDelivery(held.destination.id));
  const found = await added(3, async () => {
    for (const delivery of waiting) await stage.publish(delivery);
    const causes = await Promise.all(waiting.map((delivery) => causeInTier(delivery)));
    // One of them may be the attempt by which the breaker learns whether the receiver has recovered.
    assert.ok(causes.filter((cause) => cause === 'breaker').length >= 2, causes.join());
    isRepaired = true;
  });
  assert.ok((found.breaker ?? 0) >= 2, JSON.stringify(found));
});

/** The cause in the first record of the delivery in a tier. */
async function causeInTier(delivery: Delivery): Promise<string | undefined> {
  const [first] = await Promise.race(
    [1_000, 2_000, 10_000].map((tierMs) => stage.recordsOf(stage.names.retryTier(tierMs), delivery)),
  );
  const found = decodeDelivery(first ?? assert.fail());
  return typeof found === 'string' ? found : found.heldBy;
}
