import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NewPartition } from '../../consume/assignment.ts';
import { eventually, limitMs } from '@tailrace/testing';
import { connect, join, numbers, texts, type ContractCluster } from './cluster.ts';

export function testConsuming(cluster: () => ContractCluster): void {
  const isCommitted = (groupId: string, topic: string, ...wanted: number[]): Promise<boolean> =>
    eventually(async () => String(await cluster().committed(groupId, topic)) === String(wanted));

  describe('a consumer', () => {
    test('commits the lowest unfinished offset, and the next member receives only what is unfinished', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      await kafka.write(topic, numbers(100));
      const group = { groupId: `${topic}.group`, topics: [topic] };
      const first = await join(kafka, group);
      await eventually(() => first.records.length === 100);
      assert.deepEqual(texts(first.records), numbers(100));
      for (const { offset, work } of [...first.records].reverse()) {
        if (![40, 70].includes(offset)) work.done();
      }
      await isCommitted(group.groupId, topic, 40);
      assert.deepEqual(first.consumption.partitions, [
        { topic, partition: 0, next: 100, end: 100, uncommitted: 60, lag: 60 },
      ]);
      assert.equal(first.consumption.partition(topic, 0)?.lag, 60);
      assert.equal(first.consumption.partition(topic, 1), undefined);
      assert.equal(first.consumption.owned(topic, 0)?.committable, 40);
      assert.equal(first.consumption.healthy, true);
      await first.consumption.check();
      await first.consumption.close();
      assert.ok(first.records.every(({ revoked }) => revoked));
      for (const record of first.records) record.done();

      const begun: NewPartition[] = [];
      await using second = await join(kafka, {
        ...group,
        finish: true,
        prepare: (partitions) => {
          begun.push(...partitions);
          return Promise.resolve();
        },
      });
      await isCommitted(group.groupId, topic, 100);
      assert.deepEqual(second.offsets, [40, 70]);
      assert.deepEqual(begun, [
        {
          topic,
          partition: 0,
          next: 40,
          finished: [
            { from: 41, to: 70 },
            { from: 71, to: 100 },
          ],
        },
      ]);
    });

    test('fetches nothing of a partition until it is prepared', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      await kafka.write(topic, ['v']);
      const prepared = Promise.withResolvers<undefined>();
      await using member = await join(kafka, {
        groupId: `${topic}.group`,
        topics: [topic],
        prepare: () => prepared.promise,
      });
      assert.equal(member.consumption.owned(topic, 0), undefined);
      await using other = await join(kafka, { groupId: `${topic}.other`, topics: [topic] });
      await eventually(() => other.records.length === 1);
      assert.equal(member.records.length, 0);
      prepared.resolve(undefined);
      await eventually(() => member.records.length === 1);
      assert.equal(member.consumption.owned(topic, 0)?.next, 1);
    });

    test('pauses a partition with too much unfinished work, and continues when half of it is finished', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      // Each fetch brings 128 KB of a partition.
      const values = numbers(40).map((value) => value.padEnd(100_000, 'x'));
      for (const value of values) await kafka.write(topic, [value]);
      await using member = await join(kafka, {
        groupId: `${topic}.group`,
        topics: [topic],
        limits: () => ({ records: 4, bytes: 2 ** 20 }),
      });
      await eventually(() => member.records.length >= 4);
      for (let finished = 0; finished < 40; finished += 1) {
        await eventually(() => member.records.length > finished);
        assert.ok(member.records.length - finished < 4 + 40, String(member.records.length));
        member.records[finished]?.done();
      }
      assert.deepEqual(texts(member.records), values);
    });

    test('receives nothing of a topic that is paused, until it is resumed', async () => {
      await using kafka = connect(cluster());
      const [topic, other] = [await kafka.createTopic(), await kafka.createTopic()];
      await using member = await join(kafka, {
        groupId: `${topic}.group`,
        topics: [topic, other],
        finish: true,
      });
      await eventually(() => member.consumption.owned(topic, 0) !== undefined);
      await eventually(() => member.consumption.owned(other, 0) !== undefined);
      member.consumption.pause([topic]);
      // A fetch that is under way may still bring what is written meanwhile.
      await kafka.write(topic, ['1']);
      await kafka.write(other, ['1']);
      await eventually(() => member.records.some((record) => record.topic === other));
      const before = member.records.filter((record) => record.topic === topic).length;
      await kafka.write(topic, ['2']);
      await kafka.write(other, ['2']);
      await eventually(() => member.records.filter((record) => record.topic === other).length === 2);
      assert.equal(member.records.filter((record) => record.topic === topic).length, before);
      member.consumption.resume([topic]);
      await eventually(() => member.records.filter((record) => record.topic === topic).length === 2);
    });

    test('close() waits for work until its time limit, commits what is finished, and leaves the group', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      await kafka.write(topic, numbers(10));
      const group = { groupId: `${topic}.group`, topics: [topic] };
      const first = await join(kafka, group);
      await eventually(() => first.records.length === 10);
      let isClosed = false;
      const closing = first.consumption.close({ drainTimeoutMs: 30_000 }).then(() => {
        isClosed = true;
      });
      for (const record of first.records) {
        assert.equal(isClosed, false);
        record.done();
      }
      await closing;
      assert.deepEqual(await cluster().committed(group.groupId, topic), [10]);
      assert.deepEqual(await cluster().memberIds(group.groupId), []);

      await kafka.write(topic, numbers(3));
      const second = await join(kafka, group);
      await eventually(() => second.records.length === 3);
      second.records[2]?.done();
      second.records[0]?.done();
      second.consumption.stopReceiving();
      await second.consumption.close({ drainTimeoutMs: 50 });
      assert.deepEqual(await cluster().committed(group.groupId, topic), [11]);
    });

    test('keeps the work of partitions that stay in a rebalance, and revokes the work of the others', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic({ partitions: 2 });
      for (const partition of [0, 1]) await kafka.write(topic, numbers(5), partition);
      const group = { groupId: `${topic}.group`, topics: [topic], coPartitioned: true };
      const rebalances: boolean[] = [];
      await using stays = await join(kafka, {
        ...group,
        // Kafka may be asked to join more than once.
        onRebalance: (isRebalancing) => {
          if (rebalances.at(-1) !== isRebalancing) rebalances.push(isRebalancing);
        },
      });
      await eventually(() => stays.records.length === 10);
      const passing = await join(kafka, group);
      await eventually(() => passing.records.length === 5);
      assert.ok(passing.records.every(({ partition }) => partition === 1));
      await eventually(() => String(rebalances) === 'true,false,true,false,true,false');
      for (const { partition, revoked } of stays.records) assert.equal(revoked, partition === 1);
      assert.equal(stays.consumption.owned(topic, 1), undefined);
      for (const record of passing.records.slice(0, 2)) record.done();
      await passing.consumption.close();

      await eventually(() => stays.records.length === 13);
      assert.deepEqual(
        stays.records.slice(10).map(({ partition, offset }) => [partition, offset]),
        [
          [1, 2],
          [1, 3],
          [1, 4],
        ],
      );
      for (const record of stays.records) record.done();
      await isCommitted(group.groupId, topic, 5, 5);
    });

    test('hands over a partition when its work is finished, and receives records of the others meanwhile', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic({ partitions: 2 });
      for (const partition of [0, 1]) await kafka.write(topic, numbers(5), partition);
      const group = { groupId: `${topic}.group`, topics: [topic], coPartitioned: true, handOverMs: limitMs };
      let joins = 0;
      const onRebalance = (isRebalancing: boolean): void => {
        if (!isRebalancing) joins += 1;
      };
      await using stays = await join(kafka, { ...group, onRebalance });
      await eventually(() => stays.records.length === 10);
      const joinsBefore = joins;
      await using other = await join(kafka, group);
      await eventually(() => joins > joinsBefore);
      for (const partition of [0, 1]) await kafka.write(topic, ['new'], partition);
      await eventually(() => stays.records.length === 11);
      assert.deepEqual(other.consumption.partitions, []);
      assert.ok(stays.records.every(({ revoked }) => !revoked));
      for (const record of stays.records) record.done();
      await eventually(() => other.records.length === 1);
      assert.deepEqual(texts(other.records), ['new']);
      assert.equal(stays.records.length, 11);
      assert.equal(stays.consumption.owned(topic, 1), undefined);
    });

    test('commits before a rebalance what is finished', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic({ partitions: 2 });
      for (const partition of [0, 1]) await kafka.write(topic, numbers(5), partition);
      const group = { groupId: `${topic}.group`, topics: [topic], commitIntervalMs: 60_000, finish: true };
      await using first = await join(kafka, group);
      await eventually(() => first.records.length === 10);
      await using second = await join(kafka, group);
      await isCommitted(group.groupId, topic, 5, 5);
      await eventually(() => first.consumption.partitions.length === 1);
      await eventually(() => second.consumption.partitions.length === 1);
      for (const partition of [0, 1]) await kafka.write(topic, ['new'], partition);
      await eventually(() => first.records.length + second.records.length === 12);
      assert.deepEqual(texts(second.records), ['new']);
    });

    test('reads partitions that are added while it runs, from the first record', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      await using member = await join(kafka, { groupId: `${topic}.group`, topics: [topic], finish: true });
      await kafka.addPartitions(topic, 2);
      await kafka.write(topic, ['v'], 1);
      await eventually(() => member.records.length === 1);
      assert.deepEqual([member.records[0]?.partition, member.offsets], [1, [0]]);
    });

    test('skips records that expired before it read them, and logs how many', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      const groupId = `${topic}.group`;
      await kafka.write(topic, numbers(20));
      await cluster().commit(groupId, topic, 0, 3);
      await cluster().expire(topic, 0, 12);
      await using member = await join(kafka, { groupId, topics: [topic], finish: true });
      await isCommitted(groupId, topic, 20);
      assert.equal(member.offsets[0], 12);
      const line = kafka.lines.find(({ level }) => level === 'error');
      assert.deepEqual(line?.fields, { topic, partition: 0, missing: 9 });
    });

    test('begins with the first record where the partition ends before the committed offset', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      const groupId = `${topic}.group`;
      await kafka.write(topic, numbers(5));
      await cluster().commit(groupId, topic, 0, 1_000);
      await using member = await join(kafka, { groupId, topics: [topic], finish: true });
      await isCommitted(groupId, topic, 5);
      assert.deepEqual(member.offsets, [0, 1, 2, 3, 4]);
      assert.ok(kafka.lines.some(({ level }) => level === 'error'));
    });

    test('passes over aborted records', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      const groupId = `${topic}.group`;
      await kafka.write(topic, ['before']);
      await cluster().writeAborted(topic, ['aborted', 'aborted too']);
      await kafka.write(topic, ['after']);
      await using member = await join(kafka, { groupId, topics: [topic], finish: true });
      await isCommitted(groupId, topic, 5);
      assert.deepEqual(texts(member.records), ['before', 'after']);
    });

    test('reports a batch that cannot be read, and waits for its work where it is tracked', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      await kafka.write(topic, ['before']);
      await cluster().writeUnreadable(topic);
      await kafka.write(topic, ['after']);
      const found: { readonly offset: number; done(): void }[] = [];
      await using tracking = await join(kafka, {
        groupId: `${topic}.tracking`,
        topics: [topic],
        finish: true,
        onUnreadable: (_batch, work) => found.push(work),
      });
      await eventually(() => tracking.records.length === 2);
      await isCommitted(`${topic}.tracking`, topic, 1);
      assert.deepEqual(
        found.map(({ offset }) => offset),
        [1],
      );
      found[0]?.done();
      await isCommitted(`${topic}.tracking`, topic, 3);
      await using skipping = await join(kafka, {
        groupId: `${topic}.skipping`,
        topics: [topic],
        finish: true,
      });
      await isCommitted(`${topic}.skipping`, topic, 3);
      assert.deepEqual(texts(skipping.records), ['before', 'after']);
      assert.equal(kafka.unreadable.length, 2);
      assert.deepEqual([kafka.unreadable[0]?.topic, kafka.unreadable[0]?.lastOffset], [topic, 1]);
    });

    test('lists the unfinished records of its partitions, received or not', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      await kafka.write(topic, numbers(50));
      const group = { groupId: `${topic}.group`, topics: [topic] };
      const first = await join(kafka, group);
      await eventually(() => first.records.length === 50);
      for (const record of first.records) if (![10, 20, 30].includes(record.offset)) record.done();
      await first.consumption.close();
      await using second = await join(kafka, group);
      await eventually(() => second.records.length === 3);
      second.records[1]?.done();
      await kafka.write(topic, ['50', '51']);
      const listed = async (spans?: Map<number, { from: number; to: number }>): Promise<number[]> => {
        const offsets: number[] = [];
        for await (const records of second.consumption.unfinished(topic, [0, 1], spans)) {
          offsets.push(...records.map(({ offset }) => offset));
        }
        return offsets;
      };
      assert.deepEqual(await listed(), [10, 30, 50, 51]);
      assert.deepEqual(await listed(new Map([[0, { from: 11, to: 51 }]])), [30, 50]);
    });

    test('continues after an outage', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      const groupId = `${topic}.group`;
      await using member = await join(kafka, { groupId, topics: [topic], finish: true });
      await kafka.write(topic, ['before']);
      await eventually(() => member.records.length === 1);
      cluster().stop();
      cluster().start();
      await kafka.write(topic, ['after']);
      await isCommitted(groupId, topic, 2);
      assert.deepEqual(texts(member.records), ['before', 'after']);
    });
  });
}
