/**
 * What only real sockets, a real Kafka and a process show of the delivery service: signed requests, a burst, variables of
 * Node's, signals, and replicas that are killed. services/delivery tests the other rules on simulated time.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { verifySignature } from '@tailrace/signing';
import { collect, eventually } from '@tailrace/testing';
import {
  decodeRecall,
  deliveryKey,
  encodeDelivery,
  encodeRecallRequest,
  type AttemptRecord,
  type Delivery,
} from '@tailrace/records';
import { headerOf, readAll } from '../support/kafka/topics.ts';
import {
  deliveriesFor,
  destinationOf,
  newDelivery,
  openDeliveryStage,
  type DeliveryStage,
} from '../support/processes/delivery.ts';
import * as answers from '../support/receivers/answers.ts';
import { certificates } from '../support/receivers/certificates.ts';
import { startReceiver, type ReceivedRequest } from '../support/receivers/receiver.ts';

const [second, hour] = [1_000, 3_600_000];

function bodiesOf(sent: readonly { readonly body: Buffer }[]): string[] {
  return sent.map(({ body }) => body.toString()).sort();
}

describe('deliveries to real receivers', () => {
  const scheduleMs = [second];
  let stage: DeliveryStage;
  before(async () => {
    stage = await openDeliveryStage({ scheduleMs });
    await stage.startHere();
  });
  after(() => stage[Symbol.asyncDispose]());

  test('arrive with the exact bytes of their record, signed', async () => {
    await using receiver = await startReceiver();
    const webhooks = [{ url: `${receiver.url}/hook?b=2` }];
    const destination = destinationOf('', { settings: { webhooks, sharedSecret: 'sësame' } });
    await stage.configure(destination);
    const bodies = [
      Buffer.from('{ "spaces" : [1,  2],\n"Previous ID": "Zoë 🚀" }'),
      Buffer.from([0x7b, 0x00, 0xff, 0xfe, 0x7d]),
    ];
    await stage.publish(bodies.map((body) => newDelivery(destination.id, { body })));
    for (const body of bodies) {
      const request = await receiver.find((candidate) => candidate.body.equals(body));
      assert.equal(request.path, '/hook?b=2');
      assert.ok(verifySignature('sësame', request.body, request.headers['x-signature']));
    }
    assert.equal(receiver.requests.length, bodies.length);
  });

  // That none is deferred is shown on simulated time (stages/lane/fairness.slow.test.ts): here it depends on the machine.
  test('arrive in a burst of 5,000 to a hundred destinations, none as a dead letter', async () => {
    await using receiver = await startReceiver();
    const destinations = Array.from({ length: 100 }, (_, place) => destinationOf(`${receiver.url}/${place}`));
    await stage.configure(...destinations);
    const deliveries = deliveriesFor(destinations, 50);
    await stage.publish(deliveries);
    assert.deepEqual(bodiesOf(await receiver.waitFor(5_000)), bodiesOf(deliveries));
    assert.deepEqual(await readAll(stage.kafka, stage.names.deliveriesDead), []);
  });
});

describe('variables that change how Node connects', () => {
  let stage: DeliveryStage;
  let dialled = 0;
  const proxy = createServer((socket) => {
    dialled += 1;
    socket.destroy();
  });
  before(async () => {
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    stage = await openDeliveryStage({ scheduleMs: [second] });
    await stage.startProcess({
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      NODE_OPTIONS: '--tls-min-v1.0',
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: url,
      HTTPS_PROXY: url,
      ALL_PROXY: url,
      http_proxy: url,
      https_proxy: url,
      all_proxy: url,
    });
  });
  after(async () => {
    proxy.close();
    await stage[Symbol.asyncDispose]();
  });

  test('let no request be sent to a self-signed receiver', async () => {
    const { selfSigned, unknownAuthority, misnamed, stranger } = certificates();
    const letters = await stage.watch(stage.names.deliveriesDead);
    for (const tls of [selfSigned, unknownAuthority, misnamed]) {
      await using receiver = await startReceiver({ tls });
      const destinations = [destinationOf(receiver.url)];
      // A destination with TLS settings has its own connections.
      const webhooks = [{ url: receiver.url }];
      if (tls !== unknownAuthority)
        destinations.push(destinationOf('', { settings: { webhooks, tls: { ca: stranger } } }));
      await stage.configure(...destinations);
      await stage.publish(destinations.map(({ id }) => newDelivery(id)));
      for (const { id } of destinations) {
        const letter = await letters.find((record) => headerOf(record, 'destination-id') === id);
        assert.match(headerOf(letter, 'reason') ?? '', /^(self-signed|untrusted|misnamed)-/);
      }
      assert.equal(receiver.requests.length, 0);
      assert.equal(receiver.connections.items.length, destinations.length);
    }
  });

  test('add no proxy, which could connect to an address that was not checked', async () => {
    await using plain = await startReceiver();
    await using secure = await startReceiver({ tls: certificates().trusted });
    const webhooks = [{ url: secure.url }];
    const destinations = [
      destinationOf(plain.url),
      destinationOf('', { settings: { webhooks, tls: { ca: certificates().authority } } }),
    ];
    await stage.configure(...destinations);
    await stage.publish(destinations.map(({ id }) => newDelivery(id)));
    await Promise.all([plain.waitFor(1), secure.waitFor(1)]);
    assert.equal(dialled, 0);
  });
});

/**
 * Writes sixty deliveries to each of two destinations: one answers twenty and then none until `open`, and one fails first.
 * Resolves when some are in flight, some wait in a retry topic and some have not begun.
 */
