/**
 * A cluster of three brokers. `topics apply` and `doctor` manage the number of copies. One broker is killed, and one hangs:
 * a failing partition delays no other, and no record is lost.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, test } from 'node:test';
import { isTailraceError } from '@tailrace/errors';
import { connectKafka, type OutgoingRecord, type Publisher } from '@tailrace/kafka';
import { eventually } from '@tailrace/testing';
import { ownCluster } from '../support/kafka/cluster.ts';
import { connectAdmin } from '../support/kafka/kafka-admin.ts';
import { joinGroup, openKafka } from '../support/kafka/kafka-client.ts';
import { readAll, uniquePrefix } from '../support/kafka/topics.ts';
import { tailrace, type Run } from '../support/processes/cli.ts';
import { steadily } from '../support/steadily.ts';

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const cluster = opened.use(await ownCluster());
const kafka = opened.use(openKafka(cluster.brokers));

type Environment = Readonly<Record<string, string>> & { readonly TAILRACE_TOPIC_PREFIX: string };

function environment(more: Readonly<Record<string, string>> = {}): Environment {
  return {
    KAFKA_BROKERS: cluster.brokers.join(','),
    TAILRACE_TOPIC_PREFIX: uniquePrefix(),
    TAILRACE_PARTITIONS: '2',
    TAILRACE_RETRY_SCHEDULE: '1s',
    TAILRACE_SECRET_KEY: '0123456789abcdef'.repeat(4),
    ...more,
  };
}

function apply(env: Environment, ...args: string[]): Promise<Run> {
  return tailrace(['topics', 'apply', ...args], env);
}

interface Finding {
  readonly level: string;
  readonly about: string;
  readonly says: string;
  readonly hint?: string;
}

async function durability(env: Environment): Promise<Finding[]> {
  const { stdout } = await tailrace(['doctor', '--output', 'json'], env);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return findings.filter(({ about }) => about === 'durability');
}

async function createTopic(replicas: number, partitions = 6): Promise<string> {
  const name = `${uniquePrefix()}topic`;
  const config = { 'min.insync.replicas': '2' };
  await kafka.ensureTopics([{ name, partitions, replicationFactor: replicas, config }]);
  return name;
}

/** Resolves when `holds` for the brokers in sync of each partition. */
function inSync(topic: string, holds: (ids: readonly number[]) => boolean): Promise<number[][]> {
  return eventually(
    // A client that has met a broker that hangs may not recover from it for minutes.
    async () => {
      await using admin = await connectAdmin([cluster.node(1).address]);
      return await admin.inSync(topic).catch(() => []);
    },
    (partitions) => partitions.length > 0 && partitions.every(holds),
  );
}

/** Publishes a record to each partition; `acknowledged` holds the partitions that Kafka has acknowledged. */
function publishEach(publisher: Publisher, topic: string, partitions: readonly number[]) {
  const acknowledged = new Set<number>();
  const all = partitions.map(async (partition) => {
    const record: OutgoingRecord = { topic, partition, key: 'k', value: `${topic} ${partition}` };
    await publisher.publish(record);
    acknowledged.add(partition);
  });
  return { acknowledged, all: Promise.all(all) };
}

test('topics apply creates topics with three copies, two of them in sync, on three brokers', async () => {
  const { brokers } = await kafka.inspectCluster();
  assert.deepEqual(brokers.map(({ id }) => id).sort(), [1, 2, 3]);
  const env = environment();
  const { exitCode, stderr } = await apply(env);
  assert.deepEqual([exitCode, stderr], [0, '']);
  const topics = (await kafka.listTopics()).filter((name) => name.startsWith(env.TAILRACE_TOPIC_PREFIX));
  assert.equal(topics.length, 22);
  for (const [name, copies] of await kafka.inspectDurability(topics)) {
    assert.deepEqual(copies, { replicationFactor: 3, minInSync: 2 }, name);
  }
  assert.equal((await apply(env, '--strict')).exitCode, 0);
  // Reading creates Kafka's topic of offsets, for which the default of the brokers is 1.
  await readAll(kafka, `${env.TAILRACE_TOPIC_PREFIX}config`);
  const findings = await durability(env);
  assert.deepEqual(
    findings.map(({ level, says }) => `${level} ${says.slice(0, 22)}`),
    ['warn min.insync.replicas of'],
  );
});

