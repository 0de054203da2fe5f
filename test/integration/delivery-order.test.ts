/**
 * Order by user, with the delivery service as processes on a real Kafka. The first arrivals of a user's events have the
 * order of `deliveries`, also while receivers fail and replicas are killed, join and leave.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { applyConfiguration, type Destination } from '@tailrace/config';
import { connectKafka, type ConsumedRecord, type Kafka, type Publisher } from '@tailrace/kafka';
import { freePort } from '@tailrace/local';
import { deliveryKey, encodeDelivery, type TopicNames } from '@tailrace/topics';
import * as answers from '../support/receivers/answers.ts';
import { sharedBroker } from '../support/kafka/broker.ts';
import { collect } from '@tailrace/testing';
import { startService, type Environment, type ServiceProcess } from '../support/processes/process.ts';
import { startReceiver, type ReceivedRequest, type Receiver } from '../support/receivers/receiver.ts';
import { createTopics, headerOf, uniquePrefix, watchTopic } from '../support/kafka/topics.ts';

const silent = (): void => undefined;
const quiet = { debug: silent, info: silent, warn: silent, error: silent };

/** Long enough that no delivery becomes a dead letter because of random failures. */
const retrySchedule = '1s,2s,1s,2s,1s,2s,1s,2s,1s,2s,1s,2s,1s,2s,1s,2s';
const retryScheduleMs = [1_000, 2_000];

interface Stage extends AsyncDisposable {
  readonly kafka: Kafka;
  readonly names: TopicNames;
  readonly publisher: Publisher;
  startReplica(more?: Environment): Promise<ServiceProcess>;
}

