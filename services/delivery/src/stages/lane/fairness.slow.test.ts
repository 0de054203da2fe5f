/** Many failing destinations beside healthy ones: which deliveries are attempted, deferred or dead. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { SendRequest } from '@tailrace/webhook';
import { crowdOf, deliveriesFor, fatesOf, undisturbed } from '../../testing/crowd.ts';
import { held, success, timeout, type FakeSender } from '../../testing/fake-sender.ts';
import { destinationOf, names, Stage } from '../../testing/stage.ts';

/** The time limit of a request. */
const timeoutMs = 5_000;
const good = destinationOf('good');

function sentTo({ requests }: FakeSender, name: string): SendRequest[] {
  return requests.filter(({ destinationId }) => destinationId.startsWith(name));
}

test('300 rate-limited destinations do not delay another destination', async () => {
  await using stage = new Stage({ partitions: 2 });
  // A delivery to five URLs takes five requests: with a limit of one a second, one delivery in five seconds.
  const webhooks = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ url: `https://limited.example.com/${name}` }));
  const many = crowdOf('limited', 300, { rateLimit: 1, settings: { webhooks } });
  await stage.configure(...many, good);
  const { sender } = await stage.startReplica();
  await stage.publish(deliveriesFor(many, 18));
  await stage.until(() => sentTo(sender, 'limited').length >= 300 * 5);
  await stage.publish(deliveriesFor([good], 500));
  const publishedAt = Date.now();
  await stage.until(() => sentTo(sender, 'good').length === 500);
  assert.ok(Date.now() - publishedAt < 1_000, `${Date.now() - publishedAt}`);
  const share = sentTo(sender, 'limited').length / (300 * 18 * 5);
  assert.ok(share < 0.5, `the others had ${share * 100} % of their requests when the last of these came`);
  assert.deepEqual(fatesOf(stage, [good]), undisturbed);
});

test('260 slow receivers do not delay another destination, before or after they respond', async () => {
  await using stage = new Stage({ partitions: 2 });
  const many = crowdOf('slow', 260);
  await stage.configure(...many, good);
  const { sender } = await stage.startReplica();
  let answered = 0;
  sender.onRequest = async ({ destinationId }) => {
    if (destinationId === 'good') return success;
    await stage.time.after(4_000);
    answered += 1;
    return success;
  };
  await stage.publish(deliveriesFor(many, 12));
  await stage.publish(deliveriesFor([good], 500));
  await stage.until(() => sentTo(sender, 'good').length === 500);
  assert.equal(answered, 0);

  // From here on, the service knows how long these receivers take.
  await stage.until(() => answered >= many.length);
  await stage.publish(deliveriesFor([good], 500));
  await stage.until(() => sentTo(sender, 'good').length === 1_000);
  assert.ok(answered < 260 * 12, 'the others still have something to do');
  assert.deepEqual(fatesOf(stage, [good]), undisturbed);
});

test('600 receivers that never respond do not delay another destination, even a new one', async () => {
  await using stage = new Stage({ partitions: 2 });
  const many = crowdOf('silent', 600);
  const healthy = crowdOf('good', 10);
  const fresh = crowdOf('fresh', 50);
  await stage.configure(...many, ...healthy);
  const { sender } = await stage.startReplica();
  sender.onRequest = ({ destinationId }) =>
    destinationId.startsWith('silent') ? stage.time.after(timeoutMs, timeout) : success;
  await stage.publish(deliveriesFor(many, 8));
  await stage.publish(deliveriesFor(healthy, 50));
  await stage.until(() => sentTo(sender, 'good').length === 500);
  await stage.configure(...fresh);
  await stage.publish(deliveriesFor(fresh, 1));
  await stage.until(() => sentTo(sender, 'fresh').length === fresh.length);
  assert.deepEqual(fatesOf(stage, [...healthy, ...fresh]), undisturbed);
  assert.equal(fatesOf(stage, many).waited['timeout'], undefined, 'no exchange has run out of time yet');
  // Each of them got a request too: a destination that has not failed yet gets its first request without delay.
  const reached = new Set(sentTo(sender, 'silent').map(({ destinationId }) => destinationId));
  assert.equal(reached.size, many.length);
});

