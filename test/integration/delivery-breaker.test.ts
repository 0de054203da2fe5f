/**
 * Circuit breakers and `Retry-After`: which deliveries they delay, which they do not, and the outcome of parked
 * deliveries. All tests share one service.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Destination } from '@tailrace/config';
import type { Delivery } from '@tailrace/topics';
import * as answers from '../support/receivers/answers.ts';
import { deliveriesAmong, deliveriesFor, fatesOf, publishAll, undisturbed } from '../support/crowd.ts';
import {
  destinationOf,
  newDelivery,
  openDeliveryStage,
  type DeliveryStage,
  type Replica,
} from '../support/processes/delivery.ts';
import { eventually } from '@tailrace/testing';
import { pageOf, seriesIn } from '../support/metrics/scrape.ts';
import { closedPort, startReceiver, type ReceivedRequest } from '../support/receivers/receiver.ts';

/** Long enough that no delivery becomes a dead letter before a breaker has opened. */
const scheduleMs = [1_000, 2_000, ...Array.from({ length: 14 }, () => 5_000)];
const tiersMs = [...new Set(scheduleMs)];
/** Time for a breaker to open, or for parked deliveries to arrive. */
const withinMs = 80_000;
/** Error of a clock that two processes read, and of a timer that rounds down. */
const clockErrorMs = 5;

let stage: DeliveryStage;
let service: Replica;
before(async () => {
  stage = await openDeliveryStage({
    scheduleMs,
    env: { TAILRACE_RETRY_WINDOW: '10m' },
  });
  service = await stage.startReplica();
});
after(() => stage[Symbol.asyncDispose]());

/** Records of the destination in retry topics that were parked because a breaker was open. */
async function parked(destination: Destination): Promise<Delivery[]> {
  const tiers = await Promise.all(tiersMs.map((tierMs) => stage.watch(stage.names.retryTier(tierMs))));
  await Promise.all(tiers.map((tier) => tier.refresh()));
  return deliveriesAmong(
    tiers.flatMap(({ items }) => items),
    [destination],
  ).filter(({ reason }) => reason === 'circuit-open');
}

/** Sends deliveries, a few at a time, until the breaker of the destination has opened; returns all of them. */
async function feedUntilParked(destination: Destination): Promise<Delivery[]> {
  const sent: Delivery[] = [];
  const deadline = performance.now() + withinMs;
  while ((await parked(destination)).length === 0) {
    assert.ok(performance.now() < deadline, 'its breaker has not opened');
    const some = sent.length < 100 ? deliveriesFor([destination], 5) : [];
    await publishAll(stage, some);
    sent.push(...some);
    await wait(250);
  }
  return sent;
}

/** A destination that failed until its breaker opened and then got `waiting` more deliveries. */
async function parkedAt(
  url: string,
  waiting: number,
): Promise<{ destination: Destination; deliveries: readonly Delivery[] }> {
  const destination = destinationOf([url]);
  await stage.configure(destination);
  const sent = await feedUntilParked(destination);
  const more = deliveriesFor([destination], waiting);
  await publishAll(stage, more);
  const wanted = new Set(more.map(({ deliveryId }) => deliveryId));
  // One of the deliveries may have become a probe.
  await eventually(
    async () => {
      const ids = (await parked(destination)).map(({ deliveryId }) => deliveryId);
      return new Set(ids.filter((id) => wanted.has(id))).size;
    },
    (count) => count >= waiting - 5,
  );
  return { destination, deliveries: [...sent, ...more] };
}

/** The value of a metric of this destination; undefined if its page does not have it. */
async function metricOf({ id }: Destination, metric: string): Promise<number | undefined> {
  const series = seriesIn(await pageOf(service.metricsUrl, '/destinations'));
  return series.find(({ name, labels }) => name === metric && labels['destination_id'] === id)?.value;
}

/** Only an attempt costs a step of the retry schedule; a probe costs none. */
function assertNoStepIsLost(waiting: readonly Delivery[]): void {
  const wrong = waiting.filter(({ step, attempt }) => step > attempt);
  assert.equal(wrong.length, 0, `${wrong.length} of ${waiting.length} lost a step of their retry schedule`);
}

function bodiesOf(sent: readonly { readonly body: Buffer }[]): string[] {
  return sent.map(({ body }) => body.toString()).sort();
}

/** Resolves when each delivery has been answered with 200, and asserts that each was so once. */
async function eachArrivesOnce(
  taken: { waitFor(count: number): Promise<readonly ReceivedRequest[]> },
  deliveries: readonly Delivery[],
): Promise<void> {
  const requests = await taken.waitFor(deliveries.length);
  assert.deepEqual(bodiesOf(requests), bodiesOf(deliveries));
}

