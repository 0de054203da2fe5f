import assert from 'node:assert/strict';
import { test } from 'node:test';
import { original, patched } from '../testing/original.ts';
import { silent } from '../testing/silent.ts';

interface Group {
  memberId: string | null;
  joinAndSync(): Promise<unknown>;
  fetch(nodeId: string): Promise<unknown>;
}

interface Runner {
  running: boolean;
  fetch(nodeId: string): Promise<unknown>;
}

/** A consumer that runs, whose group cannot be joined because brokers are away, and its fetches. */
function open(load: typeof original) {
  const fetched: string[] = [];
  const cluster = { findGroupCoordinator: () => Promise.reject(new Error('no broker')) };
  const instrumentationEmitter = { emit: () => undefined };
  const options = { cluster, groupId: 'g', logger: silent, retry: {}, instrumentationEmitter };
  const group = new (load('consumer/consumerGroup') as new (options: object) => Group)(options);
  group.fetch = (nodeId) => Promise.resolve(fetched.push(nodeId));
  const runner = new (load('consumer/runner') as new (options: object) => Runner)({
    ...options,
    consumerGroup: group,
  });
  runner.running = true;
  return { runner, group, fetched };
}

test('what could not join its group fetches nothing, and is told to join', async () => {
  for (const [memberId, type] of [
    [null, 'UNKNOWN_MEMBER_ID'],
    ['m', 'REBALANCE_IN_PROGRESS'],
  ] as const) {
    const before = open(original);
    before.group.memberId = memberId;
    await assert.rejects(before.group.joinAndSync(), { message: 'no broker' });
    await before.runner.fetch('1');
    assert.deepEqual(before.fetched, ['1'], 'the original fetches');

    const { runner, group, fetched } = open(patched);
    group.memberId = memberId;
    await assert.rejects(group.joinAndSync(), { message: 'no broker' });
    await assert.rejects(runner.fetch('1'), { type });
    assert.deepEqual(fetched, []);
  }
});
