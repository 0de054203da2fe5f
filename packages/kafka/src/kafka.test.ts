import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryCluster } from './testing/cluster.ts';

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
