/**
 * The delivery service as a process, on a real Kafka, with a retry schedule of seconds: what becomes of a record
 * of `deliveries`, and what a stop or a crash in the middle of it all costs.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { applyConfiguration, type Destination } from '@tailrace/config';
import { connectKafka, type ConsumedRecord, type Kafka, type Publisher } from '@tailrace/kafka';
import { freePort } from '@tailrace/local';
import { verifySignature } from '@tailrace/signing';
import {
  decodeDelivery,
  deliveryKey,
  encodeDelivery,
  type AttemptRecord,
  type Delivery,
  type TopicNames,
} from '@tailrace/topics';
import { targetsOf } from '@tailrace/webhook';
import * as answers from '../support/answers.ts';
import { sharedBroker } from '../support/broker.ts';
import { startService, type ServiceProcess } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { createTopics, headerOf, uniquePrefix, watchTopic, type WatchedTopic } from '../support/topics.ts';

const silent = (): void => undefined;
const quiet = { debug: silent, info: silent, warn: silent, error: silent };

const schedule = '1s,2s,2s,2s';
const scheduleMs = [1_000, 2_000, 2_000, 2_000];
/** A test that waits for a retry, or for the group to notice that a member was killed, may wait this long. */
const patientMs = 40_000;

interface Stage extends AsyncDisposable {
  readonly kafka: Kafka;
  readonly names: TopicNames;
  readonly publisher: Publisher;
  readonly service: ServiceProcess;
  readonly metricsUrl: string;
  watch(topic: string): Promise<WatchedTopic>;
}

