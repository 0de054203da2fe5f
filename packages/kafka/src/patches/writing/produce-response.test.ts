import assert from 'node:assert/strict';
import { test } from 'node:test';
import { original, patched } from '../testing/original.ts';
import type { PartitionResult } from './produce-response.ts';

interface Thrown {
  readonly retriable: boolean;
  readonly type: string;
  readonly results?: readonly PartitionResult[];
}

interface Response {
  parse(answer: object): Promise<unknown>;
}

/** The error of a response with these error codes of partitions. */
function thrown(load: typeof original, ...codes: number[]): Promise<Thrown | undefined> {
  const partitions = codes.map((errorCode, partition) => ({ partition, errorCode }));
  const answer = { topics: [{ topicName: 't', partitions }] };
  return (load('protocol/requests/produce/v7/response') as Response).parse(answer).then(
    () => undefined,
    (error: unknown) => error as Thrown,
  );
}

const notLeader = 6;
const notEnoughReplicas = 19;

test('an error names the partitions that failed, and the library repeats the request only to find another leader', async () => {
  assert.equal(await thrown(patched, 0, 0), undefined);
  const tooFewReplicas = await thrown(patched, 0, notEnoughReplicas);
  assert.deepEqual(
    tooFewReplicas?.results?.map(({ error }) => error),
    [undefined, 'NOT_ENOUGH_REPLICAS'],
  );
  assert.equal(tooFewReplicas.retriable, false);
  assert.equal((await thrown(patched, notLeader, 0))?.retriable, true);
  assert.equal((await thrown(patched, notLeader, notEnoughReplicas))?.retriable, false);
});

test('an error of the original names no partition, and the whole request is repeated', async () => {
  const error = await thrown(original, 0, notEnoughReplicas);
  assert.equal(error?.type, 'NOT_ENOUGH_REPLICAS');
  assert.equal(error.retriable, true);
  assert.equal(error.results, undefined);
});