async function startWork(stage: DeliveryStage) {
  const each = 60;
  const opened = Promise.withResolvers<undefined>();
  /** The bodies that were answered with 200. */
  const accepted = new Set<string>();
  const accept =
    ({ body }: ReceivedRequest): answers.Answer =>
    (response) => {
      accepted.add(body.toString());
      answers.status(200)(response);
    };
  const receivers = new AsyncDisposableStack();
  const slow = receivers.use(
    await startReceiver({
      answer: (request, nth) =>
        nth <= 20
          ? accept(request)
          : (response) => {
              void opened.promise.then(() => {
                accept(request)(response);
              });
            },
    }),
  );
  const failed = new Set<string>();
  const failing = receivers.use(
    await startReceiver({
      answer: (request) => {
        const isFirst = !failed.has(request.body.toString());
        failed.add(request.body.toString());
        return isFirst ? answers.status(503) : accept(request);
      },
    }),
  );
  const destinations = [slow, failing].map(({ url }) => destinationOf(url));
  await stage.configure(...destinations);
  const deliveries = deliveriesFor(destinations, each);
  await stage.publish(deliveries);
  const retries = await stage.watch(stage.names.retryTier(second));
  const ids = new Set(deliveries.map(({ deliveryId }) => deliveryId));
  const isOurs = (record: Parameters<typeof headerOf>[0]) => ids.has(headerOf(record, 'delivery-id') ?? '');
  await Promise.all([slow.waitFor(25), retries.waitFor((records) => records.filter(isOurs).length >= 10)]);
  return {
    slow,
    slowId: destinations[0]?.id,
    each,
    open: () => {
      opened.resolve(undefined);
    },
    /**
     * Resolves when every delivery has arrived. It does not ask the records of attempts, which no delivery waits for, so
     * that a kill may lose them.
     */
    async settled(): Promise<void> {
      await eventually(() => deliveries.every(({ body }) => accepted.has(body.toString())));
      const sent = new Set(bodiesOf([...slow.requests, ...failing.requests]));
      assert.deepEqual([...sent].sort(), bodiesOf(deliveries));
      assert.deepEqual(await readAll(stage.kafka, stage.names.deliveriesDead), []);
    },
    [Symbol.asyncDispose]: () => receivers.disposeAsync(),
  };
}

test('SIGTERM lets requests in flight finish without a loss or a repeat, and kill -9 loses no delivery', async () => {
  await using stage = await openDeliveryStage({ scheduleMs: Array<number>(8).fill(second) });
  const service = await stage.startProcess();
  {
    await using work = await startWork(stage);
    const stopping = service.stop();
    await service.log.find(({ msg }) => msg === 'stopping');
    work.open();
    await stopping;
    const begun = work.slow.requests.length;
    const attempts = (await readAll(stage.kafka, stage.names.attempts)).map(
      ({ value }) => JSON.parse(String(value)) as AttemptRecord,
    );
    const delivered = attempts.filter(
      ({ outcome, destinationId }) => outcome === 'delivered' && destinationId === work.slowId,
    );
    assert.equal(delivered.length, begun);
    assert.ok(begun < work.each, 'some have not begun');
    await service.restart();
    await work.settled();
    assert.equal(work.slow.requests.length, work.each);
  }
  await using work = await startWork(stage);
  await service.kill();
  work.open();
  await service.restart();
  await work.settled();
});

/** Writes deliveries that wait for an hour, the later events of a user before the earlier ones. */
async function wait(stage: DeliveryStage, destinationId: string, count: number, partitions: number) {
  const now = Date.now();
  const deliveries = Array.from({ length: count }, (_, nth) =>
    newDelivery(destinationId, {
      attempt: 1,
      step: 1,
      firstAttemptAt: now,
      dueAt: now + 0.9 * hour,
      reason: 'server-error',
      sequence: Math.floor((count - 1 - nth) / partitions),
      key: deliveryKey(destinationId, `user ${nth % 200}`),
    }),
  );
  const tier = stage.names.retryTier(hour);
  await Promise.all(
    deliveries.map((one, nth) => stage.publisher.publish(encodeDelivery(tier, one, nth % partitions))),
  );
  return deliveries;
}

