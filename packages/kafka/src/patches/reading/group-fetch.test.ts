import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Consumer } from 'kafkajs';
import { original, patched } from '../testing/original.ts';
import { silent } from '../testing/silent.ts';
import { decideFetches, type PartitionAnswer } from './group-fetch.ts';

interface Batch {
  readonly partition: number;
  readonly messages: readonly { readonly offset: number }[];
}

interface Group {
  readonly subscriptionState: { assign(assigned: object): void; pause(paused: object): void };
  offsetManager: object;
  fetch(nodeId: string): Promise<readonly Batch[]>;
}

const maxWaitTimeInMs = 5_000;

/** A group member with three partitions, of which the second has a record and the third is paused. */
function start(load: typeof original) {
  const waits: number[] = [];
  const record = { offset: 3, isControlRecord: false, batchContext: { inTransaction: false } };
  const answered = (partition: number, messages: readonly object[]) => ({
    partition,
    highWatermark: '4',
    abortedTransactions: [],
    bytes: 100,
    messages,
  });
  const broker = {
    fetch: ({ maxWaitTime }: { maxWaitTime: number }) => {
      waits.push(maxWaitTime);
      return Promise.resolve({
        responses: [{ topicName: 't', partitions: [answered(0, []), answered(1, [record])] }],
      });
    },
  };
  const cluster = {
    brokerPool: { metadata: {} },
    refreshMetadataIfNecessary: () => Promise.resolve(),
    findTopicPartitionMetadata: () => [0, 1, 2].map((partitionId) => ({ partitionId, leader: 1 })),
    findBroker: () => Promise.resolve(broker),
  };
  const options = { cluster, groupId: 'g', logger: silent, retry: {}, maxWaitTimeInMs };
  const consumer = (load('consumer/index') as (options: object) => Consumer)(options);
  const join = (): Group => {
    const group = new (load('consumer/consumerGroup') as new (options: object) => Group)(options);
    group.subscriptionState.assign([{ topic: 't', partitions: [0, 1, 2] }]);
    group.subscriptionState.pause([{ topic: 't', partitions: [2] }]);
    group.offsetManager = {
      committedOffsets: () => ({ t: { 0: '3', 1: '3', 2: '3' } }),
      nextOffset: () => 3,
      resolveOffsets: () => Promise.resolve(),
    };
    return group;
  };
  return { consumer, join, waits };
}

test('a fetch passes on the partitions that have records', async () => {
  const before = await start(original).join().fetch('1');
  assert.deepEqual(
    before.map(({ partition }) => partition),
    [0, 1],
    'the original passes on empty batches',
  );
  const after = await start(patched).join().fetch('1');
  assert.deepEqual(
    after.map(({ partition, messages }) => [partition, messages.map(({ offset }) => offset)]),
    [[1, [3]]],
  );
});

test('each fetch is asked how long it may wait, and reports what its answer shows', async () => {
  const { consumer, join, waits } = start(patched);
  const answers: PartitionAnswer[] = [];
  let waitMs = 100;
  decideFetches(consumer, { waitMs: () => (waitMs += 1), onAnswer: (answer) => answers.push(answer) });
  const group = join();
  await group.fetch('1');
  await group.fetch('1');
  assert.deepEqual(waits, [101, 102]);
  assert.deepEqual(answers.slice(0, 2), [
    { topic: 't', partition: 0, fetchedFrom: 3, end: 4, isAtEnd: false },
    { topic: 't', partition: 1, fetchedFrom: 3, end: 4, isAtEnd: false },
  ]);
});

test('each fetch of the original, and of a consumer without a decision, waits equally long', async () => {
  for (const load of [original, patched]) {
    const { join, waits } = start(load);
    const group = join();
    await group.fetch('1');
    await group.fetch('1');
    assert.deepEqual(waits, [maxWaitTimeInMs, maxWaitTimeInMs]);
  }
});
