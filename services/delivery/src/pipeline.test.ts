/** One delivery through all stages, on an in-memory Kafka cluster and with a fake sender. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Delivery } from '@tailrace/records';
import { verifySignature } from '@tailrace/signing';
import { targetsOf } from '@tailrace/webhook';
import type { FakeSender } from './testing/fake-sender.ts';
import { gone, held, serverError, success } from './testing/fake-sender.ts';
import { destinationOf, groupId, names, newDelivery, Stage } from './testing/stage.ts';

const crm = destinationOf('crm');

describe('a delivery', () => {
  test('6.8 is sent with exactly the bytes of its record, signed, and its offset is committed after the answer', async () => {
    await using stage = new Stage();
    const { webhooks } = crm.settings;
    await stage.configure({ ...crm, settings: { webhooks, sharedSecret: 'sësame' } });
    const { sender } = await stage.startReplica();
    sender.onRequest = () => held;
    const body = Buffer.from([0x7b, 0x00, 0xff, 0xfe, 0x7d]);
    const delivery = newDelivery('crm', { body });
    await stage.publish(delivery);
    await sender.sent(1);
    const [request] = sender.requests;
    assert.ok(request);
    assert.deepEqual(request.body, body);
    assert.deepEqual([request.origin, request.path], ['https://crm.example.com', '/hook']);
    assert.ok(verifySignature('sësame', body, headersOf(request.headers)['x-signature']));
    assert.equal(stage.committed(), 0);

    sender.answerHeld(success);
    await stage.untilCommitted(1);
    const [attempt] = await stage.attempts();
    assert.partialDeepStrictEqual(attempt, {
      eventId: delivery.eventId,
      destinationId: 'crm',
      attempt: 1,
      outcome: 'delivered',
      urls: [{ url: 'https://crm.example.com/hook', status: 200 }],
    });
    assert.deepEqual(stage.cluster.records(names.deliveriesDead), []);
  });

  test('has a long event name cut in the record of its attempt and in the log', async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    sender.onRequest = () => gone;
    await stage.publish(newDelivery('crm', { eventName: 'x'.repeat(30_000) }));
    const [attempt] = await stage.attempts();
    assert.equal(attempt?.event?.length, 200);
    assert.equal(stage.log.find(({ msg }) => msg === 'attempt')?.['event'], attempt.event);
  });

  test('6.8 is retried through the retry topics of the schedule until it succeeds', async () => {
    await using stage = new Stage({ scheduleMs: [20, 40] });
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    const sentAt: number[] = [];
    sender.onRequest = (_request, nth) => {
      sentAt.push(Date.now());
      return nth < 3 ? serverError : success;
    };
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const delivery = newDelivery('crm', { traceparent });
    await stage.publish(delivery);

    const [origin] = await stage.records(names.deliveries);
    const [first] = await stage.records(names.retryTier(20));
    const [second] = await stage.records(names.retryTier(40));
    await sender.sent(3);
    for (const [record, attempt, delayMs] of [[first, 1, 20] as const, [second, 2, 40] as const]) {
      assert.ok(record && origin);
      assert.deepEqual(record.value, delivery.body);
      assert.equal(record.key?.toString(), delivery.key);
      assert.equal(record.partition, origin.partition);
      const { 'due-at': dueAt, 'first-attempt-at': firstAttemptAt, ...headers } = record.headers;
      assert.deepEqual(
        Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.toString()])),
        {
          'delivery-id': delivery.deliveryId,
          'event-id': delivery.eventId,
          'source-id': 'web',
          'destination-id': 'crm',
          type: 'track',
          traceparent,
          attempt: String(attempt),
          reason: 'server-error',
          'accepted-at': new Date(origin.timestamp).toISOString(),
        },
      );
      const dueAtMs = Date.parse(dueAt?.toString() ?? '');
      assert.ok(dueAtMs >= (sentAt[attempt - 1] ?? NaN) + 0.8 * delayMs);
      assert.ok(dueAtMs <= record.timestamp + delayMs);
      assert.ok((sentAt[attempt] ?? NaN) >= dueAtMs);
      assert.deepEqual(firstAttemptAt, first?.headers['first-attempt-at']);
    }
    for (const topic of [names.deliveries, names.retryTier(20), names.retryTier(40)]) {
      await stage.untilCommitted(1, topic);
    }
    const attempts = await stage.attempts(3);
    assert.deepEqual(
      attempts.map(({ attempt, outcome, reason }) => [attempt, outcome, reason]),
      [
        [1, 'retry', 'server-error'],
        [2, 'retry', 'server-error'],
        [3, 'delivered', undefined],
      ],
    );
    assert.equal(attempts[0]?.nextDueAt, first?.headers['due-at']?.toString());
  });

  test('is finished only when Kafka has acknowledged its retry', async () => {
    await using stage = new Stage({ scheduleMs: [60_000] });
    await stage.configure(crm, destinationOf('other'));
    const { sender } = await stage.startReplica();
    sender.onRequest = () => held;
    await stage.publish([newDelivery('crm'), newDelivery('other')]);
    await sender.sent(2);
    stage.cluster.pauseAcknowledgements();
    sender.answerHeld(serverError);
    await stage.records(names.retryTier(60_000));
    sender.answerHeld(success);
    // The second delivery is committed as finished above the first one.
    await stage.until(() => stage.cluster.group(groupId).offsets.has(`${names.deliveries}/0`));
    assert.equal(stage.committed(), 0);
    stage.cluster.resumeAcknowledgements();
    await stage.untilCommitted(2);
  });

  test('5.5 9.3 is not sent again to a URL that refused it permanently, and is sent to one that was corrected', async () => {
    await using stage = new Stage({ scheduleMs: [20, 60_000] });
    const webhooks = [{ url: 'https://wrong.example.com/' }, { url: 'https://failing.example.com/' }];
    await stage.configure({ ...crm, settings: { webhooks } });
    const { sender } = await stage.startReplica();
    sender.onRequest = ({ origin }) =>
      origin.includes('wrong') ? gone : origin.includes('failing') ? serverError : success;
    await stage.publish(newDelivery('crm'));
    const retry = await stage.delivery(names.retryTier(20));
    assert.deepEqual(retry.closedUrls, [targetsOf({ ...crm, settings: { webhooks } })[0]?.fingerprint]);
    assert.equal(retry.reason, 'server-error');
    await sender.sent(3);
    const waiting = await stage.delivery(names.retryTier(60_000));
    const corrected = [{ url: 'https://right.example.com/' }, { url: 'https://failing.example.com/' }];
    await stage.configure({ ...crm, settings: { webhooks: corrected } });
    await stage.publish({ ...waiting, dueAt: Date.now() }, names.retryTier(60_000));
    await sender.sent(5);
    assert.equal(sentTo(sender, 'right'), 1);
    assert.equal(sentTo(sender, 'wrong'), 1);
  });

  test('9.7 keeps headers that only a newer version knows, in retries and in the dead letter', async () => {
    await using stage = new Stage({ scheduleMs: [20] });
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    sender.onRequest = (_request, nth) => (nth === 1 ? serverError : gone);
    const newer = [
      ['x-newer', Buffer.from([0xff, 0x00])],
      ['x-newer', Buffer.from('two')],
      ['X-Newer', Buffer.from('another name')],
    ] as const;
    await stage.publish(newDelivery('crm', { otherHeaders: newer }));
    const [retry] = await stage.records(names.retryTier(20));
    const [letter] = await stage.records(names.deliveriesDead);
    for (const record of [retry, letter]) {
      assert.deepEqual(
        record?.headerList.filter(([name]) => /^x-newer$/i.test(name)),
        newer,
      );
    }
    assert.equal(letter?.headers['reason']?.toString(), 'client-error');
  });

  test('from the replay topic is attempted', async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    await stage.publish(newDelivery('crm'), names.deliveriesReplay);
    await stage.untilCommitted(1, names.deliveriesReplay);
    assert.equal(sender.requests.length, 1);
  });

  test('of a replay of events gives way to live ones in its retries too', async () => {
    await using stage = new Stage({ scheduleMs: [60_000], limits: { perLane: 1 } });
    await stage.configure(crm);
    const { sender, lanes } = await stage.startReplica();
    sender.onRequest = (_request, nth) => (nth === 1 ? held : success);
    const four = (more: Partial<Delivery> = {}): readonly Delivery[] =>
      Array.from({ length: 4 }, () => newDelivery('crm', more));
    await stage.publish(newDelivery('crm'));
    await sender.sent(1);
    const now = Date.now();
    const retries = four({ attempt: 1, eventAcceptedAt: now - 60_000, firstAttemptAt: now, dueAt: now });
    const live = four();
    await stage.publish(retries, names.retryTier(60_000));
    await stage.until(() => lanes.waiting === 4);
    await stage.publish(live);
    await stage.until(() => lanes.waiting === 8);
    sender.release();
    await sender.sent(9);
    assert.deepEqual(
      sender.bodies.slice(1, 3),
      live.slice(0, 2).map(({ body }) => String(body)),
    );
  });

  test('5.5 is decided by a configuration change that was written just before it', async () => {
    await using stage = new Stage();
    const { sender } = await stage.startReplica();
    for (let round = 1; round <= 5; round += 1) {
      const [added, enabled] = [destinationOf(`added-${round}`), destinationOf(`enabled-${round}`)];
      await stage.configure({ ...enabled, enabled: false });
      await stage.configure(added, enabled);
      await stage.publish([newDelivery(added.id), newDelivery(enabled.id)]);
      await stage.untilCommitted(2 * round);
      assert.equal(sender.requests.length, 2 * round);
    }
    assert.deepEqual(stage.cluster.records(names.deliveriesDead), []);
  });

  test('17.2 of a revoked partition writes no follow-up record, and the next owner sends it again', async () => {
    await using stage = new Stage({ scheduleMs: [60_000] });
    await stage.configure(crm);
    const first = await stage.startReplica();
    first.sender.onRequest = () => held;
    await stage.publish([newDelivery('crm'), newDelivery('crm')]);
    await first.sender.sent(1);
    await first.consumption.close();
    first.sender.answerHeld(serverError);
    await first.stop();
    assert.equal(first.sender.requests.length, 1);
    assert.deepEqual(stage.cluster.records(names.retryTier(60_000)), []);
    assert.equal(stage.committed(), 0);

    const second = await stage.startReplica();
    await stage.untilCommitted(2);
    assert.deepEqual(second.sender.bodies[0], first.sender.bodies[0]);
    assert.equal(second.sender.requests.length, 2);
  });

  test('in flight ends before stop() resolves, and one that is waiting is left to the next owner', async () => {
    await using stage = new Stage({ scheduleMs: [60_000], limits: { perLane: 1 } });
    await stage.configure(crm);
    const replica = await stage.startReplica();
    replica.sender.onRequest = () => held;
    await stage.publish([newDelivery('crm'), newDelivery('crm')]);
    await replica.sender.sent(1);
    let isStopped = false;
    const stopped = replica.stop().then(() => {
      isStopped = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isStopped, false);
    replica.sender.answerHeld(serverError);
    await stopped;
    assert.equal(stage.cluster.records(names.retryTier(60_000)).length, 1);
    assert.equal(stage.committed(), 1);
    assert.equal(replica.sender.requests.length, 1);
  });
});

/** Names and values alternate. */
function headersOf(list: readonly string[]): Readonly<Record<string, string>> {
  const entries = list.flatMap((name, place) => {
    const value = list[place + 1];
    return place % 2 === 0 && value !== undefined ? [[name.toLowerCase(), value]] : [];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

function sentTo(sender: FakeSender, host: string): number {
  return sender.requests.filter(({ origin }) => origin === `https://${host}.example.com`).length;
}
