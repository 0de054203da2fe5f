/** The group consumer against a real broker: watermarks, limits, rebalances, and what a log may do behind its back. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import type { TrackedRecord } from '@tailrace/kafka';
import { createMetrics, watchConsumption } from '@tailrace/service';
import { sharedBroker } from '../support/kafka/broker.ts';
import { connectAdmin, type KafkaAdmin } from '../support/kafka/kafka-admin.ts';
import { eventually, limitMs } from '@tailrace/testing';
import { joinGroup, openKafka, type TestKafka, type TestMember } from '../support/kafka/kafka-client.ts';
import { startKafkaProxy, type KafkaProxy } from '../support/kafka/kafka-proxy.ts';
import { steadily } from '../support/steadily.ts';

let brokers: readonly string[];
let kafka: TestKafka;
let admin: KafkaAdmin;
before(async () => {
  ({ brokers } = await sharedBroker());
  kafka = openKafka(brokers);
  admin = await connectAdmin(brokers);
});
after(async () => {
  await kafka.close();
  await admin[Symbol.asyncDispose]();
});

async function publish(topic: string, values: readonly (string | Buffer)[]): Promise<void> {
  const publisher = kafka.publisher();
  await Promise.all(values.map((value) => publisher.publish({ topic, key: 'k', value })));
  await publisher.close();
}

function numbers(count: number): string[] {
  return Array.from({ length: count }, (_, nth) => String(nth));
}

function offsetsOf({ records }: TestMember): number[] {
  return records.items.map(({ offset }) => offset);
}

const finish = (record: TrackedRecord): void => {
  record.done();
};

/** What happens to the connections of a consumer. */
const disturbances: Readonly<Record<string, (proxy: KafkaProxy, groupId: string) => unknown>> = {
  'after answers that were cut off in the middle'(proxy) {
    proxy.halveAnswers = 10;
    return proxy.lost.waitFor(10);
  },
  async 'after Kafka has removed it, and its request to join again was not answered'(proxy, groupId) {
    proxy.hang();
    await eventually(
      () => admin.memberIds(groupId),
      (ids) => ids.length === 0,
    );
    proxy.loseJoinAnswers = 1;
    proxy.resume();
    await proxy.lost.waitFor(1);
    await eventually(
      () => admin.memberIds(groupId),
      (ids) => ids.length === 1,
    );
  },
  'on other connections where the ones it has do not answer'(proxy) {
    proxy.forget();
  },
};

