/** `/readyz` of each service, on a broker of its own that hangs, and before the topics exist. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '@tailrace/local';
import { topicNames, topicSpecs } from '@tailrace/topics';
import { ownCluster } from '../support/kafka/cluster.ts';
import { sharedBroker } from '../support/kafka/broker.ts';
import { eventually } from '@tailrace/testing';
import { openKafka } from '../support/kafka/kafka-client.ts';
import { createTopics, uniquePrefix } from '../support/kafka/topics.ts';
import { startService, type Environment, type ServiceProcess } from '../support/processes/process.ts';

const serviceNames = ['ingest', 'router', 'delivery', 'control'] as const;
const retrySchedule = { TAILRACE_RETRY_SCHEDULE: '1s', TAILRACE_PARTITIONS: '2' };
const answersWithinMs = 500;
/** Longer than a check takes to fail, and than a group member takes to notice that brokers do not answer. */
const hangsForMs = 15_000;

interface Probed {
  readonly name: string;
  readonly start: Promise<ServiceProcess>;
  readonly readyz: () => Promise<{ status: number; text: string; tookMs: number }>;
  readonly metric: (line: RegExp) => Promise<string | undefined>;
}

async function startProbed(name: string, env: Environment): Promise<Probed> {
  const metricsPort = await freePort();
  const url = `http://127.0.0.1:${metricsPort}`;
  const start = startService(name, {
    ...retrySchedule,
    TAILRACE_METRICS_PORT: String(metricsPort),
    TAILRACE_INGEST_PORT: '0',
    TAILRACE_CONTROL_PORT: '0',
    TAILRACE_API_TOKEN: 'a-token-of-the-test',
    ...env,
  });
  // It may fail before it is awaited.
  start.catch(() => undefined);
  return {
    name,
    start,
    async readyz() {
      const askedAt = performance.now();
      const response = await fetch(`${url}/readyz`);
      const text = await response.text();
      return { status: response.status, text, tookMs: performance.now() - askedAt };
    },
    async metric(line) {
      return line.exec(await (await fetch(`${url}/metrics`)).text())?.[1];
    },
  };
}

test('while the broker hangs every service stays ready, its probe answers within 500 ms, and a metric shows it', async () => {
  await using cluster = await ownCluster({ size: 1 });
  await using opened = new AsyncDisposableStack();
  const prefix = uniquePrefix();
  const env = { KAFKA_BROKERS: cluster.brokers.join(','), TAILRACE_TOPIC_PREFIX: prefix };
  const kafka = opened.use(openKafka(cluster.brokers));
  await createTopics(kafka, prefix, { partitions: 2, retryScheduleMs: [1_000] });
  const services = await Promise.all(serviceNames.map((name) => startProbed(name, env)));
  for (const { start } of services) opened.use(await start);
  const brokerCheck = /^tailrace_check_ok\{check="kafka"\} (\d)$/m;
  for (const service of services) {
    assert.equal((await service.readyz()).status, 200);
    await eventually(
      () => service.metric(brokerCheck),
      (ok) => ok === '1',
    );
  }

  await cluster.node(1).freeze();
  const until = performance.now() + hangsForMs;
  const times = new Map<string, number[]>(serviceNames.map((name) => [name, []]));
  while (performance.now() < until) {
    for (const { name, readyz } of services) {
      const { status, text, tookMs } = await readyz();
      assert.equal(status, 200, `${name}: ${text}`);
      times.get(name)?.push(tookMs);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  // A busy machine can hold a process for a moment. An answer that waits for Kafka is always late.
  for (const [name, took] of times) {
    const late = took.filter((tookMs) => tookMs >= answersWithinMs);
    assert.ok(
      late.length <= took.length / 2,
      `of ${took.length} answers of ${name} these were late: ${late.join()} ms`,
    );
  }
  for (const { name, metric, readyz } of services) {
    await eventually(
      () => metric(brokerCheck),
      (ok) => ok === '0',
    );
    assert.match((await readyz()).text, /"name":"kafka","ok":false,"reason":"/, name);
    assert.equal(await metric(/^tailrace_ready (\d)$/m), '1', name);
  }

  cluster.node(1).thaw();
  for (const service of services) {
    await eventually(
      () => service.metric(brokerCheck),
      (ok) => ok === '1',
    );
  }
});

test('a missing topic is named on /readyz and once in the log, and the service starts when the topic exists', async () => {
  await using opened = new AsyncDisposableStack();
  const { brokers } = await sharedBroker();
  const kafka = opened.use(openKafka(brokers));
  const prefix = uniquePrefix();
  const names = topicNames(prefix);
  const specs = topicSpecs(names, { partitions: 2, retryScheduleMs: [1_000] });
  const needed: Readonly<Record<(typeof serviceNames)[number], string>> = {
    ingest: names.events,
    router: names.eventsWaiting,
    delivery: names.retryTier(1_000),
    control: names.deletions,
  };
  const missing = Object.values(needed);
  await kafka.ensureTopics(specs.filter(({ name }) => !missing.includes(name)));
  const env = { KAFKA_BROKERS: brokers.join(','), TAILRACE_TOPIC_PREFIX: prefix };
  const services = await Promise.all(serviceNames.map((name) => startProbed(name, env)));
  for (const { start } of services) {
    opened.defer(async () => (await start.catch(() => undefined))?.[Symbol.asyncDispose]());
  }

  for (const { name, readyz } of services) {
    const topic = needed[name as keyof typeof needed];
    const answer = await eventually(
      () => readyz().catch(() => undefined),
      (found) => found !== undefined && found.text.includes(topic) && found.tookMs < answersWithinMs,
    );
    assert.equal(answer?.status, 503);
  }
  // Each service repeats its attempt meanwhile.
  const until = performance.now() + 5_000;
  await eventually(
    () => Promise.resolve(performance.now()),
    (now) => now > until,
  );

  await kafka.ensureTopics(specs);
  for (const { name, start, readyz } of services) {
    const { log } = await start;
    assert.equal((await readyz()).status, 200);
    const topic = needed[name as keyof typeof needed];
    const lines = log.items.filter((line) => JSON.stringify(line).includes(topic));
    const warnings = lines.filter(({ level }) => level !== 'info' && level !== undefined);
    assert.equal(warnings.length, 1, `${name}: ${JSON.stringify(lines)}`);
  }
});
