/**
 * The delivery service as a process, on a real Kafka, with a retry schedule of seconds: retries, dead letters, and the
 * effect of a stop or a crash. services/delivery tests the other outcomes on an in-memory cluster.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { verifySignature } from '@tailrace/signing';
import { deliveryKey, encodeDelivery } from '@tailrace/topics';
import * as answers from '../support/receivers/answers.ts';
import {
  attemptIn,
  destinationOf,
  newDelivery,
  openDeliveryStage,
  type DeliveryStage,
  type Replica,
} from '../support/processes/delivery.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { eventually } from '@tailrace/testing';
import { headerOf } from '../support/kafka/topics.ts';

const scheduleMs = [1_000, 2_000, 2_000, 2_000];

interface Stage extends DeliveryStage {
  readonly service: Replica;
}

/** By default, a receiver in the process of a busy test has a minute to answer. */
async function startStage({ timeout = '1m' } = {}): Promise<Stage> {
  const opened = await openDeliveryStage({ scheduleMs, env: { TAILRACE_DELIVERY_TIMEOUT: timeout } });
  return { ...opened, service: await opened.startReplica() };
}

let stage: Stage;
before(async () => {
  stage = await startStage();
});
after(() => stage[Symbol.asyncDispose]());

describe('a delivery', { concurrency: true }, () => {
  test('arrives with the exact bytes of its record, signed', async () => {
    await using receiver = await startReceiver();
    const { webhooks } = destinationOf([`${receiver.url}/hook?b=2`]).settings;
    const destination = destinationOf([], { settings: { webhooks, sharedSecret: 'sësame' } });
    await stage.configure(destination);
    for (const body of [
      Buffer.from('{ "spaces" : [1,  2],\n"Previous ID": "Zoë 🚀" }'),
      Buffer.from([0x7b, 0x00, 0xff, 0xfe, 0x7d]),
    ]) {
      const delivery = newDelivery(destination.id, { body });
      await stage.publish(delivery);
      const request = await receiver.find((candidate) => candidate.body.equals(body));
      assert.equal(request.path, '/hook?b=2');
      assert.ok(verifySignature('sësame', request.body, request.headers['x-signature']));
      const [attempt] = await stage.attemptsOf(delivery, 'delivered');
      assert.partialDeepStrictEqual(attempt, {
        eventId: delivery.eventId,
        destinationId: destination.id,
        attempt: 1,
        urls: [{ url: `${receiver.url}/hook`, status: 200 }],
      });
    }
    assert.equal(receiver.requests.length, 2);
  });

  test('that fails moves through the retry topics of the schedule until it succeeds', async () => {
    await using receiver = await startReceiver({
      answer: answers.sequence(answers.status(503), answers.status(500), answers.status(200)),
    });
    const destination = destinationOf([receiver.url]);
    await stage.configure(destination);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const delivery = newDelivery(destination.id, { traceparent });
    await stage.publish(delivery);

    const origin = await stage.recordOf(stage.names.deliveries, delivery);
    const first = await stage.recordOf(stage.names.retryTier(1_000), delivery);
    const second = await stage.recordOf(stage.names.retryTier(2_000), delivery);
    await receiver.waitFor(3);
    for (const [record, attempt, delayMs] of [[first, 1, 1_000] as const, [second, 2, 2_000] as const]) {
      assert.deepEqual(record.value, delivery.body);
      assert.equal(record.key?.toString(), delivery.key);
      assert.equal(record.partition, origin.partition);
      const { 'due-at': dueAt, 'first-attempt-at': firstAttemptAt, ...headers } = record.headers;
      assert.deepEqual(
        Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.toString()])),
        {
          ...{ 'delivery-id': delivery.deliveryId, 'event-id': delivery.eventId, 'source-id': 'web' },
          ...{ 'destination-id': destination.id, type: 'track', traceparent },
          ...{ attempt: String(attempt), reason: 'server-error' },
          'accepted-at': new Date(origin.timestamp).toISOString(),
        },
      );
      const request = receiver.requests[attempt - 1];
      const dueAtMs = Date.parse(dueAt?.toString() ?? '');
      assert.ok(request && dueAtMs >= request.receivedAt + 0.8 * delayMs);
      assert.ok(dueAtMs <= record.timestamp + delayMs);
      assert.ok((receiver.requests[attempt]?.receivedAt ?? 0) >= dueAtMs);
      assert.deepEqual(firstAttemptAt, first.headers['first-attempt-at']);
    }
    const attempts = await stage.attemptsOf(delivery, 'delivered');
    assert.deepEqual(
      attempts.map(({ attempt, outcome, reason }) => [attempt, outcome, reason]),
      [
        [1, 'retry', 'server-error'],
        [2, 'retry', 'server-error'],
        [3, 'delivered', undefined],
      ],
    );
    assert.equal(attempts[0]?.nextDueAt, headerOf(first, 'due-at'));
  });

  test('that every URL refuses permanently becomes a dead letter with their responses', async () => {
    await using wrong = await startReceiver({ answer: () => answers.status(410) });
    await using moved = await startReceiver({ answer: () => answers.redirect(301, wrong.url) });
    const destination = destinationOf([`${wrong.url}/?key=topsecret`, moved.url]);
    await stage.configure(destination);
    const delivery = newDelivery(destination.id);
    await stage.publish(delivery);
    const letter = await stage.deadLetterOf(delivery);
    assert.equal(letter.reason, 'client-error');
    assert.equal(letter.attempt, 1);
    assert.equal(letter.dueAt, undefined);
    assert.deepEqual(letter.body, delivery.body);
    assert.partialDeepStrictEqual(JSON.parse(letter.lastAnswer ?? ''), [
      { url: `${wrong.url}/`, status: 410, reason: 'client-error' },
      { url: moved.url + '/', status: 301, reason: 'redirect' },
    ]);
    assert.doesNotMatch(letter.lastAnswer ?? '', /topsecret/);
  });
});

