/** The delivery service when `deliveries` and its other topics have different numbers of partitions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyConfiguration, type Destination } from '@tailrace/config';
import { freePort } from '@tailrace/local';
import { deliveryKey, encodeDelivery, pauseTierMs, type Delivery, type TopicNames } from '@tailrace/topics';
import * as answers from '../support/receivers/answers.ts';
import { sharedBroker } from '../support/kafka/broker.ts';
import { eventually } from '@tailrace/testing';
import { openKafka } from '../support/kafka/kafka-client.ts';
import { startService, type Environment } from '../support/processes/process.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { createTopics, readAll, uniquePrefix } from '../support/kafka/topics.ts';

const { brokers } = await sharedBroker();
const tierMs = 1_000;

/** The retry topic of the schedule, and that of paused destinations. */
const tiersOf = (names: TopicNames): string[] => [names.retryTier(tierMs), names.retryTier(pauseTierMs)];

async function openStage() {
  await using opened = new AsyncDisposableStack();
  const kafka = opened.use(openKafka(brokers));
  const prefix = uniquePrefix();
  const names = await createTopics(kafka, prefix, { partitions: 2, retryScheduleMs: [tierMs] });
  const metricsPort = await freePort();
  const url = `http://127.0.0.1:${metricsPort}`;
  const all = opened.move();
  return {
    ...{ kafka, names },
    start: async (more: Environment = {}) =>
      all.use(
        await startService('delivery', {
          KAFKA_BROKERS: brokers.join(','),
          TAILRACE_TOPIC_PREFIX: prefix,
          TAILRACE_METRICS_PORT: String(metricsPort),
          TAILRACE_RETRY_SCHEDULE: '1s,1s,1s',
          TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
          ...more,
        }),
      ),
    readiness: async (): Promise<string> => {
      const response = await fetch(`${url}/readyz`).catch(() => undefined);
      return response ? `${response.status} ${await response.text()}` : 'none';
    },
    metric: async (line: RegExp): Promise<number> => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return Number(line.exec(text)?.[1] ?? NaN);
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

test('delivery does not start while partition counts differ, names the topics and the fix, and starts when they are equal', async () => {
  await using stage = await openStage();
  const { kafka, names } = stage;
  await kafka.addPartitions(names.deliveries, 4);
  const starting = stage.start();
  const reason = await eventually(stage.readiness, (answer) => answer.includes('equally many'));
  assert.match(reason, /^503 /);
  assert.ok(reason.includes(`${names.deliveries} (4 partitions)`), reason);
  assert.ok(reason.includes('npx tailrace topics apply --partitions 4 --only deliveries'), reason);
  for (const topic of [...tiersOf(names), names.deliveriesReplay]) await kafka.addPartitions(topic, 4);
  await eventually(stage.readiness, (answer) => answer.includes(`${names.deliveriesDead} (2 partitions)`));
  await kafka.addPartitions(names.deliveriesDead, 4);
  await starting;
  await eventually(stage.readiness, (answer) => answer.startsWith('200'));
});

test('delivery reports partitions added to deliveries alone, and loses no retry and no dead letter', async () => {
  await using stage = await openStage();
  const { kafka, names } = stage;
  await using healthy = await startReceiver();
  await using gone = await startReceiver({ answer: () => answers.status(410) });
  const seen = new Set<string>();
  await using failing = await startReceiver({
    answer({ body }) {
      const isFirst = !seen.has(body.toString());
      seen.add(body.toString());
      return answers.status(isFirst ? 503 : 200);
    },
  });
  const destinations = Object.entries({ healthy, gone, failing }).map(([id, { url }]): Destination => {
    return { id, type: 'Webhooks', enabled: true, sources: [], settings: { webhooks: [{ url }] } };
  });
  await applyConfiguration(kafka, names.config, { sources: [], destinations });
  await stage.start();
  await kafka.addPartitions(names.deliveries, 4);

  const publisher = kafka.publisher();
  const perDestination = 80;
  for (const { id } of destinations) {
    for (let nth = 0; nth < perDestination; nth++) {
      await publisher.publish(encodeDelivery(names.deliveries, deliveryOf(id, nth), nth % 4));
    }
  }
  const bodies = (requests: readonly { readonly body: Buffer }[]): Set<string> =>
    new Set(requests.map(({ body }) => body.toString()));
  await healthy.waitFor((requests) => bodies(requests).size === perDestination);
  await gone.waitFor((requests) => bodies(requests).size === perDestination);
  const isReported = (answer: string): boolean => answer.includes('"name":"partition-counts","ok":false');
  const reason = await eventually(stage.readiness, isReported);
  assert.match(reason, /^200 /);
  assert.ok(reason.includes('--partitions 4 --only deliveries'), reason);
  assert.equal(await stage.metric(/^tailrace_missing_partitions (\d+)$/m), 8);

  const dead = /^tailrace_dead_letters_total\{reason="client-error"\} (\d+)$/m;
  const counted = (await stage.metric(dead)) || 0;
  const written = (await readAll(kafka, names.deliveriesDead)).length;
  assert.ok(counted <= written && written <= perDestination / 2, `${counted} counted, ${written} written`);

  for (const topic of [names.deliveriesDead, ...tiersOf(names), names.deliveriesReplay])
    await kafka.addPartitions(topic, 4);
  await eventually(
    async () => (await readAll(kafka, names.deliveriesDead)).length,
    (count) => count === perDestination,
  );
  await eventually(
    () => stage.metric(dead),
    (count) => count === perDestination,
  );
  // Each delivery failed once, so each has two requests.
  await failing.waitFor((requests) => requests.length >= 2 * perDestination);
  assert.equal(bodies(failing.requests).size, perDestination);
  const isEqual = (answer: string): boolean => answer.includes('"name":"partition-counts","ok":true');
  await eventually(stage.readiness, isEqual);
});

test('a single replica uses the whole rate limit, for any value of TAILRACE_PARTITIONS', async () => {
  await using stage = await openStage();
  const { kafka, names } = stage;
  const times: number[] = [];
  await using receiver = await startReceiver({
    answer() {
      times.push(Date.now());
      return answers.status(200);
    },
  });
  const limited: Destination = {
    ...{ id: 'limited', type: 'Webhooks', enabled: true, sources: [], rateLimit: 10 },
    settings: { webhooks: [{ url: receiver.url }] },
  };
  await applyConfiguration(kafka, names.config, { sources: [], destinations: [limited] });
  // The topics have two partitions.
  await stage.start({ TAILRACE_PARTITIONS: '60' });
  const publisher = kafka.publisher();
  await Promise.all(
    Array.from({ length: 40 }, (_, nth) =>
      publisher.publish(encodeDelivery(names.deliveries, deliveryOf('limited', nth))),
    ),
  );
  await receiver.waitFor((requests) => requests.length === 40);
  const tookMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
  // With a thirtieth of the limit, this would take two minutes.
  assert.ok(tookMs > 2_500 && tookMs < 40_000, `${tookMs} ms for 40 at 10 a second`);
});

function deliveryOf(destinationId: string, nth: number): Delivery {
  const deliveryId = `${destinationId}-${nth}`;
  return {
    ...{ deliveryId, eventId: `e-${nth}`, sourceId: 'web', destinationId, type: 'track' },
    ...{ attempt: 0, step: 0, deferrals: 0, closedUrls: [], key: deliveryKey(destinationId, `u-${nth}`) },
    body: Buffer.from(JSON.stringify({ id: deliveryId })),
  };
}
