/**
 * Many failing destinations beside healthy ones: which deliveries are attempted, deferred or dead. No test depends on
 * durations: the test itself holds slow responses until the other deliveries have arrived.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as answers from '../support/receivers/answers.ts';
import {
  closedGate,
  crowdOf,
  deliveriesFor,
  fatesOf,
  publishAll,
  undisturbed,
  type Fates,
} from '../support/crowd.ts';
import { destinationOf, openDeliveryStage, type DeliveryStage } from '../support/processes/delivery.ts';
import { eventually } from '@tailrace/testing';
import { startReceiver } from '../support/receivers/receiver.ts';
import type { Destination } from '@tailrace/config';

const scheduleMs = [1_000, 2_000, 10_000];

/** Longer than the test, so that no request that the test leaves unanswered times out during it. */
async function startStage(): Promise<DeliveryStage> {
  const stage = await openDeliveryStage({
    scheduleMs,
    env: { TAILRACE_DELIVERY_TIMEOUT: '2m', TAILRACE_RETRY_WINDOW: '4m' },
  });
  await stage.startReplica();
  return stage;
}

function fates(stage: DeliveryStage, ...destinations: readonly Destination[]): Promise<Fates> {
  return fatesOf(stage, scheduleMs, destinations);
}

test('300 rate-limited destinations do not delay another destination', async () => {
  await using stage = await startStage();
  await using limited = await startReceiver();
  await using healthy = await startReceiver();
  // A delivery to five URLs takes five requests: with a limit of one a second, one delivery in five seconds.
  const many = Array.from({ length: 300 }, (_, place) =>
    destinationOf(
      ['a', 'b', 'c', 'd', 'e'].map((name) => `${limited.url}/${place}/${name}`),
      { rateLimit: 1 },
    ),
  );
  const good = destinationOf([healthy.url]);
  await stage.configure(...many, good);
  await publishAll(stage, deliveriesFor(many, 18));
  await limited.waitFor(300 * 5);
  await publishAll(stage, deliveriesFor([good], 500));
  await healthy.waitFor(500);
  const share = limited.requests.length / (300 * 18 * 5);
  assert.ok(share < 0.5, `the others had ${share * 100} % of their requests when the last of these came`);
  assert.deepEqual(await fates(stage, good), undisturbed);
});

test('260 slow receivers do not delay another destination, before or after they respond', async () => {
  await using stage = await startStage();
  const gate = closedGate();
  let answered = 0;
  await using slow = await startReceiver({
    answer: () =>
      gate.answer(
        // Later answers take longer, so that these receivers are still at work when the test ends.
        answers.delayed(answered < 260 ? 4_000 : 20_000, (response) => {
          answered += 1;
          answers.status(200)(response);
        }),
      ),
  });
  await using healthy = await startReceiver();
  const many = crowdOf(260, slow.url);
  const good = destinationOf([healthy.url]);
  await stage.configure(...many, good);
  await publishAll(stage, deliveriesFor(many, 12));
  await publishAll(stage, deliveriesFor([good], 500));
  await healthy.waitFor(500);
  assert.equal(answered, 0);

  // From here on, the service knows how long these receivers take.
  gate.open();
  await eventually(
    () => answered,
    (count) => count >= many.length,
  );
  await publishAll(stage, deliveriesFor([good], 500));
  await healthy.waitFor(1_000);
  assert.ok(answered < 260 * 12, 'the others still have something to do');
  assert.deepEqual(await fates(stage, good), undisturbed);
});

