import assert from 'node:assert/strict';
import { test } from 'node:test';
import { original, patched } from '../testing/original.ts';

interface Response {
  parse(metadata: object): Promise<object>;
}

const leaderNotAvailable = 5;

test('a partition without a leader does not fail all other partitions of all topics', async () => {
  const found = () => ({
    topicMetadata: [
      { topic: 'a', topicErrorCode: 0, partitionMetadata: [{ partitionErrorCode: 0, leader: 1 }] },
      {
        topic: 'b',
        topicErrorCode: 0,
        partitionMetadata: [{ partitionErrorCode: leaderNotAvailable, leader: -1 }],
      },
    ],
  });
  const parse = (load: typeof original) =>
    (load('protocol/requests/metadata/v6/response') as Response).parse(found());
  await assert.rejects(parse(original), { type: 'LEADER_NOT_AVAILABLE' });
  assert.deepEqual(
    ((await parse(patched)) as ReturnType<typeof found>).topicMetadata.map(({ partitionMetadata }) =>
      partitionMetadata.map(({ leader }) => leader),
    ),
    [[1], [-1]],
  );
});
