import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilCollected } from '@tailrace/testing';
import { TaskQueue } from './queue.ts';
import type { Task } from './task.ts';

function taskOf(since: number): Task {
  return {
    traffic: 'live',
    returned: false,
    bytes: 10,
    requests: 1,
    revoked: since % 3 === 0,
    since,
    run: () => Promise.resolve({ signal: 'none' }),
    defer: () => undefined,
  };
}

test('a queue keeps nothing of a task that was taken, with or without others behind it', async () => {
  const [emptied, busy] = [new TaskQueue(), new TaskQueue()];
  /** In a function of its own, whose variables end with it. */
  const take = (queue: TaskQueue): WeakRef<Task> => {
    queue.push(taskOf(1));
    const task = queue.takeFirst();
    assert.ok(task);
    return new WeakRef(task);
  };
  const taken = [take(emptied)];
  taken.push(take(busy));
  busy.push(taskOf(2));
  await untilCollected(taken);
  assert.deepEqual([emptied.count, busy.count, busy.first?.since], [0, 1, 2]);
});

test('tasks are taken from both ends, and those of revoked partitions from anywhere', () => {
  const queue = new TaskQueue();
  const waiting: number[] = [];
  for (let since = 1; since <= 2_000; since += 1) {
    queue.push(taskOf(since));
    waiting.push(since);
    if (since % 2 === 0) assert.equal(queue.takeFirst()?.since, waiting.shift());
    if (since % 7 === 0) assert.equal(queue.takeLast()?.since, waiting.pop());
    assert.deepEqual(
      [queue.count, queue.bytes, queue.first?.since],
      [waiting.length, waiting.length * 10, waiting[0]],
    );
  }
  const revoked = waiting.filter((since) => since % 3 === 0);
  assert.deepEqual(
    queue.takeRevoked().map(({ since }) => since),
    revoked,
  );
  const left = waiting.filter((since) => since % 3 !== 0);
  assert.deepEqual([queue.count, queue.bytes], [left.length, left.length * 10]);
  while (left.length > 0) assert.equal(queue.takeFirst()?.since, left.shift());
  assert.deepEqual([queue.count, queue.takeFirst(), queue.takeLast()], [0, undefined, undefined]);
});
