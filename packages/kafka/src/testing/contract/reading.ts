import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ConsumedRecord } from '../../record.ts';
import type { Scan } from '../../read/scan.ts';
import type { TailOptions } from '../../read/tail.ts';
import { eventually } from '@tailrace/testing';
import { connect, numbers, texts, type ContractCluster } from './cluster.ts';

async function all(scan: Scan): Promise<string[]> {
  const records: ConsumedRecord[] = [];
  for await (const together of scan) records.push(...together);
  return texts(records);
}

export function testReading(cluster: () => ContractCluster): void {
  describe('a scan', () => {
    test('reads a topic once, to the end that it has when the scan begins', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic({ partitions: 2 });
      await kafka.write(topic, numbers(50, 'a'), 0);
      await kafka.write(topic, numbers(50, 'b'), 1);
      const scan = await kafka.scan({ topic });
      await kafka.write(topic, ['later'], 0);
      const read = await all(scan);
      assert.deepEqual(
        read.filter((value) => value.startsWith('a')),
        numbers(50, 'a'),
      );
      assert.deepEqual(
        read.filter((value) => value.startsWith('b')),
        numbers(50, 'b'),
      );
      assert.equal(read.length, 100);
      assert.deepEqual(
        [scan.progress, scan.ends],
        [
          { read: 100, total: 100 },
          new Map([
            [0, 50],
            [1, 50],
          ]),
        ],
      );
      assert.deepEqual(await all(scan), []);
    });

    test('begins and ends at given offsets, or begins at a time', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic({ partitions: 2 });
      await kafka.write(topic, numbers(5), 0);
      await kafka.write(topic, numbers(5), 1);
      assert.deepEqual(
        await all(await kafka.scan({ topic, starts: new Map([[1, 2]]), ends: new Map([[1, 4]]) })),
        ['2', '3'],
      );
      const since = Date.now() + 1;
      await eventually(() => Date.now() > since);
      assert.deepEqual(await all(await kafka.scan({ topic, since })), []);
      await kafka.write(topic, ['new'], 0);
      assert.deepEqual(await all(await kafka.scan({ topic, since })), ['new']);
      assert.deepEqual(
        await kafka.offsetsAt(topic, since),
        new Map([
          [0, 5],
          [1, 5],
        ]),
      );
      const ends = new Map([
        [0, 6],
        [1, 5],
      ]);
      assert.deepEqual(await kafka.ends(topic), ends);
    });

    test('of an empty, emptied or missing topic', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      assert.deepEqual(await all(await kafka.scan({ topic })), []);
      await kafka.write(topic, ['expired']);
      await cluster().expire(topic, 0, 1);
      assert.deepEqual(await all(await kafka.scan({ topic })), []);
      const missing = cluster().newName();
      await assert.rejects(kafka.scan({ topic: missing }), { code: 'topic-missing' });
      await assert.rejects(kafka.ends(missing), { code: 'topic-missing' });
    });

    test('passes over aborted records and batches that cannot be read', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      await kafka.write(topic, ['a']);
      await cluster().writeUnreadable(topic);
      await kafka.write(topic, ['b']);
      await cluster().writeAborted(topic, ['aborted']);
      assert.deepEqual(await all(await kafka.scan({ topic })), ['a', 'b']);
      assert.equal(kafka.unreadable.length, 1);
    });

    test('holds about a megabyte, however slowly it is read, and passes on few records at a time where it is gentle', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      const values = Array.from({ length: 4_000 }, () => randomBytes(500).toString('hex'));
      for (let first = 0; first < values.length; first += 250)
        await kafka.write(topic, values.slice(first, first + 250));
      const scan = await kafka.scan({ topic, isGentle: true });
      const read: string[] = [];
      for await (const records of scan) {
        read.push(...texts(records));
        assert.ok(records.length <= 32);
        for (let nth = 0; nth < 10; nth += 1) await turn();
        const ahead = scan.progress.read - read.length;
        assert.ok(ahead <= 2_000, `${ahead} KB`);
      }
      assert.deepEqual(read, values);
    });

    test('ends when its loop is left', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      await kafka.write(topic, numbers(3));
      const scan = await kafka.scan({ topic });
      for await (const records of scan) if (records.length > 0) break;
      assert.deepEqual(await all(scan), []);
    });
  });

  describe('a follower', () => {
    test('has read a topic to its end before it is there, then follows it live', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic({
        partitions: 2,
        config: { 'cleanup.policy': 'compact,delete' },
      });
      await kafka.write(topic, numbers(20), 0);
      await cluster().expire(topic, 0, 5);
      const records: ConsumedRecord[] = [];
      const follower = await kafka.follow({ topic, onRecord: (record) => records.push(record) });
      assert.deepEqual(texts(records), numbers(20).slice(5));
      assert.equal(follower.healthy, true);
      for (const partition of [0, 1]) {
        await kafka.write(topic, ['live'], partition);
        await follower.refresh();
        assert.equal(records.length, 16 + partition);
      }
      await cluster().writeAborted(topic, ['aborted']);
      await follower.refresh();
      assert.equal(records.length, 17);
      await follower.close();
    });

    test('reports on refresh that Kafka is unavailable', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      const follower = await kafka.follow({ topic, onRecord: () => undefined });
      cluster().stop();
      try {
        await assert.rejects(follower.refresh(), { code: 'kafka-unavailable' });
      } finally {
        cluster().start();
      }
      await follower.close();
    });

    test('waits for a missing topic', async () => {
      await using kafka = connect(cluster());
      const topic = cluster().newName();
      const records: ConsumedRecord[] = [];
      const following = kafka.follow({ topic, onRecord: (record) => records.push(record) });
      await eventually(() => kafka.lines.some(({ level }) => level === 'warn'));
      await kafka.ensureTopics([{ name: topic, partitions: 1, config: {} }]);
      await kafka.write(topic, ['v']);
      const follower = await following;
      await follower.refresh();
      assert.deepEqual(texts(records), ['v']);
      await follower.close();
    });
  });

  describe('a tail', () => {
    test('begins at the kept offsets, follows live, and reports how far it is behind', async () => {
      await using kafka = connect(cluster());
      const [one, other] = [await kafka.createTopic(), await kafka.createTopic()];
      await kafka.write(one, ['a', 'b', 'c']);
      await kafka.write(other, ['x']);
      const positions = new Map<string, number>();
      const read: string[] = [];
      const onRecords: TailOptions['onRecords'] = (parts) => {
        for (const { records, position } of parts) {
          read.push(...texts(records));
          positions.set(position.topic, position.next);
        }
        return Promise.resolve();
      };
      const startOf = (topic: string): number | undefined => (topic === one ? 2 : undefined);
      const tail = await kafka.tail({ topics: [one, other], startOf, onRecords });
      await tail.refresh();
      assert.deepEqual([read.sort(), tail.behind, tail.healthy], [['c', 'x'], 0, true]);
      await kafka.write(other, ['y']);
      await eventually(() => read.includes('y'));
      assert.deepEqual(
        positions,
        new Map([
          [one, 3],
          [other, 2],
        ]),
      );
      await tail.close();
    });

    test('delivers one fetch at a time, and begins again where the topic ends before the kept offset', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic({ partitions: 3 });
      for (const partition of [0, 1, 2]) await kafka.write(topic, numbers(20), partition);
      let running = 0;
      const positions = new Map<number, number>();
      const tail = await kafka.tail({
        topics: [topic],
        startOf: () => 1_000,
        onRecords: async (parts) => {
          assert.equal((running += 1), 1);
          for (const { records, position } of parts) {
            assert.equal(records[0]?.offset, positions.get(position.partition) ?? 0);
            positions.set(position.partition, position.next);
          }
          await new Promise((resolve) => setImmediate(resolve));
          running -= 1;
        },
      });
      await tail.refresh();
      assert.deepEqual([...positions.values()], [20, 20, 20]);
      await tail.close();
    });
  });
}
