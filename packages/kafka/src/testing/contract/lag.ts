import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import type { PartitionLag } from '../../consume/reports.ts';
import { eventually } from '@tailrace/testing';
import { connect, join, numbers, type ContractCluster, type TestMember } from './cluster.ts';

const hourMs = 3_600_000;
/** A test may take this long, on a busy machine. */
const minuteMs = 60_000;

export function testLag(cluster: () => ContractCluster): void {
  const lagOf = ({ consumption }: TestMember, topic: string): PartitionLag | undefined =>
    consumption.lags().find((lag) => lag.topic === topic);

  /** Waits until the age is in the hour after `leastMs`. */
  const isOlder = (member: TestMember, topic: string, leastMs: number): Promise<boolean> =>
    eventually(() => {
      const { ageMs = -1 } = lagOf(member, topic) ?? {};
      return ageMs >= leastMs && ageMs < leastMs + minuteMs;
    });

  describe('the lag of a consumer', () => {
    test('is not known before the partition is read, then that of the oldest unfinished record, and 0 in the end', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      await cluster().writeAt(topic, Date.now() - 2 * hourMs);
      await cluster().writeAt(topic, Date.now() - hourMs);
      const prepared = Promise.withResolvers<undefined>();
      await using member = await join(kafka, {
        groupId: `${topic}.group`,
        topics: [topic],
        prepare: () => prepared.promise,
      });
      assert.deepEqual(member.consumption.topics, [topic]);
      assert.equal(lagOf(member, topic)?.ageMs, undefined);
      prepared.resolve(undefined);
      await eventually(() => member.records.length === 2);
      await isOlder(member, topic, 2 * hourMs);
      const lag = lagOf(member, topic);
      assert.equal(lag?.lateMs, lag?.ageMs);
      member.records[0]?.done();
      await isOlder(member, topic, hourMs);
      member.records[1]?.done();
      await eventually(() => lagOf(member, topic)?.ageMs === 0);
      assert.equal(lagOf(member, topic)?.isPaused, false);
    });

    test('is known while reading is paused, also directly after a restart with a backlog', async () => {
      await using kafka = connect(cluster());
      const [topic, other] = [await kafka.createTopic(), await kafka.createTopic()];
      const group = { groupId: `${topic}.group`, topics: [topic, other] };
      await cluster().writeAt(topic, Date.now() - hourMs);
      const prepared = Promise.withResolvers<undefined>();
      await using member = await join(kafka, { ...group, prepare: () => prepared.promise, finish: true });
      member.consumption.pause([topic]);
      prepared.resolve(undefined);
      await isOlder(member, topic, hourMs);
      assert.equal(lagOf(member, topic)?.isPaused, true);
      assert.equal(lagOf(member, other)?.isPaused, false);
      assert.equal(member.records.length, 0);

      const resumedAt = Date.now();
      member.consumption.resume([topic]);
      await eventually(() => lagOf(member, topic)?.ageMs === 0);
      member.consumption.pause([topic]);
      // A fetch that is under way may still bring what is written meanwhile.
      await kafka.write(other, ['v']);
      await eventually(() => member.records.some((record) => record.topic === other));
      await kafka.write(topic, ['v']);
      await eventually(() => (lagOf(member, topic)?.ageMs ?? 0) > 0);
      // Not longer than since a fetch has shown that the partition ends before it.
      const { ageMs = 0 } = lagOf(member, topic) ?? {};
      assert.ok(ageMs <= Date.now() - resumedAt, String(ageMs));
    });

    test('is right with any timestamps, if the member has seen the records appear', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      await kafka.write(topic, ['first']);
      const joinedAt = Date.now();
      await using member = await join(kafka, { groupId: `${topic}.group`, topics: [topic] });
      await eventually(() => member.records.length === 1);
      member.records[0]?.done();
      await eventually(() => lagOf(member, topic)?.ageMs === 0);
      await cluster().writeAt(topic, Date.now() - 100 * hourMs);
      await eventually(() => member.records.length === 2);
      // Counted since a fetch has shown that the partition ends before it.
      const { ageMs = -1 } = lagOf(member, topic) ?? {};
      assert.ok(ageMs >= 0 && ageMs <= Date.now() - joinedAt, String(ageMs));
      member.records[1]?.done();

      // Kafka refuses more than an hour by default.
      await cluster().writeAt(topic, Date.now() + 0.9 * hourMs);
      await eventually(() => member.records.length === 3);
      await eventually(() => (lagOf(member, topic)?.ageMs ?? 0) > 50);
    });

    test('counts in a topic with a delay from when a record is due', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      for (const hoursAgo of [5, 4, 3]) await cluster().writeAt(topic, Date.now() - hoursAgo * hourMs);
      const group = { groupId: `${topic}.group`, topics: [topic], delayMs: () => 4.5 * hourMs };
      await using member = await join(kafka, group);
      await eventually(() => member.records.length === 3);
      const late = (): number => Math.round((lagOf(member, topic)?.lateMs ?? NaN) / minuteMs);
      assert.equal(late(), 30);
      const [first, second] = member.records;
      first?.waitsUntil(Date.now() + hourMs);
      assert.equal(late(), 0);
      await isOlder(member, topic, 5 * hourMs);
      second?.waitsUntil(Date.now() - 10 * minuteMs);
      assert.equal(late(), 10);
      // A record is not late before it exists.
      second?.waitsUntil(0);
      assert.equal(late(), 4 * 60);
    });

    test('is also a part of how long the topic keeps records', async () => {
      await using kafka = connect(cluster());
      const limited = await kafka.createTopic({ config: { 'retention.ms': String(10 * hourMs) } });
      const unlimited = await kafka.createTopic({ config: { 'retention.ms': '-1' } });
      const topics = [limited, unlimited];
      for (const topic of topics) await cluster().writeAt(topic, Date.now() - hourMs);
      await using member = await join(kafka, { groupId: `${limited}.group`, topics });
      await eventually(() => member.records.length === 2);
      await eventually(() => lagOf(member, limited)?.retentionUsed !== undefined);
      assert.equal(lagOf(member, limited)?.retentionUsed?.toFixed(2), '0.10');
      assert.equal(lagOf(member, unlimited)?.retentionUsed, undefined);
    });

    test('is also a part of the bytes that the topic keeps, if that is more, and also while reading is paused', async () => {
      await using kafka = connect(cluster());
      const config = { 'retention.ms': String(10 * hourMs), 'retention.bytes': '1000000' };
      const topic = await kafka.createTopic({ config });
      await kafka.write(
        topic,
        Array.from({ length: 10 }, () => randomBytes(25_000).toString('base64url').slice(0, 25_000)),
      );
      const prepared = Promise.withResolvers<undefined>();
      await using member = await join(kafka, {
        groupId: `${topic}.group`,
        topics: [topic],
        prepare: () => prepared.promise,
      });
      const used = (): number => lagOf(member, topic)?.retentionUsed ?? -1;
      // Brokers store the records compressed, to about three quarters.
      const isQuarter = (): boolean => used() > 0.15 && used() < 0.3;
      member.consumption.pause([topic]);
      prepared.resolve(undefined);
      await eventually(isQuarter);
      member.consumption.resume([topic]);
      await eventually(() => member.records.length === 10);
      assert.ok(isQuarter(), String(used()));
      const all = used();
      for (const record of member.records.slice(0, 6)) record.done();
      assert.equal((used() / all).toFixed(2), '0.40');
      for (const record of member.records.slice(6)) record.done();
      assert.ok(used() < 0.01, String(used()));
    });
  });

  describe('the totals of a consumer', () => {
    test('have the records that expired unread, also where no record follows and while reading is paused', async () => {
      await using kafka = connect(cluster());
      const [topic, paused] = [await kafka.createTopic(), await kafka.createTopic()];
      const group = { groupId: `${topic}.group`, topics: [topic, paused] };
      await kafka.write(topic, numbers(10));
      await kafka.write(paused, numbers(4));
      for (const name of group.topics) await cluster().commit(group.groupId, name, 0, 0);
      const prepared = Promise.withResolvers<undefined>();
      await using member = await join(kafka, { ...group, prepare: () => prepared.promise });
      member.consumption.pause([paused]);
      await cluster().expire(topic, 0, 10);
      await cluster().expire(paused, 0, 3);
      prepared.resolve(undefined);
      const { expired } = member.consumption.totals;
      await eventually(() => expired.get(topic) === 10 && expired.get(paused) === 3);
      assert.equal(kafka.lines.filter(({ level }) => level === 'error').length, 2);
      await eventually(() => lagOf(member, topic)?.ageMs === 0);
    });

    test('have rebalances, and the time in which nothing was read', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic({ partitions: 2 });
      const group = { groupId: `${topic}.group`, topics: [topic] };
      await using stays = await join(kafka, group);
      assert.equal(stays.consumption.totals.rebalances, 0);
      await eventually(() => stays.consumption.owned(topic, 0) !== undefined);
      const { withoutWorkMs } = stays.consumption.totals;
      assert.ok(withoutWorkMs > 0);
      const passing = await join(kafka, group);
      await eventually(() => stays.consumption.partitions.length === 1);
      await passing.consumption.close();
      await eventually(() => stays.consumption.partitions.length === 2);
      assert.equal(stays.consumption.totals.rebalances, 2);
      assert.ok(stays.consumption.totals.withoutWorkMs > withoutWorkMs);
      // Which of the two it had kept is not certain.
      await eventually(() => [0, 1].every((partition) => stays.consumption.owned(topic, partition)));
      const total = stays.consumption.totals.withoutWorkMs;
      await kafka.write(topic, ['v']);
      await eventually(() => stays.records.length === 1);
      assert.equal(stays.consumption.totals.withoutWorkMs, total);
    });
  });
}