/** Requests a recall of a destination, and returns a function that resolves when each partition has finished it. */
async function recall(stage: DeliveryStage, destinationId: string, partitions: number) {
  const id = randomUUID();
  const requestedAt = new Date().toISOString();
  const topic = stage.names.recalls;
  await stage.publisher.publish(
    encodeRecallRequest(topic, { id, kind: 'retry', destinationId, requestedAt, partitions }),
  );
  return async (): Promise<void> => {
    const records = await stage.watch(topic);
    await records.waitFor((all) => {
      const states = new Map<number, string>();
      for (const record of all) {
        const decoded = decodeRecall(record);
        if (decoded?.kind !== 'state' || decoded.state.request?.id !== id) continue;
        states.set(decoded.state.partition, decoded.state.request.state);
      }
      return states.size === partitions && [...states.values()].every((state) => state !== 'running');
    });
  };
}

test('while replicas are killed, join and leave, recalls lose no delivery, and no event overtakes an earlier one of its user', async (t) => {
  const partitions = 3;
  const scheduleMs = [...Array<number>(16).fill(second), hour];
  await using stage = await openDeliveryStage({ partitions, scheduleMs });
  const accepted = new Set<string>();
  const arrivals = collect<{ user: string; nth: number }>('the ledger', ({ user, nth }) => `${user} ${nth}`);
  let repeats = 0;
  await using live = await startReceiver({
    answer: ({ body }, nth) => {
      if (nth % 8 === 0) return answers.status(503);
      return (response) => {
        const text = body.toString();
        if (accepted.has(text)) repeats += 1;
        else arrivals.add(JSON.parse(text) as { user: string; nth: number });
        accepted.add(text);
        answers.status(200)(response);
      };
    },
  });
  await using recalled = await startReceiver({
    answer: ({ body }, nth) => {
      if (nth % 5 === 0) return answers.status(400);
      accepted.add(body.toString());
      return answers.delayed(10, answers.status(200));
    },
  });
  const users = destinationOf(live.url, { ordering: 'user' });
  const plain = destinationOf(`${recalled.url}/plain`);
  const ordered = destinationOf(`${recalled.url}/ordered`, { ordering: 'user' });
  await stage.configure(users, plain, ordered);
  const names = Array.from({ length: 40 }, (_, nth) => `user-${nth}`);
  let rounds = 0;
  const publish = async (count: number): Promise<void> => {
    for (const last = rounds + count; rounds < last; rounds += 1) {
      await stage.publish(
        names.map((user) =>
          newDelivery(users.id, {
            key: deliveryKey(users.id, user),
            body: Buffer.from(JSON.stringify({ user, nth: rounds })),
          }),
        ),
      );
    }
  };
  const count = 1_500;
  const waiting: Delivery[] = [];
  for (const { id } of [plain, ordered]) waiting.push(...(await wait(stage, id, count, partitions)));
  // The order is known when `deliveries` has been read beyond the offsets of these events.
  await Promise.all(
    Array.from({ length: count }, (_, nth) =>
      stage.publisher.publish(
        encodeDelivery(stage.names.deliveries, newDelivery('nowhere'), nth % partitions),
      ),
    ),
  );
  const first = await stage.startProcess();
  await publish(10);
  const finished = await Promise.all([plain, ordered].map(({ id }) => recall(stage, id, partitions)));
  await recalled.waitFor(200);
  const other = await stage.startProcess();
  await publish(4);
  await recalled.waitFor(500);
  await first.kill();
  await publish(4);
  await recalled.waitFor(1_000);
  await first.restart();
  await publish(4);
  await other.stop();
  await publish(4);
  await other.restart();
  await recalled.waitFor(1_800);
  await first.kill();
  await publish(4);

  for (const finish of finished) await finish();
  const letters = await stage.watch(stage.names.deliveriesDead);
  await eventually(() => {
    const dead = new Set(letters.items.map((letter) => headerOf(letter, 'event-id')));
    return waiting.every(({ body, eventId }) => accepted.has(body.toString()) || dead.has(eventId));
  });
  await arrivals.waitFor(rounds * names.length);
  for (const user of names) {
    const of = arrivals.items.filter((event) => event.user === user).map(({ nth }) => nth);
    assert.deepEqual(of, [...Array(rounds).keys()], `the events of ${user} arrived in another order`);
  }
  t.diagnostic(`${arrivals.items.length} events, ${live.requests.length} requests, ${repeats} repeats`);
});
