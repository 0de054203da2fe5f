import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from '@tailrace/testing';
import { MemoryCluster } from './testing/cluster.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('a consumer that is still joining when its client closes leaves the group', async () => {
  const cluster = new MemoryCluster();
  cluster.createTopic('events');
  const kafka = cluster.connect();
  const joining = kafka.consume({ groupId: 'group', topics: ['events'], onRecord: () => undefined });
  await kafka.close();
  await joining;
  await using other = cluster.connect();
  assert.equal((await other.inspectGroup('group', ['events'])).members, 0);
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
  await eventually(
    () => {
      collectGarbage();
      return closed.filter((reference) => reference.deref() !== undefined).length;
    },
    (left) => left === 0,
  );
  await kafka.close();
});