test('600 receivers that never respond do not delay another destination, even a new one', async () => {
  await using stage = await startStage();
  await using silent = await startReceiver({ answer: () => answers.never });
  await using healthy = await startReceiver();
  await using fresh = await startReceiver();
  const many = crowdOf(600, silent.url);
  const good = crowdOf(10, healthy.url);
  const unused = crowdOf(50, fresh.url);
  await stage.configure(...many, ...good);
  await publishAll(stage, deliveriesFor(many, 8));
  await publishAll(stage, deliveriesFor(good, 50));
  await healthy.waitFor(500);
  await stage.configure(...unused);
  await publishAll(stage, deliveriesFor(unused, 1));
  await fresh.waitFor(unused.length);
  assert.deepEqual(await fates(stage, ...good, ...unused), undisturbed);
  const { waited } = await fates(stage, ...many);
  assert.equal(waited['timeout'], undefined, 'no exchange has run out of time yet');
  // Each of them got a request too: a destination that has not failed yet gets its first request without delay.
  await silent.waitFor((requests) => new Set(requests.map(({ path }) => path)).size === many.length);
});

test('64 hanging requests at an origin do not delay another destination of that origin', async () => {
  await using stage = await startStage();
  const gate = closedGate();
  const quick = 1_000;
  let begun = 0;
  await using receiver = await startReceiver({
    answer: ({ path }) => {
      if (path === '/good') return answers.status(200);
      begun += 1;
      return begun <= quick ? answers.status(200) : gate.answer(answers.status(200));
    },
  });
  const slow = destinationOf([`${receiver.url}/slow`]);
  const good = destinationOf([`${receiver.url}/good`]);
  await stage.configure(slow, good);
  // It responds until its lane has reached the highest limit of requests in flight, and then no more.
  await publishAll(stage, deliveriesFor([slow], quick + 400));
  await eventually(
    () => gate.waiting,
    (hanging) => hanging >= 64,
  );
  await publishAll(stage, deliveriesFor([good], 200));
  await receiver.waitFor((requests) => requests.filter(({ path }) => path === '/good').length >= 200);
  assert.ok(gate.waiting >= 64, 'the others still hang');
  assert.deepEqual(await fates(stage, good), undisturbed);
});

describe('destinations that respond in time', () => {
  let stage: DeliveryStage;
  before(async () => {
    stage = await startStage();
  });
  after(() => stage[Symbol.asyncDispose]());

  test('receive a burst of 20,000 to one of them without a deferral', async () => {
    await using receiver = await startReceiver();
    const destination = destinationOf([receiver.url]);
    await stage.configure(destination);
    await publishAll(stage, deliveriesFor([destination], 20_000));
    await receiver.waitFor(20_000);
    assert.deepEqual(await fates(stage, destination), undisturbed);
  });

  test('receive a burst of 5,000 to a hundred of them without a deferral', async () => {
    await using receiver = await startReceiver();
    const destinations = crowdOf(100, receiver.url);
    await stage.configure(...destinations);
    await publishAll(stage, deliveriesFor(destinations, 50));
    await receiver.waitFor(5_000);
    assert.deepEqual(await fates(stage, ...destinations), undisturbed);
  });

  test('are not delayed by 5,000 replayed deliveries, to the same destination or to another', async () => {
    const gate = closedGate();
    const isLive = new Set<string>();
    let [replayed, arrived] = [0, 0];
    await using receiver = await startReceiver({
      answer: ({ body }) => {
        if (isLive.has(body.toString())) {
          arrived += 1;
          return answers.status(200);
        }
        replayed += 1;
        return replayed <= 500 ? answers.status(200) : gate.answer(answers.status(200));
      },
    });
    await using healthy = await startReceiver();
    const [destination, other] = [destinationOf([receiver.url]), destinationOf([healthy.url])];
    await stage.configure(destination, other);
    await publishAll(stage, deliveriesFor([destination], 5_000), stage.names.deliveriesReplay);
    await eventually(
      () => gate.waiting,
      (hanging) => hanging > 0,
    );
    const live = deliveriesFor([destination], 200);
    for (const { body } of live) isLive.add(body.toString());
    await publishAll(stage, [...live, ...deliveriesFor([other], 200)]);
    await healthy.waitFor(200);
    await eventually(
      () => arrived,
      (count) => count >= live.length,
    );
    assert.ok(gate.waiting > 0, 'the replay still hangs');
    gate.open();
    await eventually(
      () => replayed,
      (count) => count >= 5_000,
    );
    assert.deepEqual(await fates(stage, other), undisturbed);
  });
});
