import assert from 'node:assert/strict';
import test from 'node:test';
import { simulateTime } from '@tailrace/testing';
import type { Admin } from '../patches/reading/admin-requests.ts';
import { committedOffsets, topicOffsets, topicOffsetsSince } from './offsets.ts';

/** The library, which for a moment answers as if a topic had no partitions. */
function forgetfulAdmin() {
  let asked = 0;
  const isForgotten = (): boolean => ++asked <= 2;
  const admin = {
    fetchOffsets: ({ topics }: { topics: readonly string[] }) =>
      Promise.resolve(
        topics.map((topic, place) => ({
          topic,
          partitions: place === 1 && isForgotten() ? [] : [{ partition: 0, offset: '42', metadata: null }],
        })),
      ),
    fetchTopicOffsets: () =>
      Promise.resolve(isForgotten() ? [] : [{ partition: 0, offset: '7', high: '7', low: '0' }]),
    listGroups: () => Promise.resolve({ groups: [] }),
  };
  return admin as unknown as Admin;
}

test('a response without partitions is requested again, and does not count as an empty topic', async () => {
  using time = simulateTime();
  const committed = await time.settled(committedOffsets(forgetfulAdmin(), 'group', ['a', 'b']));
  assert.deepEqual(
    committed.map(({ topic, partitions }) => [topic, partitions[0]?.offset]),
    [
      ['a', '42'],
      ['b', '42'],
    ],
  );
  const [ends] = await time.settled(topicOffsets(forgetfulAdmin(), 'a'));
  assert.equal(ends?.high, '7');
});

test('a time before 1970 is that of the first record', async () => {
  const asked: (number | undefined)[] = [];
  const admin = {
    fetchTopicOffsetsByTimestamp: (_topic: string, time?: number) => {
      asked.push(time);
      return Promise.resolve([{ partition: 0, offset: '7' }]);
    },
  } as unknown as Admin;
  // Kafka takes -1 for the end of the partition and -2 for its beginning, and refuses other negative times.
  for (const time of [-1, -2, Date.parse('1960-01-01'), 5]) await topicOffsetsSince(admin, 'a', time);
  assert.deepEqual(asked, [0, 0, 0, 5]);
});