test('topics apply does not change existing topics and shows the commands, and doctor reports a failure', async () => {
  const env = environment({ TAILRACE_REPLICATION: '1' });
  assert.equal((await apply(env)).exitCode, 0);
  const [single] = await durability({ ...env, TAILRACE_REPLICATION: '3' });
  assert.equal(single?.level, 'fail');
  assert.match(single.says, /only one copy, on the disk of one broker.*\.events, /);
  assert.match(single.hint ?? '', /Use 3 copies of each.*kafka-reassign-partitions\.sh/);

  const { stdout } = await apply({ ...env, TAILRACE_REPLICATION: '3' });
  const events = `${env.TAILRACE_TOPIC_PREFIX}events`;
  assert.match(
    stdout,
    new RegExp(`differs  ${events}\n +it has 1 replica and should have 3: add them with kafka-reassign`),
  );
  assert.ok(stdout.includes(`--entity-name ${events} --add-config min.insync.replicas=2`), stdout);
  assert.deepEqual((await kafka.inspectDurability([events])).get(events), {
    replicationFactor: 1,
    minInSync: 1,
  });
});

test('doctor fails if one broker may have the only copy of acknowledged records, and warns if all brokers must be up', async () => {
  const env = environment();
  const topic = { partitions: 2, replicationFactor: 3 };
  const name = (rest: string): string => `${env.TAILRACE_TOPIC_PREFIX}${rest}`;
  await kafka.ensureTopics([
    { ...topic, name: name('events'), config: { 'min.insync.replicas': '1' } },
    { ...topic, name: name('usage'), config: { 'min.insync.replicas': '3' } },
  ]);
  await apply(env);
  const findings = await durability(env);
  const [fail] = findings.filter(({ level }) => level === 'fail');
  assert.ok(fail);
  assert.ok(fail.says.endsWith(`may have only one copy, on one disk: ${name('events')}.`), fail.says);
  assert.match(fail.hint ?? '', /--add-config min\.insync\.replicas=2/);
  assert.ok(
    findings.some(
      ({ level, says }) =>
        level === 'warn' && says.endsWith(`writes fail if one broker is down: ${name('usage')}.`),
    ),
  );
});

test('topics apply refuses more copies than brokers with one error', async () => {
  const { exitCode, stderr } = await apply(environment({ TAILRACE_REPLICATION: '5' }));
  assert.equal(exitCode, 1);
  assert.match(stderr, /would have 5 replicas, but there are fewer brokers\..*TAILRACE_REPLICATION/);
});

