import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { allSources, encodeDeleted, encodeSuppressed, suppressedKey } from './record.ts';
import { openSuppressions } from './view.ts';

const topic = 'suppressions';
const at = (hour: number): string => new Date(Date.UTC(2026, 10, 22, hour)).toISOString();

test('the view follows suppressions and deletions, and tombstones lift them', async () => {
  const cluster = new MemoryCluster();
  cluster.createTopic(topic);
  await using kafka = cluster.connect();
  const publisher = kafka.publisher();
  const warned: unknown[] = [];
  const log = { warn: (fields: unknown) => void warned.push(fields) };
  await publisher.publish(encodeSuppressed(topic, { kind: 'suppressed', userId: 'ada', since: at(1) }));
  await publisher.publish({ topic, key: 'unknown/ada', value: '{}' });
  const view = await openSuppressions({ kafka, topic, log });
  assert.deepEqual([view.isSuppressed('ada'), view.isSuppressed('bob'), view.size], [true, false, 1]);
  assert.deepEqual(warned, [{ topic, offset: 1 }]);
  assert.equal(view.deletedUntil('web', 'ada'), undefined);

  const before = { partition: 1, offset: 7 };
  const bob = { kind: 'deleted', userId: 'bob' } as const;
  await publisher.publish(
    encodeDeleted(topic, { ...bob, scope: allSources, requests: [{ id: 'r-1', at: at(2), before }] }),
  );
  await publisher.publish(
    encodeDeleted(topic, { ...bob, scope: 'web', requests: [{ id: 'r-2', at: at(3) }] }),
  );
  await publisher.publish({ topic, key: suppressedKey('ada'), value: null });
  await view.refresh();
  assert.equal(view.isSuppressed('ada'), false);
  assert.equal(view.isSuppressed('bob'), false, 'a deleted user is not suppressed');
  assert.equal(view.deletedUntil('web', 'bob'), Date.parse(at(3)), 'the later one counts');
  assert.equal(view.deletedUntil('app', 'bob'), Date.parse(at(2)));
  assert.deepEqual(view.deletionsOf('app', 'bob'), [{ at: Date.parse(at(2)), before }]);
  assert.deepEqual(view.deletionsOf('web', 'bob'), [
    { at: Date.parse(at(2)), before },
    { at: Date.parse(at(3)), before: undefined },
  ]);
  assert.deepEqual(view.deletionsOf('web', 'ada'), []);
  assert.equal(view.size, 2);

  const router = await openSuppressions({ kafka, topic, log, only: 'suppressed' });
  assert.equal(router.size, 0, 'a service keeps only the records that it needs');
  await Promise.all([view.close(), router.close()]);
});
