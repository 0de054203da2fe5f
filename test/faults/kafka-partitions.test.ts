/** One of three brokers ends or hangs: records of other partitions are written, and a failing partition delays no other. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { OutgoingRecord, Publisher } from '@tailrace/kafka';
import { ownCluster, type Cluster } from '../support/kafka/cluster.ts';
import { connectAdmin } from '../support/kafka/kafka-admin.ts';
import { eventually } from '@tailrace/testing';
import { joinGroup, openKafka, type TestKafka } from '../support/kafka/kafka-client.ts';
import { readAll, uniquePrefix } from '../support/kafka/topics.ts';

let cluster: Cluster;
let kafka: TestKafka;
const opened = new AsyncDisposableStack();

before(async () => {
  cluster = opened.use(await ownCluster());
  kafka = opened.use(openKafka(cluster.brokers));
});
after(() => opened.disposeAsync());

async function createTopic(replicas: number, partitions = 6): Promise<string> {
  const name = `${uniquePrefix()}topic`;
  const config = { 'min.insync.replicas': '2' };
  await kafka.ensureTopics([{ name, partitions, replicationFactor: replicas, config }]);
  return name;
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

test('partitions below min.insync.replicas wait, in order, while all others are written', async () => {
  const healthy = await createTopic(3);
  const mixed = await createTopic(2);
  await using admin = await connectAdmin(cluster.brokers);
  const publisher = kafka.publisher();
  await publishEach(publisher, healthy, [0]).all;
  await cluster.node(3).kill();
  const isShort = (isr: readonly number[]): boolean => isr.length < 2;
  const inSync = await eventually(
    () => admin.inSync(mixed),
    (all) => all.some(isShort) && !all.some((isr) => isr.includes(3)),
  );
  const numbers = inSync.map((_, partition) => partition);
  const short = numbers.filter((partition) => isShort(inSync[partition] ?? []));
  const whole = numbers.filter((partition) => !short.includes(partition));
  assert.ok(short.length > 0 && whole.length > 0);

  const first = publishEach(publisher, mixed, numbers);
  await eventually(
    () => [...first.acknowledged].sort(),
    (partitions) => String(partitions) === String(whole),
  );
  // Some partitions are now known to fail; records for other partitions do not wait for them.
  const tookMs: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const before = performance.now();
    const behind = publishEach(publisher, mixed, whole);
    await Promise.all([publishEach(publisher, healthy, numbers).all, behind.all]);
    tookMs.push(performance.now() - before);
  }
  // Not the longest: a busy machine may stall for seconds.
  const median = tookMs.sort((one, other) => one - other)[10] ?? NaN;
  assert.ok(median < 5_000, `${median} ms`);
  const second = publishEach(publisher, mixed, short);
  assert.deepEqual([first.acknowledged.size, second.acknowledged.size], [whole.length, 0]);

  await cluster.node(3).restart();
  await Promise.all([first.all, second.all]);
  const read = await readAll(kafka, mixed);
  // Kafka wrote nothing of the requests it refused for too few replicas, so each record exists once.
  assert.equal(read.length, whole.length * 21 + short.length * 2);
});

test('all records are written and read after a broker hung for half a minute, and every error has a code', async () => {
  const topic = await createTopic(3);
  const publisher = kafka.publisher();
  await using member = await joinGroup(kafka, {
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
  const timer = setInterval(publishSome, 100);
  try {
    await cluster.node(2).freeze();
    // Each of the requests made meanwhile succeeds or fails with kafka-unavailable.
    const until = performance.now() + 30_000;
    while (performance.now() < until) {
      await kafka.offsetsAt(topic, 0).catch((error: unknown) => {
        assert.equal((error as { code?: string }).code, 'kafka-unavailable', String(error));
      });
      await kafka.ping({ timeoutMs: 1_000 }).catch(() => undefined);
    }
    cluster.node(2).thaw();
  } finally {
    clearInterval(timer);
  }
  await Promise.all(published);
  const values = (): Set<string> => new Set(member.records.items.map(({ value }) => String(value)));
  await eventually(
    () => values().size,
    (size) => size === next,
  );
  for (const user of [0, 1, 2, 3, 4]) {
    const read = (await readAll(kafka, topic)).filter(({ key }) => String(key) === `user-${user}`);
    const firsts = [...new Set(read.map(({ value }) => Number(value)))];
    assert.deepEqual(
      firsts,
      [...firsts].sort((a, b) => a - b),
    );
  }
});
