import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Lane } from './lane.ts';
import type { OwnLimits } from './own-limits.ts';
import type { Moment, Signal, Started, Task, Traffic } from './task.ts';

const waitingTask: Task = {
  traffic: 'live',
  returned: false,
  bytes: 10,
  requests: 1,
  since: 0,
  revoked: false,
  run: () => Promise.resolve({ signal: 'quick' }),
  defer: () => undefined,
};

/** A moment of an idle process, in which both clocks run alike. */
function at(now: number): Moment {
  return { now, idle: now };
}

function start(lane: Lane, now: number): Started {
  return lane.start(at(now)) ?? assert.fail('nothing waits');
}

/** Starts all tasks that may start now. */
function startAll(lane: Lane, now: number): Started[] {
  const started: Started[] = [];
  while (lane.startsIn(now) === 0) started.push(start(lane, now));
  return started;
}

function finish(lane: Lane, task: Started, signal: Signal, from: number, now: number): void {
  lane.finished({ ...task, at: at(from) }, { signal }, at(now));
}

function pushMany(lane: Lane, count: number): void {
  for (let task = 0; task < count; task += 1) lane.push(waitingTask);
}

/** Runs rounds of as many tasks as the lane may have in flight, each ending with `signal` after `tookMs`. */
function runRounds(lane: Lane, rounds: number, signal: Signal, tookMs: number, from: number): number {
  let now = from;
  for (let round = 0; round < rounds; round += 1) {
    pushMany(lane, 200);
    const started = startAll(lane, now);
    for (const task of started) finish(lane, task, signal, now, now + tookMs);
    now += tookMs;
    while (lane.dropLast('live'));
  }
  return now;
}

/** A lane at its maximum concurrency, with a receiver that answers after `tookMs`. `limit` sets the limits of its destination. */
function grownLane(concurrency: number, tookMs = 10) {
  let limits: OwnLimits = {};
  const lane = new Lane(concurrency, 0, () => limits);
  const limit = (changed: OwnLimits): void => {
    limits = changed;
  };
  return { lane, limit, now: runRounds(lane, 60, 'quick', tookMs, 0) };
}

test('the concurrency begins with one, and doubles with each round of quick answers up to its limit', () => {
  const lane = new Lane(64, 0);
  const found: number[] = [];
  let now = 0;
  for (let round = 0; round < 8; round += 1) {
    found.push(lane.concurrency);
    now = runRounds(lane, 1, 'quick', 10, now);
  }
  assert.deepEqual(found, [1, 2, 4, 8, 16, 32, 64, 64]);
});

test('the concurrency is halved once for each round of timeouts, and never below one', () => {
  const { lane, now: grownAt } = grownLane(64);
  let now = runRounds(lane, 1, 'overloaded', 5_000, grownAt);
  assert.equal(lane.concurrency, 32);
  now = runRounds(lane, 1, 'overloaded', 5_000, now);
  assert.equal(lane.concurrency, 16);
  runRounds(lane, 20, 'overloaded', 5_000, now);
  assert.equal(lane.concurrency, 1);
});

test('failures reduce the concurrency only where most requests fail', () => {
  const { lane, now } = grownLane(64);
  pushMany(lane, 200);
  for (const [nth, task] of startAll(lane, now).entries()) {
    finish(lane, task, nth % 3 === 0 ? 'failed' : 'quick', now, now + 10);
  }
  assert.equal(lane.concurrency, 64);
  runRounds(lane, 20, 'failed', 10, now + 10);
  assert.equal(lane.concurrency, 1);
});

test('slow answers increase the concurrency by one a round, and attempts that sent nothing leave it unchanged', () => {
  const lane = new Lane(64, 0);
  const now = runRounds(lane, 5, 'steady', 2_000, 0);
  const grown = lane.concurrency;
  assert.ok(grown >= 5 && grown <= 6, `${grown}`);
  runRounds(lane, 5, 'none', 0, now);
  assert.equal(lane.concurrency, grown);
});