test('14.3 while a broker is down, partitions below min.insync.replicas wait, in order, and all others are written', async (t) => {
  const env = environment();
  await apply(env);
  const healthy = await createTopic(3);
  const mixed = await createTopic(2);
  const publisher = kafka.publisher();
  await publishEach(publisher, healthy, [0]).all;
  const killed = cluster.node(3);
  const { pid } = killed;
  await killed.kill();
  assert.equal(killed.pid, undefined);
  assert.equal(existsSync(`/proc/${pid ?? 0}`), false);
  await inSync(healthy, (ids) => !ids.includes(3));
  const partitions = await inSync(mixed, (ids) => !ids.includes(3));
  const numbers = partitions.map((_, partition) => partition);
  const short = numbers.filter((partition) => (partitions[partition] ?? []).length < 2);
  const whole = numbers.filter((partition) => !short.includes(partition));
  assert.ok(short.length > 0 && whole.length > 0);

  const first = publishEach(publisher, mixed, numbers);
  await eventually(
    () => [...first.acknowledged].sort(),
    (acknowledged) => String(acknowledged) === String(whole),
  );
  // Some partitions are now known to fail; records for other partitions do not wait for them.
  const rounds = 5;
  for (let round = 0; round < rounds; round += 1) {
    const behind = publishEach(publisher, mixed, whole);
    await Promise.all([publishEach(publisher, healthy, numbers).all, behind.all]);
  }
  const second = publishEach(publisher, mixed, short);
  assert.equal((await readAll(kafka, healthy)).length, 1 + rounds * numbers.length);

  await t.test('a retry topic that is created meanwhile has as many copies as the other topics', async () => {
    // Until the cluster has noticed, a request may be sent to the broker that is down.
    const { exitCode, stdout } = await apply({ ...env, TAILRACE_RETRY_SCHEDULE: '1s,2s' });
    assert.equal(exitCode, 0, stdout);
    const tier = `${env.TAILRACE_TOPIC_PREFIX}deliveries.retry.2s`;
    const copies = (await kafka.inspectDurability([tier])).get(tier);
    assert.deepEqual(copies, { replicationFactor: 3, minInSync: 2 });
  });

  assert.deepEqual([first.acknowledged.size, second.acknowledged.size], [whole.length, 0]);
  await killed.restart();
  await Promise.all([first.all, second.all]);
  const read = Map.groupBy(await readAll(kafka, mixed), ({ partition }) => partition);
  for (const partition of whole) assert.equal(read.get(partition)?.length, 1 + rounds);
  // Where an answer is lost while the broker returns, a record is written again.
  for (const partition of short) assert.ok((read.get(partition)?.length ?? 0) >= 2);
  await inSync(healthy, (ids) => ids.length === 3);
});

test('all records are written and read after a broker has hung, and every error meanwhile has a code', async () => {
  let timeouts = 0;
  const silent = (): void => undefined;
  const watched = connectKafka(
    { brokers: cluster.brokers, clientId: 'tailrace-hung' },
    { debug: silent, info: silent, warn: silent, error: silent },
    {
      onRequest(_api, outcome) {
        if (outcome === 'timeout') timeouts += 1;
      },
    },
  );
  opened.defer(() => watched.close());
  const topic = await createTopic(3);
  const publisher = watched.publisher();
  await using member = await joinGroup(watched, {
    groupId: `${topic}.group`,
    topics: [topic],
    onRecord: (record) => {
      record.done();
    },
  });
  const published: Promise<void>[] = [];
  let next = 0;
  const publishSome = (): void => {
    for (let nth = 0; nth < 5; nth += 1) {
      published.push(publisher.publish({ topic, key: `user-${nth}`, value: String(next++) }));
    }
  };
  publishSome();
  await Promise.all(published);
  {
    using traffic = new DisposableStack();
    traffic.use(steadily(100, publishSome));
    await cluster.node(2).freeze();
    await inSync(topic, (ids) => !ids.includes(2));
    await eventually(async () => {
      const requests = [watched.offsetsAt(topic, 0), watched.ping({ timeoutMs: 1_000 })];
      for (const result of await Promise.allSettled(requests)) {
        if (result.status === 'fulfilled') continue;
        assert.ok(isTailraceError(result.reason, 'kafka-unavailable'), String(result.reason));
      }
      return timeouts;
    });
    cluster.node(2).thaw();
  }
  await inSync(topic, (ids) => ids.length === 3);
  await Promise.all(published);
  await eventually(
    () => new Set(member.records.items.map(({ value }) => String(value))).size,
    (size) => size === next,
  );
  const all = await readAll(kafka, topic);
  for (const user of [0, 1, 2, 3, 4]) {
    const read = all.filter(({ key }) => String(key) === `user-${user}`);
    const firsts = [...new Set(read.map(({ value }) => Number(value)))];
    assert.deepEqual(
      firsts,
      firsts.toSorted((a, b) => a - b),
    );
  }
});
