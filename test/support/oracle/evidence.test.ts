import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogLine } from '../processes/process.ts';
import { movesIn } from './evidence.ts';

const start = Date.UTC(2026, 10, 28);

function line(at: number, msg: string, more: object = {}): LogLine {
  return { time: new Date(start + at).toISOString(), msg, ...more };
}

/** The replica has joined, and owns these partitions. */
function joined(at: number, partitions: readonly number[], fresh = 0): LogLine {
  return line(at, 'joined the consumer group', { assignment: { deliveries: partitions }, fresh });
}

function movesOf(
  ...logs: readonly LogLine[][]
): (readonly [partitions: number[], from: number, until: number])[] {
  return movesIn(logs, 'deliveries').map(
    ({ partitions, from, until }) => [[...partitions], from - start, until - start] as const,
  );
}

const rebalancing = 'The group is rebalancing, re-joining';

test('a partition that another replica gets is revoked from the start of the rebalance on', () => {
  const moves = movesOf(
    [joined(1_000, [0, 1], 2), line(5_000, rebalancing), joined(7_000, [0])],
    [joined(6_990, [1], 1)],
  );
  assert.deepEqual(moves, [[[1], 5_000, 7_000]]);
});

test('a replica that Kafka removed while it did not run may have committed last a session before the next owner joined', () => {
  const moves = movesOf(
    [joined(1_000, [0, 1], 2), joined(30_000, [1], 1)],
    [joined(2_000, []), line(20_000, rebalancing), joined(21_000, [0, 1], 2)],
  );
  assert.deepEqual(moves, [
    [[0, 1], 30_000, 30_000],
    [[0], 10_000, 21_000],
    [[1], 10_000, 21_000],
  ]);
});