test('the concurrency does not grow while fewer tasks are in flight than it permits', () => {
  const lane = new Lane(64, 0);
  const first = runRounds(lane, 2, 'quick', 10, 0);
  for (let now = first; now < first + 1_000; now += 10) {
    lane.push(waitingTask);
    finish(lane, start(lane, now), 'quick', now, now + 10);
  }
  assert.equal(lane.concurrency, 4);
});

/** Adds `count` tasks, and keeps as many in flight as permitted for `forMs`; each takes `tookMs`. */
function keepBusy(lane: Lane, count: number, tookMs: number, from: number, forMs: number): void {
  pushMany(lane, count);
  const running: { readonly task: Started; readonly from: number }[] = [];
  for (let now = from; now <= from + forMs; now += 1) {
    while (running[0] && running[0].from + tookMs === now) {
      const { task, from: startedAt } = running.shift() ?? assert.fail();
      finish(lane, task, 'steady', startedAt, now);
    }
    for (const task of startAll(lane, now)) running.push({ task, from: now });
  }
  for (const { task } of running) finish(lane, task, 'steady', from + forMs - tookMs, from + forMs);
}

describe('the estimated wait', () => {
  test('follows from the duration of tasks and the number in flight', () => {
    const { lane, now } = grownLane(8);
    pushMany(lane, 1_000);
    keepBusy(lane, 0, 160, now, 5_000);
    // Eight in flight for 160 ms each make 50 a second.
    const expectedMs = lane.waiting * 20;
    const foundMs = lane.waitMs(now + 5_000);
    assert.ok(Math.abs(foundMs - expectedMs) < expectedMs / 10, `${foundMs}`);
  });

  test('is 0 at first, and then follows from how long the receiver has been silent', () => {
    const lane = new Lane(8, 0);
    pushMany(lane, 101);
    assert.equal(lane.waitMs(0), 0);
    startAll(lane, 0);
    assert.equal(lane.waitMs(4_000), 100 * 4_000);
  });

  test('follows from a rate limit', () => {
    const lane = new Lane(8, 0, () => ({ rate: 10 }));
    for (let count = 0; count < 100; count += 1) lane.push({ ...waitingTask, requests: 2 });
    assert.equal(lane.waitMs(0), 20_000);
  });
});

test('after a 429 the rate is no higher than what the receiver accepted', () => {
  const lane = new Lane(64, 0);
  pushMany(lane, 200);
  for (let now = 0; now < 1_000; now += 20) finish(lane, start(lane, now), 'quick', now, now + 5);
  assert.equal(lane.rate, Infinity);
  finish(lane, start(lane, 1_000), 'throttled', 1_000, 1_005);
  assert.ok(lane.rate > 30 && lane.rate <= 50, `${lane.rate}`);
});

test('no task starts before the time of a Retry-After', () => {
  const { lane, now } = grownLane(8);
  pushMany(lane, 2);
  const task = start(lane, now);
  lane.finished({ ...task, at: at(now) }, { signal: 'overloaded', retryAfterMs: 3_000 }, at(now + 10));
  assert.equal(lane.startsIn(now + 10), 3_000);
  assert.equal(lane.startsIn(now + 3_009), 1);
  assert.equal(lane.startsIn(now + 3_010), 0);
  assert.ok(lane.promiseTurn(now + 10, 'live') >= 3_000);
});

test('a destination with a burst sends so many at once, and then keeps to its rate', () => {
  const { lane, limit, now } = grownLane(8);
  limit({ rate: 1, burst: 3 });
  pushMany(lane, 4);
  for (let count = 0; count < 3; count += 1) {
    assert.equal(lane.startsIn(now), 0);
    start(lane, now);
  }
  assert.equal(lane.startsIn(now), 1_000);
});

test('a destination with a limit of its own has no more in flight', () => {
  const { lane, limit, now } = grownLane(8);
  limit({ inFlight: 2 });
  pushMany(lane, 3);
  start(lane, now);
  assert.equal(lane.startsIn(now), 0);
  start(lane, now);
  assert.equal(lane.startsIn(now), Infinity);
  limit({});
  assert.equal(lane.startsIn(now), 0);
});

