/** Tails: topics from stored offsets, at the caller's pace. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TailOptions } from '@tailrace/kafka';
import { sharedBroker } from '../support/kafka/broker.ts';
import { collect } from '@tailrace/testing';
import { openKafka, type TestKafka } from '../support/kafka/kafka-client.ts';

async function publish(kafka: TestKafka, topic: string, values: readonly string[]): Promise<void> {
  const publisher = kafka.publisher();
  await Promise.all(values.map((value) => publisher.publish({ topic, key: value, value })));
  await publisher.close();
}

test('a tail begins at the given offset of each topic, follows live, and knows when it is at the end', async () => {
  const { brokers } = await sharedBroker();
  await using kafka = openKafka(brokers);
  const [one, other] = [await kafka.createTopic(), await kafka.createTopic()];
  await publish(kafka, one, ['a', 'b', 'c']);
  await publish(kafka, other, ['x']);
  const read = collect<string>('what was read', (value) => value);
  const tail = await kafka.tail({
    topics: [one, other],
    startOf: (topic) => (topic === one ? 2 : undefined),
    onRecords: (parts) => {
      for (const { value } of parts.flatMap(({ records }) => records)) read.add(String(value));
      return Promise.resolve();
    },
  });
  await tail.refresh();
  assert.deepEqual([...read.items].sort(), ['c', 'x']);
  assert.equal(tail.behind, 0);
  await publish(kafka, other, ['y']);
  await read.find((value) => value === 'y');
  await tail.close();
});

test('a tail delivers one fetch at a time, and treats an offset beyond the end as that of a former topic', async () => {
  const { brokers } = await sharedBroker();
  await using kafka = openKafka(brokers);
  const topic = await kafka.createTopic({ partitions: 3 });
  await publish(
    kafka,
    topic,
    Array.from({ length: 300 }, (_, n) => `v-${n}`),
  );
  let taking = 0;
  const positions = new Map<number, number>();
  const onRecords: TailOptions['onRecords'] = async (parts) => {
    assert.equal(taking, 0);
    taking += 1;
    for (const { records, position } of parts) {
      assert.equal(records[0]?.offset, positions.get(position.partition) ?? 0);
      positions.set(position.partition, position.next);
    }
    await new Promise((resolve) => setImmediate(resolve));
    taking -= 1;
  };
  const tail = await kafka.tail({ topics: [topic], startOf: () => 1_000, onRecords });
  await tail.refresh();
  assert.equal(
    [...positions.values()].reduce((sum, next) => sum + next, 0),
    300,
  );
  await tail.close();
});