async function openStage(): Promise<Stage> {
  await using opened = new AsyncDisposableStack();
  const { brokers } = await sharedBroker();
  const kafka = connectKafka({ brokers, clientId: 'delivery-order-test' }, quiet);
  opened.defer(() => kafka.close());
  const prefix = uniquePrefix();
  const names = await createTopics(kafka, prefix, { partitions: 3, retryScheduleMs });
  const all = opened.move();
  return {
    kafka,
    names,
    publisher: kafka.publisher(),
    async startReplica(more = {}) {
      const env = {
        KAFKA_BROKERS: brokers.join(','),
        TAILRACE_TOPIC_PREFIX: prefix,
        TAILRACE_METRICS_PORT: String(await freePort()),
        TAILRACE_RETRY_SCHEDULE: retrySchedule,
        TAILRACE_RETRY_WINDOW: '10m',
        // A receiver in the process of a busy test may take seconds to answer, which is no failure.
        TAILRACE_DELIVERY_TIMEOUT: '1m',
        TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
        ...more,
      };
      return all.use(await startService('delivery', env));
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

interface Event {
  readonly user: string;
  readonly nth: number;
}

/** A destination ordered by user; each round has one event for each user. */
async function openDestination(stage: Stage, receiver: Receiver, users: readonly string[]) {
  const destination: Destination = {
    ...{ id: `d-${randomUUID()}`, type: 'Webhooks', enabled: true, sources: [], ordering: 'user' },
    settings: { webhooks: [{ url: receiver.url }] },
  };
  await applyConfiguration(stage.kafka, stage.names.config, { sources: [], destinations: [destination] });
  let published = 0;
  return {
    get published() {
      return published;
    },
    async publish(rounds: number): Promise<void> {
      const first = published / users.length;
      const events = Array.from({ length: rounds }, (_, round) =>
        users.map((user): Event => ({ user, nth: first + round })),
      ).flat();
      published += events.length;
      await Promise.all(
        events.map((event) =>
          stage.publisher.publish(
            encodeDelivery(stage.names.deliveries, {
              ...{ deliveryId: randomUUID(), eventId: randomUUID(), sourceId: 'web', type: 'track' },
              ...{ attempt: 0, step: 0, deferrals: 0, closedUrls: [], destinationId: destination.id },
              key: deliveryKey(destination.id, event.user),
              body: Buffer.from(JSON.stringify(event)),
            }),
          ),
        ),
      );
    },
  };
}

/** Events answered with 200, in order, without repeats. */
function openLedger() {
  const arrivals = collect<Event>('the ledger', ({ user, nth }) => `${user} ${nth}`);
  const seen = new Set<string>();
  let repeats = 0;
  const of = (user: string): number[] =>
    arrivals.items.filter((event) => event.user === user).map(({ nth }) => nth);
  return {
    take: ({ body }: ReceivedRequest): void => {
      const text = body.toString();
      if (seen.has(text)) repeats += 1;
      else arrivals.add(JSON.parse(text) as Event);
      seen.add(text);
    },
    of,
    repeats: () => repeats,
    waitFor: arrivals.waitFor,
    assertInOrder: (): void => {
      for (const user of new Set(arrivals.items.map(({ user }) => user))) {
        assert.deepEqual(of(user), [...of(user).keys()], `the events of ${user} arrived in another order`);
      }
    },
  };
}

test('while an event of a user is retried, the later ones wait, and those of other users are delivered', async () => {
  await using stage = await openStage();
  const ledger = openLedger();
  let refusals = 0;
  let together = 0;
  let mostTogether = 0;
  await using receiver = await startReceiver({
    answer: (request) => {
      const { user, nth } = request.json() as Event;
      if (user === 'ada' && nth === 2 && (refusals < 2 || ledger.of('bob').length < 10)) {
        refusals += 1;
        return answers.status(503);
      }
      if (user === 'ada') mostTogether = Math.max(mostTogether, ++together);
      return answers.delayed(5, (response) => {
        if (user === 'ada') together -= 1;
        ledger.take(request);
        answers.status(200)(response);
      });
    },
  });
  await stage.startReplica();
  const destination = await openDestination(stage, receiver, ['ada', 'bob']);
  await destination.publish(10);
  await ledger.waitFor(() => ledger.of('bob').length === 10 && ledger.of('ada').length >= 2);
  assert.deepEqual(ledger.of('ada'), [0, 1]);
  await ledger.waitFor(20);
  await destination.publish(1);
  await ledger.waitFor(22);
  ledger.assertInOrder();
  assert.equal(mostTogether, 1);
  assert.equal(receiver.requests.length, 22 + refusals);
});

test('while a receiver is down, the retry windows of a user’s events end at the same time', async () => {
  await using stage = await openStage();
  await using receiver = await startReceiver({ answer: () => answers.status(503) });
  await using letters = await watchTopic(stage.kafka, stage.names.deliveriesDead);
  await stage.startReplica({ TAILRACE_RETRY_WINDOW: '20s' });
  const destination = await openDestination(stage, receiver, ['ada', 'bob', 'cy', 'dan', 'eve']);
  await destination.publish(8);
  const dead = await letters.waitFor(destination.published);
  const [first] = dead;
  const unattempted = dead.filter((letter) => headerOf(letter, 'attempt') === '0');
  assert.ok(first && unattempted.length > destination.published / 2, `${unattempted.length}`);
  for (const letter of unattempted) {
    assert.equal(headerOf(letter, 'reason'), 'circuit-open');
    const began = Date.parse(headerOf(letter, 'first-attempt-at') ?? '');
    assert.ok(began < first.timestamp, 'its window began before the first one died');
    // A delivery whose next delay would end after its window becomes a dead letter that much earlier.
    assert.ok(letter.timestamp - began > 20_000 - 2_000, 'the delivery waited until its window ended');
  }
});

test('events that waited for an earlier one while the receiver was down arrive in order when it has recovered', async () => {
  await using stage = await openStage();
  const ledger = openLedger();
  let failing = true;
  await using receiver = await startReceiver({
    answer: (request) => {
      if (failing) return answers.status(503);
      ledger.take(request);
      return answers.status(200);
    },
  });
  await using tier = await watchTopic(stage.kafka, stage.names.retryTier(2_000));
  await stage.startReplica();
  const destination = await openDestination(stage, receiver, ['ada', 'bob', 'cy', 'dan', 'eve']);
  await destination.publish(20);
  const hasBegun = (record: ConsumedRecord): boolean =>
    headerOf(record, 'reason') === 'behind' && headerOf(record, 'first-attempt-at') !== undefined;
  await tier.find(hasBegun);
  failing = false;
  await destination.publish(2);
  await ledger.waitFor(destination.published);
  ledger.assertInOrder();
});

test('no event overtakes an earlier one of its user while receivers fail and replicas are killed, join and leave', async (t) => {
  await using stage = await openStage();
  const ledger = openLedger();
  let failing = true;
  await using receiver = await startReceiver({
    answer: (request) => {
      if (failing && Math.random() < 0.12) return answers.status(503);
      return (response) => {
        ledger.take(request);
        answers.status(200)(response);
      };
    },
  });
  const users = Array.from({ length: 40 }, (_, nth) => `user-${nth}`);
  const first = await stage.startReplica();
  const destination = await openDestination(stage, receiver, users);
  await destination.publish(10);
  await ledger.waitFor(100);
  const publishing = (async () => {
    for (let round = 0; round < 20; round += 1) {
      await destination.publish(1);
      await wait(300);
    }
  })();
  await first.kill();
  const [second] = await Promise.all([stage.startReplica(), first.restart()]);
  await second.stop();
  await second.restart();
  await first.kill();
  await publishing;
  await first.restart();
  failing = false;
  await ledger.waitFor(destination.published);
  t.diagnostic(
    `${destination.published} events, ${receiver.requests.length} requests, ${ledger.repeats()} repeats`,
  );
  ledger.assertInOrder();
});