test('64 hanging requests at an origin do not delay another destination of that origin', async () => {
  await using stage = new Stage({ partitions: 2 });
  const webhooks = [{ url: 'https://one.example.com/' }];
  const [slow, quick] = ['slow', 'good'].map((id) => destinationOf(id, { settings: { webhooks } }));
  assert.ok(slow && quick);
  await stage.configure(slow, quick);
  const { sender } = await stage.startReplica();
  sender.onRequest = ({ destinationId }) =>
    destinationId === 'good' || sentTo(sender, 'slow').length <= 1_000 ? success : held;
  // It responds until its lane has reached the highest limit of requests in flight, and then no more.
  await stage.publish(deliveriesFor([slow], 1_400));
  await stage.until(() => sender.holding >= 64);
  await stage.publish(deliveriesFor([quick], 200));
  await stage.until(() => sentTo(sender, 'good').length === 200);
  assert.equal(sender.holding, 64);
  assert.deepEqual(fatesOf(stage, [quick]), undisturbed);
});

describe('destinations that respond in time', () => {
  test('receive a burst of 20,000 to one of them without a deferral', async () => {
    await using stage = new Stage({ partitions: 2 });
    await stage.configure(good);
    const { sender } = await stage.startReplica();
    sender.onRequest = () => stage.time.after(20, success);
    await stage.publish(deliveriesFor([good], 20_000));
    await sender.sent(20_000);
    assert.deepEqual(fatesOf(stage, [good]), undisturbed);
  });

  test('receive a burst of 5,000 to a hundred of them without a deferral', async () => {
    await using stage = new Stage({ partitions: 2 });
    const many = crowdOf('good', 100);
    await stage.configure(...many);
    const { sender } = await stage.startReplica();
    sender.onRequest = () => stage.time.after(20, success);
    await stage.publish(deliveriesFor(many, 50));
    await sender.sent(5_000);
    assert.deepEqual(fatesOf(stage, many), undisturbed);
  });

  test('are not delayed by 5,000 replayed deliveries, to the same destination or to another', async () => {
    await using stage = new Stage({ partitions: 2 });
    const other = destinationOf('other');
    await stage.configure(good, other);
    const { sender } = await stage.startReplica();
    const live = deliveriesFor([good], 200);
    const isLive = new Set(live.map(({ body }) => String(body)));
    let [replayed, arrived, inTurn, mostInTurn] = [0, 0, 0, 0];
    const countInTurn = async (): Promise<void> => {
      mostInTurn = Math.max(mostInTurn, (inTurn += 1));
      await turn();
      inTurn = 0;
    };
    sender.onRequest = ({ destinationId, body }) => {
      if (destinationId === 'other') return success;
      if (isLive.has(String(body))) {
        arrived += 1;
        return success;
      }
      replayed += 1;
      void countInTurn();
      return replayed <= 500 ? success : held;
    };
    await stage.publish(deliveriesFor([good], 5_000), names.deliveriesReplay);
    await stage.until(() => sender.holding > 0);
    assert.ok(
      mostInTurn <= 2,
      `${mostInTurn} replayed ones began before the process could receive a live one`,
    );
    await stage.publish([...live, ...deliveriesFor([other], 200)]);
    await stage.until(() => sentTo(sender, 'other').length === 200 && arrived === live.length);
    assert.ok(sender.holding > 0, 'the replay still hangs');
    sender.onRequest = ({ destinationId }) => {
      if (destinationId === 'good') replayed += 1;
      return success;
    };
    sender.release();
    await stage.until(() => replayed >= 5_000);
    assert.deepEqual(fatesOf(stage, [other]), undisturbed);
  });
});
