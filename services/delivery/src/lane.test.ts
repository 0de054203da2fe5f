import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lane, type Signal, type Task } from './lane.ts';

const task: Task = { bytes: 10, requests: 1, run: () => Promise.resolve('quick'), putOff: () => undefined };

/** Runs rounds of as many tasks as the lane takes at once, each ending with `signal` after `tookMs`. */
function runRounds(lane: Lane, rounds: number, signal: Signal, tookMs: number, from: number): number {
  let now = from;
  for (let round = 0; round < rounds; round += 1) {
    for (let count = 0; count < 200; count += 1) lane.push(task, now);
    let started = 0;
    while (lane.startsIn(now) === 0 && lane.start()) started += 1;
    now += tookMs;
    for (let count = 0; count < started; count += 1) lane.finished(signal, tookMs, now);
    while (lane.dropLast());
  }
  return now;
}

test('the concurrency doubles with each round of quick answers, up to its limit', () => {
  const lane = new Lane(64);
  const atFirst = lane.concurrency;
  const now = runRounds(lane, 1, 'quick', 10, 0);
  const afterOneRound = lane.concurrency;
  runRounds(lane, 60, 'quick', 10, now);
  assert.equal(atFirst, 8);
  assert.ok(afterOneRound > 8, `${afterOneRound}`);
  assert.equal(lane.concurrency, 64);
});

test('it is halved once for each round of timeouts, and never below one', () => {
  const lane = new Lane(64);
  let now = runRounds(lane, 60, 'quick', 10, 0);
  now = runRounds(lane, 1, 'overloaded', 5_000, now);
  assert.equal(lane.concurrency, 32);
  now = runRounds(lane, 1, 'overloaded', 5_000, now);
  assert.equal(lane.concurrency, 16);
  runRounds(lane, 20, 'overloaded', 5_000, now);
  assert.equal(lane.concurrency, 1);
});

test('answers that are slow, or no answers at all, leave it as it is', () => {
  const lane = new Lane(64);
  runRounds(lane, 5, 'steady', 2_000, 0);
  runRounds(lane, 5, 'none', 0, 20_000);
  assert.equal(lane.concurrency, 8);
});

test('it does not grow while fewer are in flight than may be', () => {
  const lane = new Lane(64);
  for (let now = 0; now < 1_000; now += 10) {
    lane.push(task, now);
    lane.start();
    lane.finished('quick', 10, now + 10);
  }
  assert.equal(lane.concurrency, 8);
});

test('the wait is told from the rate measured while it was busy', () => {
  const lane = new Lane(8);
  for (let count = 0; count < 1_000; count += 1) lane.push(task, 0);
  assert.equal(lane.waitMs(0), 0, 'nothing is measured yet');
  for (let now = 20; now <= 5_000; now += 20) {
    lane.start();
    lane.finished('steady', 20, now);
  }
  // 50 a second, 750 left.
  assert.ok(Math.abs(lane.waitMs(5_000) - 15_000) < 500, `${lane.waitMs(5_000)}`);
});

test('promised places follow each other at the rate measured', () => {
  const lane = new Lane(8);
  for (let count = 0; count < 200; count += 1) lane.push(task, 0);
  for (let now = 20; now <= 2_000; now += 20) {
    lane.start();
    lane.finished('steady', 20, now);
  }
  const first = lane.promise(2_000);
  for (let count = 0; count < 500; count += 1) lane.promise(2_000);
  const last = lane.promise(2_000);
  assert.ok(Math.abs(last - first - 501 * 20) < 200, `${last - first}`);
  assert.ok(lane.owes(2_000));
  assert.ok(!lane.owes(2_000 + last + 10_000));
});
