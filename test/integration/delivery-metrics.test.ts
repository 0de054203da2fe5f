/** Metrics, ages and log lines of deliveries. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { applyConfiguration } from '@tailrace/config';
import { decodeDelivery } from '@tailrace/topics';
import * as answers from '../support/receivers/answers.ts';
import {
  destinationOf,
  newDelivery,
  openDeliveryStage,
  type DeliveryStage,
  type Replica,
} from '../support/processes/delivery.ts';
import { eventually } from '@tailrace/testing';
import { startReceiver } from '../support/receivers/receiver.ts';

const tierMs = 1_000;

let stage: DeliveryStage;
let service: Replica;
before(async () => {
  stage = await openDeliveryStage({ scheduleMs: [tierMs], env: { TAILRACE_RETRY_WINDOW: '10m' } });
  service = await stage.startReplica();
});
after(() => stage[Symbol.asyncDispose]());

/** The values of a metrics page, by series. */
async function scrape(page = ''): Promise<Map<string, number>> {
  const text = await (await fetch(`${service.metricsUrl}/metrics${page}`)).text();
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end))];
    }),
  );
}

test('/metrics has total counts, and another page has counts by destination until the destination is deleted', async () => {
  await using receiver = await startReceiver();
  const destination = destinationOf([receiver.url]);
  await stage.configure(destination);
  await stage.publish(newDelivery(destination.id));
  const delivered = `tailrace_destination_attempts_total{destination_id="${destination.id}",outcome="delivered",reason=""}`;
  const page = await eventually(
    () => scrape('/destinations'),
    (counts) => counts.has(delivered),
  );
  assert.equal(page.get(delivered), 1);
  assert.equal((await fetch(`${service.metricsUrl}/readyz`)).status, 200);
  const totals = await scrape();
  assert.ok((totals.get('tailrace_delivery_attempts_total{outcome="delivered",reason=""}') ?? 0) > 0);
  assert.doesNotMatch([...totals.keys()].join(), /destination_id|partition=|127\.0\.0\.1/);
  assert.deepEqual(
    [...totals.keys()].filter((name) => page.has(name)),
    [],
  );
  const lag = `tailrace_partition_lag_records{topic="${stage.names.deliveries}",partition="1"}`;
  await eventually(
    () => scrape('/partitions'),
    (counts) => counts.has(lag),
  );
  assert.deepEqual([...(await scrape('/sources'))], []);

  await applyConfiguration(
    stage.kafka,
    stage.names.config,
    { sources: [], destinations: [] },
    { prune: true },
  );
  await eventually(
    () => scrape('/destinations'),
    (counts) => ![...counts.keys()].some((name) => name.includes(destination.id)),
  );
  await stage.deadLetterOf(await published(newDelivery(destination.id)));
  await stage.deadLetterOf(await published(newDelivery('made-up')));
  const unknown =
    'tailrace_destination_dead_letters_total{destination_id="unknown",reason="destination-deleted"}';
  await eventually(
    () => scrape('/destinations'),
    (counts) => counts.get(unknown) === 2,
  );
});

async function published(delivery: ReturnType<typeof newDelivery>) {
  await stage.publish(delivery);
  return delivery;
}

test('ages are measured from the acceptance time, which every retry and the dead letter keep', async () => {
  await using receiver = await startReceiver({ answer: answers.sequence(answers.status(503)) });
  const destination = destinationOf([receiver.url]);
  await stage.configure(destination);
  const delay = 'tailrace_delivery_first_attempt_delay_seconds';
  const age = 'tailrace_delivery_age_seconds';
  const before = await scrape();
  const acceptedAt = Date.now() - 120_000;
  const delivery = await published(newDelivery(destination.id, { acceptedAt }));
  const inTier = decodeDelivery(await stage.recordOf(stage.names.retryTier(tierMs), delivery));
  assert.ok(typeof inTier !== 'string');
  assert.equal(inTier.acceptedAt, acceptedAt);
  assert.equal((await stage.deadLetterOf(delivery)).acceptedAt, acceptedAt);
  const late = await published(newDelivery(destination.id, { acceptedAt }));
  await receiver.waitFor((requests) => requests.length >= 2);
  const increase = async (name: string): Promise<number> =>
    ((await scrape()).get(name) ?? 0) - (before.get(name) ?? 0);
  await stage.deadLetterOf(late);
  assert.equal(await increase(`${delay}_bucket{held_by="none",le="60"}`), 0);
  assert.equal(await increase(`${delay}_bucket{held_by="none",le="300"}`), 2);

  await using healthy = await startReceiver();
  const good = destinationOf([healthy.url]);
  await stage.configure(good);
  // The current form; the form of the previous release; a time from a clock that is an hour ahead.
  const times = [acceptedAt, undefined, Date.now() + 3_600_000];
  for (const acceptedAt of times) await stage.publish(newDelivery(good.id, { acceptedAt }));
  await eventually(
    () => increase(`${age}_count{attempt="first"}`),
    (count) => count === times.length,
  );
  assert.equal(await increase(`${age}_bucket{attempt="first",le="60"}`), 2);
  assert.equal(await increase(`${age}_bucket{attempt="first",le="300"}`), 3);
});

test('the log has a line for each failed attempt, none for successful ones, and a summary', async () => {
  await using healthy = await startReceiver();
  await using failing = await startReceiver({ answer: () => answers.status(400) });
  const [good, bad] = [destinationOf([healthy.url]), destinationOf([failing.url])];
  await stage.configure(good, bad);
  for (const { id } of [good, good, bad]) await stage.publish(newDelivery(id));
  await healthy.waitFor(2);
  const last = newDelivery(bad.id);
  await stage.publish(last);
  assert.equal((await stage.attemptsOf(last, 'dead')).length, 1);
  await service.stop();
  const { items } = service.log;
  const linesOf = (id: string) =>
    items.filter((line) => line.msg === 'attempt' && line['destinationId'] === id);
  assert.equal(linesOf(good.id).length, 0);
  assert.equal(linesOf(bad.id).length, 2);
  assert.ok(linesOf(bad.id).every((line) => line['userKey'] === undefined));
  const sums = items.filter(({ msg }) => msg === 'attempts, in sum');
  const failed = sums
    .flatMap((line) => line['topFailing'] as { destinationId: string; failed: number }[])
    .filter(({ destinationId }) => destinationId === bad.id);
  assert.equal(
    failed.reduce((sum, { failed }) => sum + failed, 0),
    2,
  );
});