/** A delivery service on topics of its own. */
async function startStage({ partitions = 2, timeout = '1s' } = {}): Promise<Stage> {
  await using opened = new AsyncDisposableStack();
  const { brokers } = await sharedBroker();
  const kafka = connectKafka({ brokers, clientId: 'delivery-test' }, quiet);
  opened.defer(() => kafka.close());
  const prefix = uniquePrefix();
  const names = await createTopics(kafka, prefix, { partitions, retryScheduleMs: scheduleMs });
  const metricsPort = await freePort();
  const service = opened.use(
    await startService('delivery', {
      KAFKA_BROKERS: brokers.join(','),
      TAILRACE_TOPIC_PREFIX: prefix,
      TAILRACE_METRICS_PORT: String(metricsPort),
      TAILRACE_RETRY_SCHEDULE: schedule,
      TAILRACE_RETRY_WINDOW: '1m',
      TAILRACE_DELIVERY_TIMEOUT: timeout,
      TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
    }),
  );
  const watched = new Map<string, Promise<WatchedTopic>>();
  const all = opened.move();
  return {
    kafka,
    names,
    publisher: kafka.publisher(),
    service,
    metricsUrl: `http://127.0.0.1:${metricsPort}`,
    watch(topic) {
      const watching = watched.get(topic) ?? watchTopic(kafka, topic);
      watched.set(topic, watching);
      return watching;
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** A destination that no other test has, with these URLs. */
function destinationOf(urls: readonly string[], more: Partial<Destination> = {}): Destination {
  const webhooks = urls.map((url) => ({ url }));
  const id = `d-${randomUUID()}`;
  return { id, type: 'Webhooks', enabled: true, sources: [], settings: { webhooks }, ...more };
}

function newDelivery(destinationId: string, more: Partial<Delivery> = {}): Delivery {
  const eventId = randomUUID();
  return {
    deliveryId: randomUUID(),
    eventId,
    sourceId: 'web',
    destinationId,
    type: 'track',
    attempt: 0,
    step: more.attempt ?? 0,
    putOff: 0,
    closedUrls: [],
    key: deliveryKey(destinationId, 'ada'),
    body: Buffer.from(JSON.stringify({ version: 1, type: 'track', event: eventId })),
    ...more,
  };
}

/** Puts destinations in force, sooner or later. */
async function configure({ kafka, names }: Stage, ...destinations: readonly Destination[]): Promise<void> {
  await applyConfiguration(kafka, names.config, { sources: [], destinations });
}

/** The records of the delivery in a topic, once there are `count`. */
async function recordsOf(
  stage: Stage,
  topic: string,
  { deliveryId }: Delivery,
  count = 1,
): Promise<readonly ConsumedRecord[]> {
  const isOf = (record: ConsumedRecord): boolean => headerOf(record, 'delivery-id') === deliveryId;
  const watched = await stage.watch(topic);
  const all = await watched.waitFor((records) => records.filter(isOf).length >= count, patientMs);
  return all.filter(isOf);
}

async function recordOf(stage: Stage, topic: string, delivery: Delivery): Promise<ConsumedRecord> {
  const [record] = await recordsOf(stage, topic, delivery);
  assert.ok(record);
  return record;
}

async function deadLetterOf(stage: Stage, delivery: Delivery): Promise<Delivery> {
  const letter = decodeDelivery(await recordOf(stage, stage.names.deliveriesDead, delivery));
  if (typeof letter === 'string') assert.fail(letter);
  return letter;
}

function attemptIn({ value }: ConsumedRecord): AttemptRecord {
  return JSON.parse(value?.toString() ?? 'null') as AttemptRecord;
}

/** The records of the delivery's attempts, in their order, once one says `outcome`. */
async function attemptsOf(
  stage: Stage,
  { deliveryId }: Delivery,
  outcome: AttemptRecord['outcome'],
): Promise<readonly AttemptRecord[]> {
  const ofDelivery = (records: readonly ConsumedRecord[]): AttemptRecord[] =>
    records.map(attemptIn).filter((attempt) => attempt.deliveryId === deliveryId);
  const watched = await stage.watch(stage.names.attempts);
  const isOver = (records: readonly ConsumedRecord[]): boolean =>
    ofDelivery(records).some((attempt) => attempt.outcome === outcome);
  return ofDelivery(await watched.waitFor(isOver, patientMs));
}

let stage: Stage;
before(async () => {
  stage = await startStage();
});
after(() => stage[Symbol.asyncDispose]());

async function publish(delivery: Delivery, topic = stage.names.deliveries): Promise<void> {
  await stage.publisher.publish(encodeDelivery(topic, delivery));
}

describe('a delivery', { concurrency: true }, () => {
  test('arrives with exactly the bytes of its record, signed', async () => {
    await using receiver = await startReceiver();
    const { webhooks } = destinationOf([`${receiver.url}/hook?b=2`]).settings;
    const destination = destinationOf([], { settings: { webhooks, sharedSecret: 'sësame' } });
    await configure(stage, destination);
    for (const body of [
      Buffer.from('{ "spaces" : [1,  2],\n"Previous ID": "Zoë 🚀" }'),
      Buffer.from([0x7b, 0x00, 0xff, 0xfe, 0x7d]),
    ]) {
      const delivery = newDelivery(destination.id, { body });
      await publish(delivery);
      const request = await receiver.find((candidate) => candidate.body.equals(body));
      assert.equal(request.path, '/hook?b=2');
      assert.ok(verifySignature('sësame', request.body, request.headers['x-signature']));
      const [attempt] = await attemptsOf(stage, delivery, 'delivered');
      assert.partialDeepStrictEqual(attempt, {
        eventId: delivery.eventId,
        destinationId: destination.id,
        attempt: 1,
        urls: [{ url: `${receiver.url}/hook`, status: 200 }],
      });
    }
    assert.equal(receiver.requests.length, 2);
  });

  test('that fails goes through the tiers of the schedule until it succeeds', async () => {
    await using receiver = await startReceiver({
      answer: answers.sequence(answers.status(503), answers.status(500), answers.status(200)),
    });
    const destination = destinationOf([receiver.url]);
    await configure(stage, destination);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const delivery = newDelivery(destination.id, { traceparent });
    await publish(delivery);

    const origin = await recordOf(stage, stage.names.deliveries, delivery);
    const first = await recordOf(stage, stage.names.retryTier(1_000), delivery);
    const second = await recordOf(stage, stage.names.retryTier(2_000), delivery);
    await receiver.waitFor(3, patientMs);
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
        },
      );
      const request = receiver.requests[attempt - 1];
      const dueAtMs = Date.parse(dueAt?.toString() ?? '');
      assert.ok(request && dueAtMs >= request.receivedAt + 0.8 * delayMs);
      assert.ok(dueAtMs <= record.timestamp + delayMs);
      assert.ok((receiver.requests[attempt]?.receivedAt ?? 0) >= dueAtMs);
      assert.deepEqual(firstAttemptAt, first.headers['first-attempt-at']);
    }
    const attempts = await attemptsOf(stage, delivery, 'delivered');
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

  test('is not sent again to a URL that refused it for good, but to one that was corrected', async () => {
    await using wrong = await startReceiver({ answer: () => answers.status(404) });
    await using failing = await startReceiver({ answer: () => answers.status(503) });
    await using right = await startReceiver();
    const destination = destinationOf([wrong.url, failing.url]);
    await configure(stage, destination);
    const delivery = newDelivery(destination.id);
    await publish(delivery);

    const retry = await recordOf(stage, stage.names.retryTier(1_000), delivery);
    const [closed] = targetsOf(destination);
    assert.equal(headerOf(retry, 'closed-urls'), closed?.fingerprint);
    assert.equal(headerOf(retry, 'reason'), 'server-error');
    await failing.waitFor(2, patientMs);
    await configure(stage, { ...destinationOf([right.url, failing.url]), id: destination.id });
    await right.waitFor(1, patientMs);
    await attemptsOf(stage, delivery, 'delivered');
    assert.equal(wrong.requests.length, 1);
    assert.equal(right.requests.length, 1);
  });

  test('that every URL refuses for good is a dead letter that says what they answered', async () => {
    await using wrong = await startReceiver({ answer: () => answers.status(410) });
    await using moved = await startReceiver({ answer: () => answers.redirect(301, wrong.url) });
    const destination = destinationOf([`${wrong.url}/?key=topsecret`, moved.url]);
    await configure(stage, destination);
    const delivery = newDelivery(destination.id);
    await publish(delivery);
    const letter = await deadLetterOf(stage, delivery);
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

  test('that comes from the replay lane is attempted too', async () => {
    await using receiver = await startReceiver();
    const destination = destinationOf([receiver.url]);
    await configure(stage, destination);
    await publish(newDelivery(destination.id), stage.names.deliveriesReplay);
    await receiver.waitFor(1);
  });

  test('is attempted when it is due, and not before', async () => {
    await using receiver = await startReceiver();
    const destination = destinationOf([receiver.url]);
    await configure(stage, destination);
    const startedAt = Date.now();
    const deliveries = [-5_000, 1_500, 1_600, 1_700, 1_800].map((delayMs) =>
      newDelivery(destination.id, { attempt: 1, firstAttemptAt: startedAt, dueAt: startedAt + delayMs }),
    );
    await Promise.all(deliveries.map((delivery) => publish(delivery, stage.names.retryTier(2_000))));
    await receiver.waitFor(deliveries.length);
    for (const { body, dueAt } of deliveries) {
      const request = receiver.requests.find((candidate) => candidate.body.equals(body));
      const latenessMs = (request?.receivedAt ?? NaN) - Math.max(dueAt ?? NaN, startedAt);
      assert.ok(latenessMs >= 0 && latenessMs < 5_000, `${latenessMs} ms late`);
    }
  });
});

describe('a delivery is a dead letter without a request', { concurrency: true }, () => {
  test('where its destination is disabled', async () => {
    await using receiver = await startReceiver();
    const destination = destinationOf([receiver.url], { enabled: false });
    await configure(stage, destination);
    const delivery = newDelivery(destination.id);
    await publish(delivery);
    const { reason, attempt, body } = await deadLetterOf(stage, delivery);
    assert.deepEqual({ reason, attempt }, { reason: 'destination-disabled', attempt: 0 });
    assert.deepEqual(body, delivery.body);
    assert.equal(receiver.connections.items.length, 0);
  });

  test('where its destination was deleted', async () => {
    const delivery = newDelivery('never-was');
    await publish(delivery);
    const { reason, body } = await deadLetterOf(stage, delivery);
    assert.equal(reason, 'destination-deleted');
    assert.deepEqual(body, delivery.body);
  });

  test('where all its URLs have refused it before', async () => {
    await using receiver = await startReceiver();
    const destination = destinationOf([receiver.url]);
    await configure(stage, destination);
    const closedUrls = targetsOf(destination).map(({ fingerprint }) => fingerprint);
    const delivery = newDelivery(destination.id, { attempt: 1, closedUrls });
    await publish(delivery);
    assert.equal((await deadLetterOf(stage, delivery)).reason, 'no-open-url');
    assert.equal(receiver.connections.items.length, 0);
  });

  test('where its retry window has passed while nobody delivered', async () => {
    await using receiver = await startReceiver();
    const destination = destinationOf([receiver.url]);
    await configure(stage, destination);
    const times = { firstAttemptAt: Date.now() - 61_000, dueAt: Date.now() - 5_000 };
    const delivery = newDelivery(destination.id, { attempt: 2, ...times });
    await publish(delivery, stage.names.retryTier(2_000));
    assert.equal((await deadLetterOf(stage, delivery)).reason, 'window-exceeded');
    assert.equal(receiver.connections.items.length, 0);
  });
});

test('the last failure of the schedule makes a dead letter', async () => {
  await using receiver = await startReceiver({ answer: () => answers.status(500) });
  const destination = destinationOf([receiver.url]);
  await configure(stage, destination);
  const times = { firstAttemptAt: Date.now() - 8_000, dueAt: Date.now() };
  const delivery = newDelivery(destination.id, { attempt: scheduleMs.length, ...times });
  await publish(delivery, stage.names.retryTier(2_000));
  const letter = await deadLetterOf(stage, delivery);
  assert.equal(letter.reason, 'attempts-exhausted');
  assert.equal(letter.attempt, 5);
  assert.equal(receiver.requests.length, 1);
});

test('a record that is no delivery is set aside as it is, and its partition goes on', async () => {
  await using receiver = await startReceiver();
  const destination = destinationOf([receiver.url]);
  await configure(stage, destination);
  const good = encodeDelivery(stage.names.deliveries, newDelivery(destination.id), 0);
  const malformed = [
    { ...good, headers: { 'x-mine': 'kept' }, value: 'no headers at all' },
    { ...good, headers: { ...good.headers, attempt: 'many', 'x-mine': 'kept' } },
    { ...good, headers: { ...good.headers, 'due-at': 'tomorrow', 'x-mine': 'kept' } },
    { ...good, headers: { ...good.headers, 'x-mine': 'kept' }, value: null },
    { ...good, headers: { 'x-mine': 'kept' }, key: null, value: Buffer.from([0xff, 0x00]) },
  ];
  await Promise.all([...malformed, good].map((record) => stage.publisher.publish(record)));
  await receiver.waitFor(1);

  const letters = await stage.watch(stage.names.deliveriesDead);
  const isOurs = (record: ConsumedRecord): boolean => headerOf(record, 'x-mine') === 'kept';
  const all = await letters.waitFor((records) => records.filter(isOurs).length >= malformed.length);
  const ours = all.filter(isOurs);
  assert.equal(ours.length, malformed.length);
  const bytesOf = (value: string | Buffer | null): Buffer | null =>
    value === null ? null : Buffer.from(value);
  for (const [index, record] of ours.entries()) {
    assert.equal(headerOf(record, 'reason'), 'malformed-record');
    assert.notEqual(headerOf(record, 'last-answer') ?? '', '');
    assert.deepEqual(record.value, bytesOf(malformed[index]?.value ?? null));
    assert.deepEqual(record.key, bytesOf(malformed[index]?.key ?? null));
  }
  assert.equal(receiver.requests.length, 1);
});

test('a change of the configuration holds for the delivery that comes right after it', async () => {
  await using receiver = await startReceiver();
  const letters = await stage.watch(stage.names.deliveriesDead);
  const rounds = 5;
  for (let round = 0; round < rounds; round += 1) {
    const [added, enabled] = [destinationOf([receiver.url]), destinationOf([receiver.url])];
    await configure(stage, { ...enabled, enabled: false });
    await configure(stage, added, enabled);
    await Promise.all([publish(newDelivery(added.id)), publish(newDelivery(enabled.id))]);
    await receiver.waitFor(2 * (round + 1));
    await letters.refresh();
    const ids = letters.items.map((record) => headerOf(record, 'destination-id'));
    assert.ok(!ids.includes(added.id) && !ids.includes(enabled.id));
  }
});

test('secrets are in no line of the log', async () => {
  await using receiver = await startReceiver({ answer: () => answers.status(400) });
  const { settings } = destinationOf([`${receiver.url}/hook?token=t0psecret`]);
  const destination = destinationOf([], { settings: { ...settings, sharedSecret: 'shhhh' } });
  await configure(stage, destination);
  const delivery = newDelivery(destination.id);
  await publish(delivery);
  const line = await stage.service.log.find(
    (line) => line.msg === 'attempt' && line['deliveryId'] === delivery.deliveryId,
  );
  assert.partialDeepStrictEqual(line, { destinationId: destination.id, outcome: 'dead', attempt: 1 });
  await deadLetterOf(stage, delivery);
  assert.doesNotMatch(JSON.stringify(stage.service.log.items), /t0psecret|shhhh/);
});

test('health and metrics tell what it does', async () => {
  await using receiver = await startReceiver();
  const destination = destinationOf([receiver.url]);
  await configure(stage, destination);
  await publish(newDelivery(destination.id));
  await receiver.waitFor(1);
  assert.equal((await fetch(`${stage.metricsUrl}/readyz`)).status, 200);
  const metrics = await (await fetch(`${stage.metricsUrl}/metrics`)).text();
  const counted = new RegExp(
    `^tailrace_delivery_attempts_total\\{.*destination_id="${destination.id}".*\\} 1$`,
    'm',
  );
  assert.match(metrics, counted);
  assert.doesNotMatch(metrics, /127\.0\.0\.1/);
});

describe('in the middle of deliveries and retries', { concurrency: true }, () => {
  /**
   * Three destinations, one of which answers slowly, one fails first, one times out at first; and sixty deliveries
   * to each. Resolves once some are in flight, some wait in a tier and some have not begun.
   */
  async function startWork(own: Stage) {
    const perDestination = 60;
    const seen = new Set<string>();
    const failFirst =
      (failure: answers.Answer, atMost = perDestination) =>
      (request: { readonly body: Buffer }, nth: number): answers.Answer => {
        const id = request.body.toString();
        if (seen.has(id) || nth > atMost) return answers.status(200);
        seen.add(id);
        return failure;
      };
    const opened = new AsyncDisposableStack();
    const slow = opened.use(await startReceiver({ answer: () => answers.delayed(400, answers.status(200)) }));
    const failing = opened.use(await startReceiver({ answer: failFirst(answers.status(503)) }));
    const hanging = opened.use(await startReceiver({ answer: failFirst(answers.never, 8) }));
    const receivers = [slow, failing, hanging];
    const destinations = receivers.map(({ url }) => destinationOf([url]));
    await configure(own, ...destinations);
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
      /** Resolves once every delivery has arrived, and asserts that no byte of them is wrong. */
      async settled(): Promise<void> {
        const attempts = await own.watch(own.names.attempts);
        const wanted = new Set(deliveries.flat().map(({ deliveryId }) => deliveryId));
        await attempts.waitFor((records) => {
          for (const attempt of records.slice(-1_000).map(attemptIn)) {
            if (attempt.outcome === 'delivered') wanted.delete(attempt.deliveryId);
          }
          return wanted.size === 0;
        }, 60_000);
        for (const [index, receiver] of receivers.entries()) {
          const sent = deliveries[index]?.map(({ body }) => body.toString()) ?? [];
          const arrived = new Set(receiver.requests.map(({ body }) => body.toString()));
          assert.deepEqual([...arrived].sort(), sent.sort());
        }
        const letters = await own.watch(own.names.deliveriesDead);
        await letters.refresh();
        assert.equal(letters.items.length, 0);
      },
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  }

  test('SIGTERM ends it cleanly: what is in flight is finished, nothing is lost, nothing is repeated', async () => {
    // An exchange that a busy machine lets run out of time is repeated, and would be counted here.
    await using own = await startStage({ timeout: '5s' });
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

  test('kill -9 loses nothing', async () => {
    await using own = await startStage();
    await using work = await startWork(own);
    await own.service.kill();
    await own.service.restart();
    await work.settled();
  });
});
