/** `/readyz` of each service, on a broker of its own that hangs, and before the topics exist. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { probesUrlOf, type LogLine, type ServiceHere } from '@tailrace/service/testing';
import { collect, eventually, type Collected } from '@tailrace/testing';
import { topicNames, topicSpecs } from '@tailrace/topology';
import { sharedBroker } from '../support/kafka/broker.ts';
import { ownCluster } from '../support/kafka/cluster.ts';
import { openKafka } from '../support/kafka/kafka-client.ts';
import { startKafkaProxy } from '../support/kafka/kafka-proxy.ts';
import { uniquePrefix } from '../support/kafka/topics.ts';
import { startServiceHere, type ServiceName } from '../support/processes/here.ts';
import type { Environment } from '../support/processes/process.ts';
import { closedPort } from '../support/receivers/closed-port.ts';

const serviceNames = ['ingest', 'router', 'delivery', 'control'] as const satisfies ServiceName[];
const topicOptions = { partitions: 2, retryScheduleMs: [1_000] };

/** A service whose probes are asked while it starts and later. */
class Probed {
  readonly name: ServiceName;
  /** Resolves when it is ready. */
  readonly start: Promise<ServiceHere>;
  readonly log: Collected<LogLine>;
  readonly #host: string;

  constructor(name: ServiceName, env: Environment, cluster?: MemoryCluster) {
    this.name = name;
    this.#host = env['TAILRACE_HOST'] ?? '127.0.0.1';
    this.log = collect(`the log of ${name}`, (line) => JSON.stringify(line));
    const settings = {
      TAILRACE_RETRY_SCHEDULE: '1s',
      TAILRACE_PARTITIONS: '2',
      TAILRACE_INGEST_PORT: '0',
      TAILRACE_CONTROL_PORT: '0',
      TAILRACE_API_TOKEN: 'a-token-of-the-test',
      ...env,
    };
    this.start = startServiceHere(name, settings, { cluster, onLine: this.log.add });
    // It may fail before it is awaited.
    this.start.catch(() => undefined);
  }

  async readyz(): Promise<{ readonly status: number; readonly text: string }> {
    const response = await this.#get('/readyz');
    return { status: response.status, text: await response.text() };
  }

  async metric(line: RegExp): Promise<string | undefined> {
    return line.exec(await (await this.#get('/metrics')).text())?.[1];
  }

  async #get(page: string): Promise<Response> {
    await this.log.find(({ msg }) => msg === 'starting');
    return fetch(`${probesUrlOf(this).replace('127.0.0.1', this.#host)}${page}`);
  }
}

async function temporaryFolder(opened: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-readiness-'));
  opened.defer(() => rm(folder, { recursive: true }));
  return folder;
}

test('while the broker hangs every service stays ready, its probes answer, and a metric shows it', async () => {
  await using cluster = await ownCluster({ size: 1 });
  await using opened = new AsyncDisposableStack();
  const prefix = uniquePrefix();
  const env = {
    KAFKA_BROKERS: cluster.brokers.join(','),
    TAILRACE_TOPIC_PREFIX: prefix,
    TAILRACE_DATA_DIR: await temporaryFolder(opened),
  };
  const kafka = opened.use(openKafka(cluster.brokers));
  await kafka.ensureTopics(topicSpecs(topicNames(prefix), topicOptions));
  const services = serviceNames.map((name) => new Probed(name, env));
  for (const { start } of services) opened.use(await start);
  const brokerCheck = /^tailrace_check_ok\{check="kafka"\} (\d)$/m;
  const shows = (wanted: string): Promise<unknown> =>
    Promise.all(
      services.map((service) =>
        eventually(
          () => service.metric(brokerCheck),
          (ok) => ok === wanted,
        ),
      ),
    );
  for (const service of services) assert.equal((await service.readyz()).status, 200);
  await shows('1');

  await cluster.node(1).freeze();
  // An answer that waited for the broker would not come.
  await shows('0');
  for (const service of services) {
    const { status, text } = await service.readyz();
    assert.equal(status, 200, `${service.name}: ${text}`);
    assert.match(text, /"name":"kafka","ok":false,"reason":"/, service.name);
    assert.equal(await service.metric(/^tailrace_ready (\d)$/m), '1', service.name);
  }

  cluster.node(1).thaw();
  await shows('1');
});

test('an ingest that alone cannot reach Kafka is not ready, until no other reaches it either', async () => {
  await using opened = new AsyncDisposableStack();
  const { brokers } = await sharedBroker();
  const prefix = uniquePrefix();
  const kafka = opened.use(openKafka(brokers));
  await kafka.ensureTopics(topicSpecs(topicNames(prefix), topicOptions));
  const port = await closedPort();
  const open = async (own: string, other: string) => {
    const proxy = opened.use(await startKafkaProxy(brokers[0] ?? ''));
    const service = new Probed('ingest', {
      KAFKA_BROKERS: proxy.brokers.join(','),
      TAILRACE_TOPIC_PREFIX: prefix,
      TAILRACE_HOST: own,
      TAILRACE_METRICS_PORT: String(port),
      TAILRACE_PEERS: other,
    });
    opened.use(await service.start);
    const becomes = (wanted: number) =>
      eventually(
        () => service.readyz(),
        ({ status }) => status === wanted,
      );
    return { proxy, becomes };
  };
  const [one, two] = ['127.0.0.1', '127.0.0.2'];
  const [first, second] = [await open(one, two), await open(two, one)];
  first.proxy.stop();
  const { text } = await first.becomes(503);
  assert.match(text, /"reason":"the check kafka fails in this replica and passes in another one"/);
  await second.becomes(200);

  second.proxy.stop();
  await first.becomes(200);
  first.proxy.start();
  await second.becomes(503);
  second.proxy.start();
  await second.becomes(200);
});

test('a missing topic is named on /readyz and once in the log, and the service starts when the topic exists', async () => {
  await using opened = new AsyncDisposableStack();
  const cluster = new MemoryCluster();
  const kafka = opened.use(cluster.connect());
  const names = topicNames('tailrace.');
  const specs = topicSpecs(names, topicOptions);
  const needed: Readonly<Record<(typeof serviceNames)[number], string>> = {
    ingest: names.events,
    router: names.eventsWaiting,
    delivery: names.retryTier(1_000),
    control: names.deletions,
  };
  const missing = Object.values(needed);
  await kafka.ensureTopics(specs.filter(({ name }) => !missing.includes(name)));
  const env = { TAILRACE_DATA_DIR: await temporaryFolder(opened) };
  const services = serviceNames.map((name) => new Probed(name, env, cluster));
  for (const { start } of services) {
    opened.defer(async () => (await start.catch(() => undefined))?.stop());
  }
  // The log has the warning after the first attempt; a second one is what makes the service ready below.
  for (const service of services) {
    const topic = needed[service.name];
    const { status } = await eventually(
      () => service.readyz(),
      ({ text }) => text.includes(topic),
    );
    assert.equal(status, 503);
  }

  await kafka.ensureTopics(specs);
  for (const { name, start, log } of services) {
    await start;
    const topic = needed[name];
    const lines = log.items.filter((line) => JSON.stringify(line).includes(topic));
    const warnings = lines.filter((line) => line['level'] === 'warn');
    assert.equal(warnings.length, 1, `${name}: ${JSON.stringify(lines)}`);
  }
  for (const service of services) assert.equal((await service.readyz()).status, 200);
});
