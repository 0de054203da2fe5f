import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Lane, type Signal, type Task } from './lane.ts';

const waitingTask: Task = {
  bytes: 10,
  requests: 1,
  run: () => Promise.resolve('quick'),
  putOff: () => undefined,
};

/** Runs rounds of as many tasks as the lane takes at once, each ending with `signal` after `tookMs`. */
function runRounds(lane: Lane, rounds: number, signal: Signal, tookMs: number, from: number): number {
  let now = from;
  for (let round = 0; round < rounds; round += 1) {
    for (let count = 0; count < 200; count += 1) lane.push(waitingTask);
    let started = 0;
    while (lane.startsIn(now) === 0 && lane.start(now)) started += 1;
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
    lane.push(waitingTask);
    lane.start(now);
    lane.finished('quick', 10, now + 10);
  }
  assert.equal(lane.concurrency, 8);
});

/** Takes on `count` tasks and keeps as many in flight as it may, each of which takes `tookMs`, for `forMs`. */
function keepBusy(lane: Lane, count: number, tookMs: number, forMs: number): void {
  for (let task = 0; task < count; task += 1) lane.push(waitingTask);
  const ends: number[] = [];
  for (let now = 0; now <= forMs; now += 1) {
    for (; ends[0] === now; ends.shift()) lane.finished('steady', tookMs, now);
    while (lane.startsIn(now) === 0 && lane.start(now)) ends.push(now + tookMs);
  }
}

test('the wait follows from how long tasks take, and how many are in flight', () => {
  const lane = new Lane(8);
  for (let count = 0; count < 1_000; count += 1) lane.push(waitingTask);
  assert.equal(lane.waitMs(0), 0, 'nothing is known yet');
  keepBusy(lane, 0, 160, 5_000);
  // Eight in flight for 160 ms each are 50 a second.
  const expectedMs = lane.waiting * 20;
  assert.ok(Math.abs(lane.waitMs(5_000) - expectedMs) < expectedMs / 10, `${lane.waitMs(5_000)}`);
});

test('a receiver that says nothing is as slow as it has been silent', () => {
  const lane = new Lane(8);
  for (let count = 0; count < 108; count += 1) lane.push(waitingTask);
  while (lane.startsIn(0) === 0) lane.start(0);
  assert.equal(lane.waitMs(4_000), (100 * 4_000) / 8);
});

test('with a rate limit, the wait is what the limit makes it', () => {
  const lane = new Lane(8);
  lane.limitRate(10);
  for (let count = 0; count < 100; count += 1) lane.push({ ...waitingTask, requests: 2 });
  assert.equal(lane.waitMs(0), 20_000);
});

test('after a 429 it is no faster than what was taken', () => {
  const lane = new Lane(64);
  for (let count = 0; count < 200; count += 1) lane.push(waitingTask);
  for (let now = 0; now < 1_000; now += 20) {
    lane.start(now);
    lane.finished('quick', 5, now + 5);
  }
  assert.equal(lane.rate, Infinity);
  lane.start(1_000);
  lane.finished('throttled', 5, 1_005);
  assert.ok(lane.rate > 30 && lane.rate <= 50, `${lane.rate}`);
});

describe('promised places', () => {
  test('follow each other at the rate of the lane, and are used up at it', () => {
    const lane = new Lane(8);
    keepBusy(lane, 500, 160, 2_000);
    const now = 2_000;
    for (let count = 0; count < 1_000; count += 1) lane.promise(now);
    // By now it has been putting off for long enough to look far ahead.
    const later = now + 10_000;
    while (lane.running > 0) lane.finished('steady', 160, later);
    const first = lane.promise(later);
    for (let count = 0; count < 500; count += 1) lane.promise(later);
    const last = lane.promise(later);
    const wait = lane.waitMs(later) / lane.waiting;
    assert.ok(Math.abs(last - first - 501 * wait) < 1, `${last - first}`);
    assert.ok(lane.owes(later));
    assert.ok(!lane.owes(later + 1_002 * wait));
  });

  test('are not far ahead while little is known', () => {
    const lane = new Lane(8);
    for (let count = 0; count < 1_000; count += 1) lane.push(waitingTask);
    while (lane.startsIn(0) === 0) lane.start(0);
    for (let count = 0; count < 10; count += 1) assert.equal(lane.promise(3_000), 0);
    assert.equal(lane.promise(3_500), 5_000);
  });

  test('do not hold up a lane that has become faster', () => {
    const lane = new Lane(8);
    for (let count = 0; count < 8; count += 1) lane.push(waitingTask);
    while (lane.startsIn(0) === 0) lane.start(0);
    for (let count = 0; count < 1_000; count += 1) lane.promise(5_000);
    assert.ok(lane.owes(6_000));
    for (let count = 0; count < 8; count += 1) lane.finished('quick', 5_000, 7_000);
    keepBusy(lane, 200, 1, 8_000);
    assert.ok(!lane.owes(9_000));
  });
});
