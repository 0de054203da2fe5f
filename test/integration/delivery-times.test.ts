/**
 * Times in headers written with another process's clock, and due times after a change of owner, with the delivery
 * service as processes on a real Kafka.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ConsumedRecord } from '@tailrace/kafka';
import { encodeDelivery, type Delivery } from '@tailrace/topics';
import * as answers from '../support/answers.ts';
import {
  destinationOf,
  newDelivery,
  openDeliveryStage,
  patientMs,
  type DeliveryStage,
} from '../support/delivery.ts';
import type { Environment } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { headerOf } from '../support/topics.ts';

/** More records than the service reads ahead in one partition of a retry topic. */
const many = 2_000;
const year2099 = Date.UTC(2099, 0, 1);

const timeIn = (record: ConsumedRecord, name: string): number => Date.parse(headerOf(record, name) ?? '');

async function fillTier(
  { publisher, names }: DeliveryStage,
  tierMs: number,
  destinationId: string,
  more: (nth: number) => Partial<Delivery>,
): Promise<void> {
  const records = Array.from({ length: many }, (_, nth) =>
    encodeDelivery(names.retryTier(tierMs), newDelivery(destinationId, { attempt: 1, ...more(nth) })),
  );
  await Promise.all(records.map((record) => publisher.publish(record)));
}

describe('a due time that is out of range', { concurrency: true }, () => {
  test('is limited to the delay of the retry topic, so that the topic never stalls', async () => {
    await using stage = await openDeliveryStage({ partitions: 1, scheduleMs: [3_000] });
    await using receiver = await startReceiver();
    const destination = destinationOf([receiver.url]);
    await stage.configure(destination);
    const times = { firstAttemptAt: Date.now(), dueAt: year2099 };
    await fillTier(stage, 3_000, destination.id, () => times);
    const last = newDelivery(destination.id, { attempt: 1, ...times, dueAt: Date.now() });
    await stage.publish(last, stage.names.retryTier(3_000));
    const startedAt = Date.now();
    await stage.startReplica();
    await receiver.waitFor(many + 1, patientMs);
    const first = receiver.requests.find(({ body }) => !body.equals(last.body));
    assert.ok(first && first.receivedAt >= startedAt + 3_000);
  });

  test('has an effect in a retry topic only', async () => {
    await using stage = await openDeliveryStage({ partitions: 1, scheduleMs: [3_000] });
    await using receiver = await startReceiver();
    const destination = destinationOf([receiver.url]);
    await stage.configure(destination);
    await stage.startReplica();
    for (const topic of [stage.names.deliveries, stage.names.deliveriesReplay]) {
      await stage.publish(newDelivery(destination.id, { dueAt: year2099 }), topic);
    }
    await receiver.waitFor(2, patientMs);
  });

  test('may be missing; the record is then due, also if its destination is ordered', async () => {
    await using stage = await openDeliveryStage({ partitions: 1, scheduleMs: [3_000] });
    await using receiver = await startReceiver();
    const destination = destinationOf([receiver.url], { ordering: 'user' });
    await stage.configure(destination);
    const before = newDelivery(destination.id, { key: `${destination.id}/bob` });
    await stage.publish(before);
    const waiting = newDelivery(destination.id, { attempt: 1, sequence: 0 });
    await stage.publish(waiting, stage.names.retryTier(3_000));
    await stage.startReplica();
    await receiver.waitFor(2, patientMs);
    await stage.attemptsOf(waiting, 'delivered');
  });
});

test('a first attempt in the future counts as made when the record is read, and the window ends', async () => {
  await using stage = await openDeliveryStage({ partitions: 1, scheduleMs: [1_000] });
  await using receiver = await startReceiver({ answer: () => answers.status(503) });
  const destination = destinationOf([receiver.url]);
  await stage.configure(destination);
  await stage.startReplica({
    TAILRACE_RETRY_SCHEDULE: Array(9).fill('1s').join(),
    TAILRACE_RETRY_WINDOW: '4s',
  });
  const tier = stage.names.retryTier(1_000);
  const times = { firstAttemptAt: year2099, dueAt: Date.now() };
  const delivery = newDelivery(destination.id, { attempt: 1, ...times });
  await stage.publish(delivery, tier);
  const [written, retry] = await stage.recordsOf(tier, delivery, 2);
  assert.ok(written && retry);
  const firstAttemptAt = timeIn(retry, 'first-attempt-at');
  assert.ok(firstAttemptAt <= retry.timestamp && firstAttemptAt >= written.timestamp - 1_000);
  assert.equal((await stage.deadLetterOf(delivery)).reason, 'window-exceeded');
});

/** Environment of a replica whose clock is ahead, or behind if the offset is negative. */
function clockAhead(ms: number): Environment {
  const script = `const now=Date.now;Date.now=()=>now()+(${ms});`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

describe('a retry written by a replica with a wrong clock', { concurrency: true }, () => {
  for (const [what, aheadMs] of [
    ['ahead', 50 * 60_000],
    ['behind', -50 * 60_000],
  ] as const) {
    test(`is sent in time by the next owner: ${what}`, async () => {
      await using stage = await openDeliveryStage({ partitions: 1, scheduleMs: [3_000] });
      const count = 50;
      let failing = true;
      await using receiver = await startReceiver({
        answer: () => answers.status(failing ? 503 : 200),
      });
      const destination = destinationOf([receiver.url]);
      await stage.configure(destination);
      const window = { TAILRACE_RETRY_WINDOW: '4h' };
      const wrong = await stage.startReplica({ ...window, ...clockAhead(aheadMs) });
      const deliveries = Array.from({ length: count }, () => newDelivery(destination.id));
      await Promise.all(deliveries.map((delivery) => stage.publish(delivery)));
      const tier = await stage.watch(stage.names.retryTier(3_000));
      const [written] = await tier.waitFor(count, patientMs);
      assert.ok(written && Math.abs(timeIn(written, 'first-attempt-at') - Date.now() - aheadMs) < 60_000);
      await wrong.stop();
      failing = false;
      await stage.startReplica(window);
      const attempts = await stage.watch(stage.names.attempts);
      await attempts.waitFor(2 * count, patientMs);
      const bodies = new Set(receiver.requests.map(({ body }) => body.toString()));
      assert.equal(bodies.size, count);
    });
  }
});

test('the retries of a new owner are due after those that already wait in the retry topic', async () => {
  await using stage = await openDeliveryStage({ partitions: 1, scheduleMs: [60_000] });
  await using receiver = await startReceiver({ answer: () => answers.status(503) });
  const destination = destinationOf([receiver.url]);
  await stage.configure(destination);
  // Written by the previous owner a moment ago, with the latest possible due time.
  const lastDueAt = Date.now() + 60_000;
  await fillTier(stage, 60_000, destination.id, (nth) => ({
    firstAttemptAt: Date.now(),
    dueAt: lastDueAt - many + nth,
  }));
  await stage.startReplica({ TAILRACE_RETRY_WINDOW: '4h' });
  const delivery = newDelivery(destination.id);
  await stage.publish(delivery);
  const retry = await stage.recordOf(stage.names.retryTier(60_000), delivery);
  const dueAt = timeIn(retry, 'due-at');
  assert.ok(dueAt >= lastDueAt, `${lastDueAt - dueAt} ms before the last that is in front of it`);
  assert.ok(dueAt <= retry.timestamp + 60_000);
});