// These tests mostly wait.
describe('a consumer', { concurrency: true }, () => {
  test('commits up to the lowest unfinished record, and the next member receives only unfinished records', async () => {
    const topic = await kafka.createTopic();
    await publish(topic, numbers(100));
    const group = { groupId: `${topic}.group`, topics: [topic] };
    const unfinished = [40, 70];

    const first = await joinGroup(kafka, group);
    await first.records.waitFor(100);
    const finishing = first.records.items.filter(({ offset }) => !unfinished.includes(offset));
    for (const record of finishing.reverse()) record.done();
    await eventually(
      () => admin.committed(group.groupId, topic),
      ([offset]) => offset === 40,
    );
    // The member itself may get the answer to its commit a moment after the broker shows it.
    await eventually(
      () => first.partitions[0]?.uncommitted,
      (uncommitted) => uncommitted === 60,
    );
    assert.deepEqual(first.partitions, [
      { topic, partition: 0, next: 100, end: 100, uncommitted: 60, lag: 60 },
    ]);
    assert.deepEqual(
      [first.partition(topic, 0), first.partition(topic, 1)],
      [first.partitions[0], undefined],
    );
    await first.close();
    for (const record of first.records.items) {
      assert.equal(record.revoked, true);
      record.done();
    }
    assert.deepEqual(await admin.committed(group.groupId, topic), [40]);

    await using second = await joinGroup(kafka, { ...group, onRecord: finish });
    await eventually(
      () => admin.committed(group.groupId, topic),
      ([offset]) => offset === 100,
    );
    assert.deepEqual(offsetsOf(second), unfinished);
  });

  test('lists unfinished records, left by an earlier owner, received, or not received yet', async () => {
    const topic = await kafka.createTopic();
    await publish(topic, numbers(100));
    const group = { groupId: `${topic}.group`, topics: [topic] };
    const first = await joinGroup(kafka, group);
    for (const record of await first.records.waitFor(100)) {
      if (![40, 70, 90].includes(record.offset)) record.done();
    }
    await first.close();

    await using second = await joinGroup(kafka, { ...group, limits: () => ({ records: 3, bytes: 1_000 }) });
    const received = await second.records.waitFor(3);
    received.find(({ offset }) => offset === 70)?.done();
    await publish(topic, ['100', '101']);
    const offsets: number[] = [];
    for await (const records of second.unfinished(topic, [0, 1])) {
      offsets.push(...records.map(({ offset }) => offset));
    }
    assert.deepEqual(offsets, [40, 90, 100, 101]);
    for await (const records of second.unfinished(topic, [1])) assert.fail(String(records.length));
  });

  test('close() waits for unfinished work, and commits it', async () => {
    const topic = await kafka.createTopic();
    await publish(topic, numbers(10));
    const group = { groupId: `${topic}.group`, topics: [topic] };
    const member = await joinGroup(kafka, group);
    await member.records.waitFor(10);
    let closed = false;
    const closing = member.close({ drainTimeoutMs: limitMs }).then(() => (closed = true));
    await publish(topic, ['not received any more']);
    for (const record of member.records.items) {
      assert.equal(closed, false);
      record.done();
    }
    await closing;
    assert.equal(member.records.items.length, 10);
    assert.deepEqual(await admin.committed(group.groupId, topic), [10]);
    assert.deepEqual(await admin.memberIds(group.groupId), []);
  });

  test('close() does not commit work that does not finish in time', async () => {
    const topic = await kafka.createTopic();
    await publish(topic, numbers(3));
    const group = { groupId: `${topic}.group`, topics: [topic] };
    const member = await joinGroup(kafka, group);
    const [first, , third] = await member.records.waitFor(3);
    third?.done();
    first?.done();
    await member.close({ drainTimeoutMs: 100 });
    assert.deepEqual(await admin.committed(group.groupId, topic), [1]);
  });

  test('is paused while it has too much unfinished work, stays in its group, and continues', async () => {
    const topic = await kafka.createTopic();
    // What cannot be compressed, so that a fetch brings about 256 of them.
    await publish(
      topic,
      Array.from({ length: 2_000 }, () => randomBytes(1_000)),
    );
    const group = { groupId: `${topic}.group`, topics: [topic] };
    await using member = await joinGroup(kafka, {
      ...group,
      limits: () => ({ records: 100, bytes: 2 ** 20 }),
    });
    const metrics = createMetrics({ processMetrics: false });
    watchConsumption(metrics, member);
    const pausedPartitions = async (): Promise<number> =>
      Number(/^tailrace_consumer_paused_partitions\{.*\} (.+)$/m.exec(await metrics.expose())?.[1]);
    await member.records.waitFor(100);
    const memberIds = await admin.memberIds(group.groupId);
    // The session of a member that sends no heartbeats from now on ends meanwhile.
    await using proxy = await startKafkaProxy(brokers[0] ?? '');
    await using behind = openKafka(proxy.brokers);
    const silent = { groupId: `${topic}.silent`, topics: [topic] };
    const cutOff = await joinGroup(behind, silent);
    proxy.stop();
    await eventually(
      () => admin.memberIds(silent.groupId),
      (ids) => ids.length === 0,
    );
    await cutOff.close();
    assert.ok(member.records.items.length < 1_200, `${member.records.items.length} records received`);
    assert.deepEqual(await admin.memberIds(group.groupId), memberIds);
    assert.equal(member.healthy, true);
    assert.equal(await pausedPartitions(), 1);

    for (let finished = 0; finished < 2_000; finished++) {
      const records = await member.records.waitFor(finished + 1);
      records[finished]?.done();
    }
    assert.deepEqual(
      offsetsOf(member),
      Array.from({ length: 2_000 }, (_, offset) => offset),
    );
    await eventually(pausedPartitions, (paused) => paused === 0);
  });

  for (const [what, disturb] of Object.entries(disturbances)) {
    test(`goes on ${what}`, async () => {
      const topic = await kafka.createTopic();
      await using proxy = await startKafkaProxy(brokers[0] ?? '');
      await using behind = openKafka(proxy.brokers);
      const groupId = `${topic}.group`;
      await using member = await joinGroup(behind, { groupId, topics: [topic] });
      await publish(topic, numbers(10));
      await member.records.waitFor(10);
      await disturb(proxy, groupId);
      await publish(topic, numbers(10));
      // Where it joined again, it receives the first ones again.
      await member.records.find(({ offset }) => offset === 19);
    });
  }

  test('joins through another broker where the first one accepts connections and hangs', async () => {
    const topic = await kafka.createTopic();
    await publish(topic, numbers(10));
    await using proxy = await startKafkaProxy(brokers[0] ?? '');
    proxy.hang();
    await using behind = openKafka([...proxy.brokers, ...brokers]);
    await using member = await joinGroup(behind, { groupId: `${topic}.group`, topics: [topic] });
    await member.records.waitFor(10);
  });

  test('keeps the work of a partition that stays, and revokes the work of one that moves', async () => {
    const topic = await kafka.createTopic({ partitions: 2 });
    const publisher = kafka.publisher();
    const publishTo = (partition: number, count: number): Promise<unknown> =>
      Promise.all(numbers(count).map((value) => publisher.publish({ topic, partition, key: null, value })));
    await Promise.all([publishTo(0, 10), publishTo(1, 10)]);
    const group = { groupId: `${topic}.group`, topics: [topic], coPartitioned: true };

    await using stays = await joinGroup(kafka, group);
    await stays.records.waitFor(20);
    const passing = await joinGroup(kafka, group);
    await passing.records.waitFor(10);
    assert.ok(passing.records.items.every(({ partition }) => partition === 1));
    for (const { partition, revoked } of stays.records.items) assert.equal(revoked, partition === 1);
    await passing.close();

    await stays.records.waitFor(30);
    await publishTo(0, 1);
    await stays.records.waitFor(31);
    const kept = stays.records.items.filter(({ partition }) => partition === 0);
    assert.deepEqual(
      kept.map(({ offset }) => offset),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    );
    for (const record of stays.records.items) record.done();
    await eventually(
      () => admin.committed(group.groupId, topic),
      (committed) => String(committed) === '11,10',
    );
  });

  test('receives nothing while it is paused, and continues when it is resumed', async () => {
    const [topic, marker] = [await kafka.createTopic(), await kafka.createTopic()];
    await using held = await joinGroup(kafka, {
      groupId: `${topic}.group`,
      topics: [topic],
      onRecord: finish,
    });
    held.pause();
    await publish(topic, numbers(5));
    await publish(marker, numbers(5));
    await using free = await joinGroup(kafka, { groupId: `${marker}.group`, topics: [marker] });
    await free.records.waitFor(5);
    // A fetch that was under way when it was paused may have brought records.
    const before = held.records.items.length;
    await publish(topic, numbers(5));
    await publish(marker, numbers(5));
    await free.records.waitFor(10);
    assert.equal(held.records.items.length, before);
    held.resume();
    await held.records.waitFor(10);
  });

  test('skips records that expired before it read them, and logs how many', async () => {
    await using kafka = openKafka(brokers);
    const topic = await kafka.createTopic();
    await publish(topic, numbers(20));
    const groupId = `${topic}.group`;
    await admin.commit(groupId, topic, 0, 3);
    await admin.expire(topic, 0, 12);
    await using member = await joinGroup(kafka, { groupId, topics: [topic], onRecord: finish });
    await member.records.waitFor(8);
    assert.equal(offsetsOf(member)[0], 12);
    const line = await kafka.log.find(({ message }) => message.includes('expired before they were read'));
    assert.deepEqual(line.fields, { topic, partition: 0, missing: 9 });
    await eventually(
      () => admin.committed(groupId, topic),
      ([offset]) => offset === 20,
    );
  });

  test('begins with the first record if a partition ends before its committed offset', async () => {
    await using kafka = openKafka(brokers);
    const topic = await kafka.createTopic();
    await publish(topic, numbers(5));
    const groupId = `${topic}.group`;
    await admin.commit(groupId, topic, 0, 1_000);
    await using member = await joinGroup(kafka, { groupId, topics: [topic], onRecord: finish });
    await member.records.waitFor(5);
    assert.deepEqual(offsetsOf(member), [0, 1, 2, 3, 4]);
    await kafka.log.find(({ level, message }) => level === 'error' && message.includes('shorter'));
    await eventually(
      () => admin.committed(groupId, topic),
      ([offset]) => offset === 5,
    );
  });

  test('is not blocked by the records of an aborted transaction', async () => {
    const topic = await kafka.createTopic();
    const groupId = `${topic}.group`;
    await publish(topic, ['before']);
    await admin.writeAborted(topic, ['aborted', 'aborted too']);
    await publish(topic, ['after']);
    await using member = await joinGroup(kafka, { groupId, topics: [topic], onRecord: finish });
    const [before, after] = await member.records.waitFor(2);
    assert.deepEqual([before?.value?.toString(), after?.value?.toString()], ['before', 'after']);
    await eventually(
      () => admin.committed(groupId, topic),
      // Two records and the marker of the abortion lie between the two.
      ([offset]) => offset === 5,
    );
  });

  test('ends its process if onRecord throws, instead of retrying forever', async () => {
    const topic = await kafka.createTopic();
    await publish(topic, ['v']);
    const program = `
      import { connectKafka } from '@tailrace/kafka';
      const ignore = () => undefined;
      const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
      const [brokers, topic] = process.argv.slice(1);
      const kafka = connectKafka({ brokers: brokers.split(','), clientId: 'defect' }, log);
      const onRecord = () => { throw new Error('a defect in onRecord'); };
      await kafka.consume({ groupId: topic + '.group', topics: [topic], onRecord });`;
    const child = spawn(
      process.execPath,
      ['--input-type=module', '--eval', program, brokers.join(','), topic],
      { cwd: import.meta.dirname, stdio: ['ignore', 'inherit', 'pipe'], timeout: limitMs },
    );
    const [errors] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    assert.equal(child.exitCode, 1);
    assert.match(errors, /a defect in onRecord/);
  });
});

