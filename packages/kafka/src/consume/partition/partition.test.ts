import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { PartitionLimits } from './limits.ts';
import { Partition } from './partition.ts';
import { decodeProgress } from './progress.ts';

function started(limits: PartitionLimits): Partition {
  const partition = new Partition('topic', 3, limits);
  partition.start(100);
  return partition;
}

test('a partition tracks no record before its start offset is known', () => {
  const partition = new Partition('topic', 0, { records: 1, bytes: 1 });
  assert.equal(partition.located, false);
  assert.throws(() => partition.track(0, 1));
  partition.start(5);
  assert.equal(partition.located, true);
  assert.deepEqual([partition.next, partition.committable, partition.lag], [5, 5, 0]);
});

test('a partition is full by records or by bytes, and has capacity again when half of that is finished', () => {
  for (const limits of [
    { records: 4, bytes: 1_000 },
    { records: 1_000, bytes: 40 },
  ]) {
    const partition = started(limits);
    const marks = [];
    for (let offset = 100; offset < 104; offset++) {
      assert.equal(partition.full, false);
      marks.push(partition.track(offset, 10));
    }
    assert.equal(partition.full, true);
    const [first, second] = marks;
    assert.ok(first && second);
    partition.finish(first, 10);
    assert.deepEqual([partition.full, partition.hasCapacity], [false, false]);
    partition.finish(second, 10);
    assert.equal(partition.hasCapacity, true);
  }
});

test('one unfinished record does not fill a partition, regardless of how many finish behind it', () => {
  const partition = started({ records: 10, bytes: 1_000 });
  const stuck = partition.track(100, 1);
  let offset = 101;
  while (offset < 5_101) partition.finish(partition.track(offset++, 1), 1);
  assert.deepEqual([partition.full, partition.hasCapacity, partition.uncommitted], [false, true, 5_001]);
  const isFinished = partition.finishedNow();
  assert.deepEqual([100, 101, 5_100, 5_101].map(isFinished), [false, true, true, false]);
  assert.ok(partition.progress.metadata.length < 20, partition.progress.metadata);
  partition.finish(stuck, 1);
  assert.deepEqual([partition.full, partition.uncommitted, partition.committable], [false, 0, offset]);
});

test('a partition is full by the finished ranges behind an unfinished record, before they do not fit into a commit', () => {
  const partition = started({ records: 10_000, bytes: 1_000_000, gaps: 900 });
  const unfinished = [];
  let offset = 100;
  while (!partition.full) {
    unfinished.push(partition.track(offset++, 1));
    // Two bytes of the text for each range.
    for (let count = 0; count < 200; count += 1) partition.finish(partition.track(offset++, 1), 1);
  }
  assert.equal(unfinished.length, 900);
  const { offset: committed, metadata } = partition.progress;
  const ranges = decodeProgress(Number(committed), metadata);
  assert.deepEqual([ranges.length, ranges.at(-1)?.to], [900, offset]);
  for (const mark of unfinished.splice(0, 449)) partition.finish(mark, 1);
  assert.equal(partition.hasCapacity, false);
  for (const mark of unfinished.splice(0, 1)) partition.finish(mark, 1);
  assert.equal(partition.hasCapacity, true);
});

test('a commit names what earlier owners finished and this one has not read yet', () => {
  const owned = fc.record({
    reads: fc.nat({ max: 60 }),
    finishes: fc.func<[number], boolean>(fc.boolean()),
  });
  fc.assert(
    fc.property(fc.array(owned, { minLength: 2, maxLength: 5 }), (owners) => {
      const finished = new Set<number>();
      let committed: Partition['progress'] = { offset: '0', metadata: '' };
      for (const { reads, finishes } of owners) {
        const partition = new Partition('topic', 0, { records: 1_000, bytes: 1_000_000 });
        const start = Number(committed.offset);
        partition.start(start, decodeProgress(start, committed.metadata));
        for (let offset = start; offset < start + reads; offset += 1) {
          assert.equal(partition.finishedBefore(offset), finished.has(offset), `offset ${offset}`);
          if (finished.has(offset)) {
            partition.skipFinished(offset);
            continue;
          }
          const mark = partition.track(offset, 1);
          if (!finishes(offset)) continue;
          partition.finish(mark, 1);
          finished.add(offset);
        }
        committed = partition.progress;
      }
    }),
  );
});

test('the lag counts from the watermark to the end of the partition', () => {
  const partition = started({ records: 10, bytes: 1_000 });
  partition.sawEnd(150, 0);
  const mark = partition.track(100, 1);
  partition.track(120, 1);
  assert.equal(partition.lag, 50);
  partition.finish(mark, 1);
  assert.equal(partition.lag, 30);
});

test('a revoked partition has no unfinished work', () => {
  const partition = started({ records: 10, bytes: 1_000 });
  partition.track(100, 1);
  partition.revoke();
  assert.deepEqual([partition.revoked, partition.unfinished], [true, 0]);
});
