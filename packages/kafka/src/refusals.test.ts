/** A replica that Kafka refuses, for its membership or its clock, on simulated time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import type { DueRecord } from './consume/partition/tracked-record.ts';
import type { Kafka } from './kafka.ts';
import { MemoryCluster } from './testing/cluster.ts';

const topic = 'events';
const groupId = 'group';

/** A connection, and what a member of the group that it joins receives. */
class Stage implements AsyncDisposable {
  readonly time = simulateTime();
  readonly cluster = new MemoryCluster();
  readonly kafka: Kafka = this.cluster.connect();
  readonly records: DueRecord[] = [];
  /** The last value that `onHold` was called with. */
  isHeld = false;

  async join(): Promise<void> {
    this.cluster.createTopic(topic);
    await this.time.settled(
      this.kafka.consume({
        groupId,
        topics: [topic],
        onRecord: (record) => this.records.push(record),
        onHold: (held) => (this.isHeld = held),
      }),
    );
    await this.publish('first');
    await this.time.until(() => this.records.length === 1);
  }

  publish(value: string): Promise<void> {
    return this.time.settled(this.kafka.publisher().publish({ topic, key: 'k', value }));
  }

  get members(): number {
    return this.cluster.group(groupId).memberIds.length;
  }

  get committed(): number | undefined {
    return this.cluster.group(groupId).offsets.get(`${topic}/0`)?.offset;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cluster.refusesClock = false;
    await this.time.settled(this.kafka.close());
    this.time[Symbol.dispose]();
  }
}

test('a member that was removed holds new work at the next commit, and joins again after 15 s', async () => {
  await using stage = new Stage();
  const { time, cluster, kafka, records } = stage;
  await stage.join();
  cluster.removeMembers(groupId);
  await time.pass(5_000);
  assert.equal(stage.isHeld, false, 'it cannot know');

  records[0]?.done();
  await time.pass(500);
  assert.equal(stage.isHeld, true);
  await stage.publish('meanwhile');
  await time.pass(14_000);
  assert.equal(records.length, 1);
  assert.equal(kafka.refusal(), undefined);
  assert.equal(records[0]?.revoked, false);
  await time.pass(1_000);
  assert.equal(kafka.refusal()?.code, 'kafka-refused-commits');
  assert.ok(kafka.refusals().commits > 10);

  await time.until(() => records.length === 3);
  assert.deepEqual(
    records.map(({ revoked }) => revoked),
    [true, false, false],
  );
  assert.deepEqual([stage.members, stage.isHeld, kafka.refusal()], [1, false, undefined]);
  for (const record of records) record.done();
  await time.until(() => stage.committed === 2);
});

test('a replica whose records are refused for its clock leaves the group, and joins it when they are accepted', async () => {
  await using stage = new Stage();
  const { time, cluster, kafka, records } = stage;
  await stage.join();
  cluster.refusesClock = true;
  const published = kafka.publisher().publish({ topic, key: 'k', value: 'refused' });
  await time.pass(10_000);
  records[0]?.done();
  assert.deepEqual([stage.members, stage.isHeld, kafka.refusal()], [1, false, undefined]);

  await time.pass(10_000);
  assert.equal(kafka.refusal()?.code, 'kafka-refused-clock');
  assert.deepEqual([stage.members, stage.isHeld], [0, true]);
  assert.equal(stage.committed, 1, 'what had finished');
  await time.pass(300_000);
  assert.equal(stage.members, 0);

  cluster.refusesClock = false;
  await time.settled(published);
  assert.equal(kafka.refusal(), undefined);
  await time.until(() => stage.members === 1 && records.length === 2);
  assert.equal(stage.isHeld, false);
});

test('where nothing is left that could be accepted, a replica with a refused clock tries it again after a minute', async () => {
  await using stage = new Stage();
  const { time, cluster, kafka } = stage;
  await stage.join();
  cluster.refusesClock = true;
  const impatient = kafka.publisher({ giveUpAfterMs: 20_000 });
  const refused = assert.rejects(impatient.publish({ topic, key: 'k', value: 'refused' }));
  await time.pass(25_000);
  await refused;
  assert.equal(stage.members, 0);
  await time.pass(65_000);
  assert.deepEqual([stage.members, kafka.refusal()], [1, undefined]);
});
