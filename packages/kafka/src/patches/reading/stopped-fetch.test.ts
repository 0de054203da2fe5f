import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { original, patched } from '../testing/original.ts';
import { silent } from '../testing/silent.ts';

type RunnerClass = new (options: object) => { start(): Promise<void>; stop(): Promise<void> };

/** Without it, the original would repeat its fetches forever. */
const mostFetches = 1_000;

/** The fetches that a consumer begins after it was stopped, while those of a broker that is not there any more were ending. */
async function fetchesAfterStop(load: typeof original): Promise<number> {
  let brokers = ['1', '2'];
  let isStopped = false;
  let fetches = 0;
  const answers = { 1: Promise.withResolvers<[]>(), 2: Promise.withResolvers<[]>() };
  const consumerGroup = {
    state: 'joined',
    connect: () => Promise.resolve(),
    joinAndSync: () => Promise.resolve(),
    heartbeat: () => Promise.resolve(),
    leave: () => Promise.resolve(),
    fetch: (nodeId: 1 | 2) => answers[nodeId].promise,
    getNodeIds() {
      if (isStopped) fetches += 1;
      if (fetches >= mostFetches) throw new Error('the consumer does not end');
      return brokers;
    },
  };
  const runner = new (load('consumer/runner') as RunnerClass)({
    consumerGroup,
    logger: silent,
    instrumentationEmitter: { emit: () => undefined },
    retry: { initialRetryTime: 1, maxRetryTime: 1, retries: 5 },
    onCrash: (error: unknown) => {
      assert.ifError(error);
    },
  });
  await runner.start();
  brokers = ['1'];
  answers[1].resolve([]);
  await nextTurn();
  isStopped = true;
  const stopped = runner.stop();
  answers[2].resolve([]);
  await stopped;
  return fetches;
}

test('a consumer that is stopped while the brokers change ends', async () => {
  assert.ok((await fetchesAfterStop(patched)) < 10);
});

test('the original repeats its fetches in one turn of the event loop', async () => {
  assert.equal(await fetchesAfterStop(original), mostFetches);
});