test('a task that sent nothing does not use the rate limit', () => {
  const lane = new Lane(8, 0, () => ({ rate: 1 }));
  pushMany(lane, 2);
  finish(lane, start(lane, 0), 'none', 0, 0);
  assert.equal(lane.startsIn(0), 0);
});

describe('whether a lane keeps up', () => {
  test('holds while it has credit, of which a silent one has less', () => {
    const lane = new Lane(64, 0);
    pushMany(lane, 1_000);
    start(lane, 0);
    lane.charge(1_000, at(100));
    assert.ok(lane.keepsUp(at(0), 'live'));
    lane.charge(110, at(101));
    assert.ok(!lane.keepsUp(at(101), 'live'));
  });

  test('holds longer for one that has answered quickly', () => {
    const { lane, now } = grownLane(64);
    lane.charge(20_000, at(now));
    assert.ok(lane.keepsUp(at(now), 'live'));
    const slow = grownLane(64, 900);
    slow.lane.charge(2_000, at(slow.now));
    assert.ok(!slow.lane.keepsUp(at(slow.now), 'live'));
  });

  test('does not hold where it is limited, fails, times out, or has asked for a pause', () => {
    const limited = grownLane(64);
    limited.limit({ rate: 1 });
    pushMany(limited.lane, 1);
    assert.ok(!limited.lane.keepsUp(at(limited.now), 'live'));
    // A hundred tasks of 10 ms take a second, one after another.
    limited.limit({ inFlight: 1 });
    pushMany(limited.lane, 97);
    assert.ok(limited.lane.keepsUp(at(limited.now), 'live'));
    pushMany(limited.lane, 5);
    assert.ok(!limited.lane.keepsUp(at(limited.now), 'live'));
    limited.limit({ inFlight: 64 });
    assert.ok(limited.lane.keepsUp(at(limited.now), 'live'));

    const failing = grownLane(64);
    const failedAt = runRounds(failing.lane, 5, 'failed', 10, failing.now);
    assert.ok(!failing.lane.keepsUp(at(failedAt), 'live'));

    const hanging = grownLane(64);
    pushMany(hanging.lane, 2);
    finish(hanging.lane, start(hanging.lane, hanging.now), 'overloaded', hanging.now, hanging.now + 5_000);
    assert.ok(!hanging.lane.keepsUp(at(hanging.now + 5_000), 'live'));
    finish(hanging.lane, start(hanging.lane, hanging.now), 'quick', hanging.now, hanging.now + 5_000);
    assert.ok(hanging.lane.keepsUp(at(hanging.now + 5_000), 'live'));

    const silent = grownLane(64);
    pushMany(silent.lane, 2);
    start(silent.lane, silent.now);
    assert.ok(silent.lane.keepsUp(at(silent.now + 2_000), 'live'));
    assert.ok(!silent.lane.keepsUp(at(silent.now + 2_001), 'live'));

    const left = grownLane(64);
    pushMany(left.lane, 10);
    const task = start(left.lane, left.now);
    left.lane.finished(task, { signal: 'overloaded', retryAfterMs: 5_000 }, at(left.now));
    assert.ok(left.lane.isBackingOff(left.now));
    assert.ok(!left.lane.keepsUp(at(left.now), 'live'));
  });
});

test('a receiver that is new, silent or slow is not quick', () => {
  const fresh = new Lane(64, 0);
  pushMany(fresh, 1);
  start(fresh, 0);
  assert.deepEqual([fresh.standing(at(100)), fresh.standing(at(101))], ['new', 'slow']);
  const { lane, now } = grownLane(64);
  assert.equal(lane.standing(at(now)), 'quick');
  pushMany(lane, 1);
  start(lane, now);
  assert.equal(lane.standing(at(now + 500)), 'quick');
  assert.equal(lane.standing(at(now + 501)), 'slow');
  const slow = new Lane(64, 0);
  assert.equal(slow.standing(at(runRounds(slow, 30, 'steady', 4_000, 0))), 'slow');
});

