/** Commits that are late: nothing new is received or started until finished work is committed. On simulated time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import type { Kafka } from '../kafka.ts';
import { MemoryCluster } from '../testing/cluster.ts';
import type { Consumption } from './consumption.ts';
import type { ConsumeOptions } from './options.ts';
import type { TrackedRecord } from './partition/tracked-record.ts';

const topic = 'events';
const groupId = 'group';

/** A member of a group that finishes each record as it arrives. */
class Stage implements AsyncDisposable {
  readonly time = simulateTime();
  readonly cluster = new MemoryCluster();
  readonly kafka: Kafka = this.cluster.connect();
  readonly offsets: number[] = [];
  /** What `onHold` was called with. */
  readonly holds: boolean[] = [];
  #consumption: Consumption | undefined;

  async join(options: Partial<ConsumeOptions> = {}): Promise<Consumption> {
    this.cluster.createTopic(topic);
    const joining = this.kafka.consume({
      groupId,
      topics: [topic],
      onRecord: (record) => {
        this.offsets.push(record.offset);
        record.done();
      },
      onHold: (held) => this.holds.push(held),
      ...options,
    });
    this.#consumption = await this.time.settled(joining);
    // Of the first join.
    this.holds.length = 0;
    return this.#consumption;
  }

  async write(...values: readonly string[]): Promise<void> {
    const publisher = this.kafka.publisher();
    await this.time.settled(
      Promise.all(values.map((value) => publisher.publish({ topic, key: 'k', value }))),
    );
  }

  get committed(): number {
    return this.cluster.group(groupId).offsets.get(`${topic}/0`)?.offset ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cluster.resumeOffsetCommits();
    this.cluster.start();
    await this.time.settled(this.kafka.close());
    this.time[Symbol.dispose]();
  }
}

test('where a commit is not answered nothing is received from 2 s after the oldest work has finished, until it is', async () => {
  await using stage = new Stage();
  const { time, cluster, offsets, holds } = stage;
  const consumption = await stage.join();
  cluster.pauseOffsetCommits();
  await stage.write('a');
  await time.until(() => offsets.length === 1);
  await time.pass(1_900);
  await stage.write('b');
  await time.until(() => offsets.length === 2);
  assert.deepEqual(holds, []);
  await consumption.check();

  await time.pass(100);
  assert.deepEqual(holds, [true]);
  assert.ok(consumption.uncommittedMs >= 2_000);
  await assert.rejects(consumption.check(), { code: 'kafka-unavailable', message: /commits .* are late/ });
  await stage.write('c');
  await time.pass(60_000);
  assert.deepEqual(offsets, [0, 1]);

  cluster.resumeOffsetCommits();
  await time.until(() => offsets.length === 3 && stage.committed === 3);
  assert.deepEqual(holds, [true, false]);
  assert.equal(consumption.uncommittedMs, 0);
  await consumption.check();
});

test('commits that fail are late too, and are made when brokers can be reached again', async () => {
  await using stage = new Stage();
  const { time, cluster, offsets, holds } = stage;
  const records: TrackedRecord[] = [];
  await stage.join({ onRecord: (record) => void records.push(record) });
  await stage.write('a');
  await time.until(() => records.length === 1);
  cluster.stop();
  await time.pass(60_000);
  assert.deepEqual(holds, [], 'nothing has finished');

  records[0]?.done();
  await time.pass(2_000);
  assert.deepEqual(holds, [true]);
  cluster.start();
  await time.until(() => holds.length === 2);
  assert.deepEqual(offsets, []);
  assert.equal(stage.committed, 1);
});

test('commits that are slow are not late', async () => {
  await using stage = new Stage();
  const { time, cluster, holds } = stage;
  await stage.join();
  cluster.offsetCommitMs = 900;
  for (let nth = 0; nth < 300; nth += 1) {
    await stage.write('a');
    await time.pass(100);
  }
  assert.deepEqual(holds, []);
  await time.until(() => stage.committed === 300);
});