test('a configuration change applies to the next delivery', async () => {
  await using receiver = await startReceiver();
  const letters = await stage.watch(stage.names.deliveriesDead);
  const rounds = 5;
  for (let round = 0; round < rounds; round += 1) {
    const [added, enabled] = [destinationOf([receiver.url]), destinationOf([receiver.url])];
    await stage.configure({ ...enabled, enabled: false });
    await stage.configure(added, enabled);
    await Promise.all([stage.publish(newDelivery(added.id)), stage.publish(newDelivery(enabled.id))]);
    await receiver.waitFor(2 * (round + 1));
    await letters.refresh();
    const ids = letters.items.map((record) => headerOf(record, 'destination-id'));
    assert.ok(!ids.includes(added.id) && !ids.includes(enabled.id));
  }
});

test('no log line holds a secret', async () => {
  await using receiver = await startReceiver({ answer: () => answers.status(400) });
  const { settings } = destinationOf([`${receiver.url}/hook?token=t0psecret`]);
  const destination = destinationOf([], { settings: { ...settings, sharedSecret: 'shhhh' } });
  await stage.configure(destination);
  const delivery = newDelivery(destination.id);
  await stage.publish(delivery);
  const line = await stage.service.log.find(
    (line) => line.msg === 'attempt' && line['deliveryId'] === delivery.deliveryId,
  );
  assert.partialDeepStrictEqual(line, { destinationId: destination.id, outcome: 'dead', attempt: 1 });
  await stage.deadLetterOf(delivery);
  assert.doesNotMatch(JSON.stringify(stage.service.log.items), /t0psecret|shhhh/);
});

describe('during deliveries and retries', { concurrency: true }, () => {
  /** On a busy machine, requests that time out earlier are repeated until they are dead letters. */
  const patientTimeout = '5s';

  /**
   * Writes sixty deliveries to each of three destinations: one responds slowly, one fails first, and one times out three
   * times, one request at a time. Resolves when some are in flight, some wait in a retry topic and some have not begun.
   */
  async function startWork(own: Stage) {
    const perDestination = 60;
    const failed = new Set<string>();
    /** The bodies that were answered with 200. */
    const accepted = new Set<string>();
    const accept = ({ body }: { readonly body: Buffer }): answers.Answer => {
      accepted.add(body.toString());
      return answers.status(200);
    };
    const failFirst =
      (failure: answers.Answer, atMost = perDestination) =>
      (request: { readonly body: Buffer }, nth: number): answers.Answer => {
        const id = request.body.toString();
        if (failed.has(id) || nth > atMost) return accept(request);
        failed.add(id);
        return failure;
      };
    const opened = new AsyncDisposableStack();
    const slow = opened.use(
      await startReceiver({ answer: (request) => answers.delayed(400, accept(request)) }),
    );
    const failing = opened.use(await startReceiver({ answer: failFirst(answers.status(503)) }));
    const hanging = opened.use(await startReceiver({ answer: failFirst(answers.never, 3) }));
    const receivers = [slow, failing, hanging];
    const destinations = receivers.map(({ url }) => destinationOf([url]));
    await own.configure(...destinations);
    const retries = await own.watch(own.names.retryTier(1_000));
    const deliveries = destinations.map(({ id }) =>
      Array.from({ length: perDestination }, (_, number) =>
        newDelivery(id, { key: deliveryKey(id, `u-${number}`) }),
      ),
    );
    await Promise.all(
      deliveries
        .flat()
        .map((delivery) => own.publisher.publish(encodeDelivery(own.names.deliveries, delivery))),
    );
    await Promise.all([slow.waitFor(10), retries.waitFor(10), hanging.waitFor(1)]);
    return {
      slow,
      destinations,
      deliveries,
      /**
       * Resolves when every delivery has arrived, and asserts that their bytes are correct. It does not ask the records of
       * attempts, which no delivery waits for, so that a kill may lose them.
       */
      async settled(): Promise<void> {
        const bodies = deliveries.map((list) => list.map(({ body }) => body.toString()).sort());
        await eventually(
          () => bodies.flat().filter((body) => !accepted.has(body)).length,
          (missing) => missing === 0,
        );
        for (const [index, receiver] of receivers.entries()) {
          const arrived = new Set(receiver.requests.map(({ body }) => body.toString()));
          assert.deepEqual([...arrived].sort(), bodies[index]);
        }
        const letters = await own.watch(own.names.deliveriesDead);
        await letters.refresh();
        assert.equal(letters.items.length, 0);
      },
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  }

  test('SIGTERM lets requests in flight finish, and no delivery is lost or repeated', async () => {
    await using own = await startStage({ timeout: patientTimeout });
    await using work = await startWork(own);
    await own.service.stop();
    const begun = work.slow.requests.length;
    const attempts = await own.watch(own.names.attempts);
    await attempts.refresh();
    const delivered = attempts.items
      .map(attemptIn)
      .filter(
        ({ outcome, destinationId }) => outcome === 'delivered' && destinationId === work.destinations[0]?.id,
      );
    assert.equal(delivered.length, begun);
    await own.service.restart();
    await work.settled();
    assert.equal(work.slow.requests.length, work.deliveries[0]?.length);
  });

  test('kill -9 loses no delivery', async () => {
    await using own = await startStage({ timeout: patientTimeout });
    await using work = await startWork(own);
    await own.service.kill();
    await own.service.restart();
    await work.settled();
  });
});