test('deferred background tasks do not delay live ones', () => {
  const { lane, now } = grownLane(8);
  for (let count = 0; count < 100; count += 1) lane.promiseTurn(now, 'background');
  assert.ok(!lane.hasPromised(now));
});

describe('the background', () => {
  const background: Task = { ...waitingTask, traffic: 'background' };

  test('gives way to live tasks, except for every fourth turn', () => {
    const { lane, now } = grownLane(1);
    for (let count = 0; count < 8; count += 1) {
      lane.push(waitingTask);
      lane.push(background);
    }
    const turns: Traffic[] = [];
    for (let count = 0; count < 8; count += 1) {
      const task = start(lane, now);
      turns.push(task.task.traffic);
      finish(lane, task, 'quick', now, now + 1);
    }
    assert.equal(turns.filter((traffic) => traffic === 'background').length, 2);
  });

  test('never uses the whole lane', () => {
    const { lane, now } = grownLane(8);
    for (let count = 0; count < 8; count += 1) lane.push(background);
    assert.equal(startAll(lane, now).length, 4);
  });
});

test('tasks of revoked partitions leave the lane', () => {
  const lane = new Lane(8, 0);
  pushMany(lane, 3);
  for (let count = 0; count < 2; count += 1) lane.push({ ...waitingTask, revoked: true });
  assert.equal(lane.dropRevoked().length, 2);
  assert.deepEqual([lane.waiting, lane.waitingOf('live').bytes], [3, 30]);
});

describe('promised turns', () => {
  test('follow each other, and are used up, at the rate of the lane', () => {
    const { lane, now } = grownLane(8);
    keepBusy(lane, 500, 160, now, 2_000);
    for (let count = 0; count < 1_000; count += 1) lane.promiseTurn(now + 2_000, 'live');
    // The lane has been deferring for long enough to predict a long time.
    const later = now + 12_000;
    const first = lane.promiseTurn(later, 'live');
    for (let count = 0; count < 500; count += 1) lane.promiseTurn(later, 'live');
    const last = lane.promiseTurn(later, 'live');
    assert.ok(Math.abs(last - first - 501 * 20) < 501 * 2, `${last - first}`);
    assert.ok(lane.hasPromised(later));
  });

  test('are not far ahead while little is known about the rate', () => {
    const lane = new Lane(8, 0);
    pushMany(lane, 1_000);
    startAll(lane, 0);
    for (let count = 0; count < 10; count += 1) assert.equal(lane.promiseTurn(3_000, 'live'), 0);
    assert.equal(lane.promiseTurn(3_500, 'live'), 5_000);
  });

  test('have a time also where a receiver answered too fast to be measured, and asked for a pause', () => {
    const lane = new Lane(8, 0);
    pushMany(lane, 1);
    lane.finished(start(lane, 0), { signal: 'overloaded', retryAfterMs: 3_000 }, at(0));
    assert.deepEqual(
      [lane.promiseTurn(0, 'live'), lane.promiseTurn(0, 'live'), lane.promiseTurn(1_000, 'live')],
      [3_000, 3_000, 2_000],
    );
    assert.ok(lane.hasPromised(1_000));
    assert.ok(!lane.hasPromised(3_001));
  });

  test('do not delay a lane that has become faster', () => {
    const lane = new Lane(8, 0);
    pushMany(lane, 8);
    const [task] = startAll(lane, 0);
    for (let count = 0; count < 1_000; count += 1) lane.promiseTurn(5_000, 'live');
    assert.ok(lane.hasPromised(6_000));
    finish(lane, task ?? assert.fail(), 'quick', 0, 7_000);
    runRounds(lane, 200, 'quick', 1, 7_000);
    assert.ok(!lane.hasPromised(9_000));
  });
});