describe('a receiver that fails', { concurrency: true }, () => {
  test('does not delay another destination of its origin', async () => {
    await using receiver = await startReceiver({
      answer: ({ path }) => answers.status(path === '/good' ? 200 : 500),
    });
    const [bad, good] = [destinationOf([`${receiver.url}/bad`]), destinationOf([`${receiver.url}/good`])];
    await stage.configure(bad, good);
    await feedUntilParked(bad);
    const deliveries = deliveriesFor([good], 200);
    await publishAll(stage, deliveries);
    const isGood = ({ path }: ReceivedRequest): boolean => path === '/good';
    const requests = await receiver.waitFor((all) => all.filter(isGood).length >= 200);
    assert.deepEqual(bodiesOf(requests.filter(isGood)), bodiesOf(deliveries));
    assert.deepEqual(await fatesOf(stage, tiersMs, [good]), undisturbed);
  });

  test('four times of five gets its deliveries slowly, and none is parked', async () => {
    const count = 60;
    await using receiver = await startReceiver({
      answer: (_request, nth) => answers.status(nth % 5 === 0 ? 200 : 500),
    });
    const destination = destinationOf([receiver.url]);
    await stage.configure(destination);
    await publishAll(stage, deliveriesFor([destination], count));
    await receiver.waitFor(200);
    const { waited, died } = await fatesOf(stage, tiersMs, [destination]);
    assert.deepEqual([waited['circuit-open'], died['circuit-open']], [undefined, undefined]);
  });

  test('gets one probe at a time, and each delivery once when it has recovered', async () => {
    let [recovered, opened] = [false, false];
    let [inFlight, mostInFlight, probes] = [0, 0, 0];
    await using receiver = await startReceiver({
      answer: () => {
        const answer = answers.status(recovered ? 200 : 500);
        inFlight += 1;
        if (opened && !recovered) {
          probes += 1;
          mostInFlight = Math.max(mostInFlight, inFlight);
        }
        return answers.delayed(300, (response) => {
          inFlight -= 1;
          answer(response);
        });
      },
    });
    const destination = destinationOf([receiver.url]);
    await stage.configure(destination);
    const sent = await feedUntilParked(destination);
    // Requests in flight when the breaker opened are not probes.
    await eventually(
      () => inFlight,
      (count) => count === 0,
    );
    opened = true;
    const more = deliveriesFor([destination], 200);
    await publishAll(stage, more);
    await eventually(
      () => probes,
      (count) => count > 0,
    );
    assert.equal(mostInFlight, 1);
    assert.ok(probes < 10, `${probes} requests while 200 deliveries were there`);
    assertNoStepIsLost(await parked(destination));
    const before = receiver.requests.length;
    recovered = true;
    const deliveries = [...sent, ...more];
    const all = await receiver.waitFor(before + deliveries.length);
    assert.deepEqual(bodiesOf(all.slice(before)), bodiesOf(deliveries));
    assert.deepEqual((await fatesOf(stage, tiersMs, [destination])).died, {});
  });

  test('by refusing connections gets each delivery once when it accepts them again', async () => {
    const port = await closedPort();
    const { destination, deliveries } = await parkedAt(`http://127.0.0.1:${port}`, 200);
    assertNoStepIsLost(await parked(destination));
    await using receiver = await startReceiver({ port });
    await eachArrivesOnce(receiver, deliveries);
    assert.deepEqual((await fatesOf(stage, tiersMs, [destination])).died, {});
  });

  test('is in the metrics with the time since its breaker opened, until it recovers', async () => {
    const port = await closedPort();
    const fedAt = performance.now();
    const { destination, deliveries } = await parkedAt(`http://127.0.0.1:${port}`, 20);
    const openSeconds = () => metricOf(destination, 'tailrace_destination_breaker_open_seconds');
    const first = (await openSeconds()) ?? NaN;
    assert.ok(first > 0 && first < (performance.now() - fedAt) / 1_000, String(first));
    const totals = seriesIn(await pageOf(service.metricsUrl));
    const longest = totals.find(({ name }) => name === 'tailrace_circuit_breaker_open_seconds');
    assert.ok((longest?.value ?? NaN) >= first, String(longest?.value));
    const notClosed = totals.filter(({ name }) => name === 'tailrace_circuit_breakers');
    assert.deepEqual(notClosed.map(({ labels }) => labels['state']).sort(), ['half-open', 'open']);
    assert.ok(notClosed.reduce((sum, { value }) => sum + value, 0) > 0);
    assert.ok(((await metricOf(destination, 'tailrace_destination_parked_total')) ?? NaN) > 0);
    // Failed probes do not begin the time again.
    await eventually(openSeconds, (seconds = NaN) => seconds >= first + 10);
    await using receiver = await startReceiver({ port });
    await eachArrivesOnce(receiver, deliveries);
    await eventually(openSeconds, (seconds) => seconds === undefined);
  });
});

for (const status of [429, 503]) {
  test(`Retry-After of a ${status} delays all deliveries of the destination`, async () => {
    let answeredAt = NaN;
    await using receiver = await startReceiver({
      answer: (_request, nth) => (response) => {
        if (nth === 1) answeredAt = Date.now();
        answers.status(nth === 1 ? status : 200, nth === 1 ? { 'retry-after': '2' } : {})(response);
      },
    });
    const destination = destinationOf([receiver.url]);
    await stage.configure(destination);
    const first = newDelivery(destination.id);
    await stage.publish(first);
    // When the retry is written, the service has read the response and knows the delay.
    await stage.recordOf(stage.names.retryTier(2_000), first);
    const others = deliveriesFor([destination], 20);
    await publishAll(stage, others);
    const [, ...later] = await receiver.waitFor(1 + 1 + others.length);
    assert.deepEqual(bodiesOf(later), bodiesOf([first, ...others]));
    const early = later.filter(({ receivedAt }) => receivedAt < answeredAt + 2_000 - clockErrorMs);
    assert.equal(early.length, 0, `${early.length} of ${later.length} requests came before their time`);
  });
}
