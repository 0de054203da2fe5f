import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateTime, untilCollected } from '@tailrace/testing';
import type { TrackedRecord } from './consume/partition/tracked-record.ts';
import type { Kafka } from './kafka.ts';
import { MemoryCluster } from './testing/cluster.ts';

test('a consumer that is still joining when its client closes leaves the group', async () => {
  const cluster = new MemoryCluster();
  cluster.createTopic('events');
  const kafka = cluster.connect();
  const joining = kafka.consume({ groupId: 'group', topics: ['events'], onRecord: () => undefined });
  await Promise.allSettled([kafka.close(), joining]);
  await using other = cluster.connect();
  assert.equal((await other.inspectGroup('group', ['events'])).members, 0);
});

test('a consumer or follower that waits for brokers ends when its client closes', async () => {
  const cluster = new MemoryCluster();
  cluster.createTopic('events');
  const open = {
    consume: (kafka: Kafka) => kafka.consume({ groupId: 'g', topics: ['events'], onRecord: () => undefined }),
    follow: (kafka: Kafka) => kafka.follow({ topic: 'events', onRecord: () => undefined }),
  };
  for (const [kind, wasReached] of [
    ['consume', false],
    ['consume', true],
    ['follow', true],
  ] as const) {
    cluster.start();
    const warned = Promise.withResolvers<undefined>();
    const ignore = (): void => undefined;
    const warn = (): void => {
      warned.resolve(undefined);
    };
    const kafka = cluster.connect({ debug: ignore, info: ignore, warn, error: ignore });
    if (wasReached) await kafka.ping();
    cluster.stop();
    const opening = open[kind](kafka);
    await warned.promise;
    await Promise.all([kafka.close(), assert.rejects(opening, { code: 'shutting-down' })]);
  }
});

test('a client of Kafka keeps nothing of what was closed', async () => {
  const cluster = new MemoryCluster();
  const kafka = cluster.connect();
  cluster.createTopic('events');
  await kafka.publisher().publish({ topic: 'events', key: 'k', value: 'v' });
  /** In a function of its own, whose variables end with it. */
  const openAndClose = async (): Promise<WeakRef<object>[]> => {
    const resources = [await kafka.scan({ topic: 'events' }), await kafka.exclusivePublisher('id')];
    for (const resource of resources) await resource.close();
    return resources.map((resource) => new WeakRef(resource));
  };
  const closed = await openAndClose();
  await untilCollected(closed);
  await kafka.close();
});

test('a consumer waits for unfinished work when it closes, if it is told to', async () => {
  using time = simulateTime();
  const cluster = new MemoryCluster();
  const kafka = cluster.connect();
  cluster.createTopic('events');
  await time.settled(kafka.publisher().publish({ topic: 'events', key: 'k', value: 'v' }));
  const received: TrackedRecord[] = [];
  const onRecord = (record: TrackedRecord): void => void received.push(record);
  const joining = kafka.consume({ groupId: 'group', topics: ['events'], onRecord });
  const consumption = await time.settled(joining);
  await time.until(() => received.length === 1);
  let isClosed = false;
  const closing = consumption.close({ drainTimeoutMs: 60_000 }).then(() => (isClosed = true));
  await time.pass(30_000);
  assert.equal(isClosed, false);
  received[0]?.done();
  await time.settled(closing);
  await time.settled(kafka.close());
});