test('while members join and leave, everything is finished, no unfinished record is committed past, and co-partitions stay together', async () => {
  const partitions = 6;
  const topics = [await kafka.createTopic({ partitions }), await kafka.createTopic({ partitions })];
  const groupId = `${topics[0]}.group`;
  const perTopic = 1_500;
  const place = ({ topic, partition, offset }: TrackedRecord): string => `${topic}/${partition}/${offset}`;

  const finished = new Set<string>();
  const receivedTwice: string[] = [];
  const separated: string[] = [];
  const members = new Set<TestMember>();
  const pending: TrackedRecord[] = [];
  using work = new DisposableStack();
  work.use(
    steadily(20, () => {
      for (const record of pending.splice(0)) {
        if (Math.random() < 0.8) {
          pending.push(record);
        } else if (!record.revoked) {
          finished.add(place(record));
          record.done();
        }
      }
    }),
  );

  const join = async (): Promise<TestMember> => {
    const mine = new Map<string, TrackedRecord>();
    const member = await joinGroup(kafka, {
      groupId,
      topics,
      coPartitioned: true,
      commitIntervalMs: 50,
      onRecord(record) {
        // Received again only if the partition was revoked in between.
        if (mine.get(place(record))?.revoked === false) receivedTwice.push(place(record));
        mine.set(place(record), record);
        pending.push(record);
      },
    });
    members.add(member);
    return member;
  };

  const observe = async (): Promise<void> => {
    for (const topic of topics) {
      for (const [partition, committed] of (await admin.committed(groupId, topic)).entries()) {
        for (let offset = 0; offset < committed; offset++) {
          const passed = `${topic}/${partition}/${offset}`;
          assert.ok(finished.has(passed), `${passed} is unfinished, and ${committed} is committed`);
        }
      }
    }
    for (const member of members) {
      const numbers = topics.map((topic) =>
        member.partitions
          .filter((state) => state.topic === topic)
          .map((state) => state.partition)
          .sort(),
      );
      if (new Set(numbers.map(String)).size > 1) separated.push(JSON.stringify(numbers));
    }
  };

  const publisher = kafka.publisher();
  let nth = 0;
  const publishSome = (count: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, () => {
        const partition = nth++ % partitions;
        return Promise.all(
          topics.map((topic) => publisher.publish({ topic, partition, key: null, value: 'v' })),
        );
      }),
    );

  await using stays = await join();
  for (let round = 0; round < 6; round++) {
    await publishSome(perTopic / 6);
    const passing = await join();
    await observe();
    // Every other one leaves with its work unfinished.
    await passing.close({ drainTimeoutMs: round % 2 === 0 ? 0 : limitMs });
    members.delete(passing);
    await observe();
  }
  await eventually(
    () => finished.size,
    (size) => size === topics.length * perTopic,
  );
  await eventually(
    async () => (await Promise.all(topics.map((topic) => admin.committed(groupId, topic)))).flat(),
    (committed) => committed.every((offset) => offset === perTopic / partitions),
  );
  assert.deepEqual(receivedTwice, []);
  assert.deepEqual(separated, []);
  await eventually(
    () => stays.partitions.map(({ uncommitted, lag }) => uncommitted + lag),
    (waiting) => waiting.length === topics.length * partitions && waiting.every((records) => records === 0),
  );
});
