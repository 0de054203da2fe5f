import assert from 'node:assert/strict';
import { describe, mock, test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { DelayQueue } from './delay-queue.ts';
import { DueTimes } from '../../settle/due-times.ts';

/** The next value of an infinite stream. */
const next = <T>(stream: Iterator<T>): T => (stream.next() as IteratorYieldResult<T>).value;

describe('due times', () => {
  const range = fc.tuple(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 0, max: 10_000 }));
  const random = fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }));

  test('are in the given range', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 100, size: 'max' }), random, (ranges, random) => {
        const dueTimes = new DueTimes(() => next(random));
        for (const [earliest, lengthMs] of ranges) {
          const dueAt = dueTimes.assign('tier', 0, [earliest, earliest + lengthMs]);
          assert.ok(Number.isSafeInteger(dueAt) && dueAt >= earliest && dueAt <= earliest + lengthMs);
        }
      }),
    );
  });

  test('do not decrease along a partition unless the clock does', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 200, size: 'max' });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60_000 }), steps, random, (tierMs, steps, random) => {
        const dueTimes = new DueTimes(() => next(random));
        let now = 1_000_000;
        let last = 0;
        for (const step of steps) {
          now += step;
          const dueAt = dueTimes.assign('tier', 3, [now + Math.ceil(tierMs * 0.8), now + tierMs]);
          assert.ok(dueAt >= last, `${dueAt} after ${last}`);
          last = dueAt;
        }
      }),
    );
  });

  test('of a burst are spread over the range', () => {
    const dueTimes = new DueTimes();
    const burst = Array.from({ length: 200 }, () => dueTimes.assign('tier', 0, [8_000, 10_000]));
    assert.ok(new Set(burst).size > 50, `${new Set(burst).size} different times`);
    assert.ok((burst.at(-1) ?? NaN) < 10_000);
  });

  test('continue from the latest one after one that its retry window made earlier', () => {
    const dueTimes = new DueTimes();
    const before = dueTimes.assign('tier', 0, [9_000, 10_000]);
    assert.equal(dueTimes.assign('tier', 0, [8_000, 8_100]), 8_100);
    assert.ok(dueTimes.assign('tier', 0, [8_000, 10_000]) >= before);
  });

  test('of a new owner begin after those that an earlier owner may have assigned', () => {
    const dueTimes = new DueTimes();
    const bounds = { least: 10_000, most: 10_500 };
    assert.equal(dueTimes.last('tier', 0, bounds), 10_000);
    const first = dueTimes.assign('tier', 0, [8_500, 10_500], bounds);
    assert.ok(first >= 10_000 && first <= 10_500);
    assert.ok(dueTimes.next('tier', 0, [9_000, 10_500], bounds) >= first);
    assert.ok(dueTimes.next('tier', 1, [9_000, 10_500], bounds) >= 10_000);
  });

  test('are spread again soon after the clock was set back', () => {
    const dueTimes = new DueTimes();
    dueTimes.assign('tier', 0, [1_000_000, 1_000_100], { least: 0, most: 1_000_100 });
    assert.equal(dueTimes.last('tier', 0, { least: 0, most: 10_000 }), 10_000);
    dueTimes.assign('tier', 0, [8_000, 10_000], { least: 0, most: 10_000 });
    const later = dueTimes.assign('tier', 0, [28_000, 30_000], { least: 0, most: 30_000 });
    assert.ok(later < 30_000);
  });

  test('of one partition or retry topic do not depend on another', () => {
    const dueTimes = new DueTimes(() => 0);
    assert.equal(dueTimes.assign('slow', 0, [90_000, 100_000]), 90_000);
    assert.equal(dueTimes.assign('slow', 1, [8_000, 10_000]), 8_000);
    assert.equal(dueTimes.assign('fast', 0, [8_000, 10_000]), 8_000);
  });

  test('that should be as early as possible do not decrease either', () => {
    const dueTimes = new DueTimes();
    assert.equal(dueTimes.next('tier', 0, [3_000, 10_000]), 3_000);
    const retry = dueTimes.assign('tier', 0, [8_000, 10_000]);
    assert.equal(dueTimes.next('tier', 0, [4_000, 12_000]), retry);
    assert.equal(dueTimes.next('tier', 0, [4_000, 6_000]), 6_000);
    assert.ok(dueTimes.assign('tier', 0, [8_000, 10_000]) >= retry);
  });

  test('stay within their range where the clock was set back', () => {
    const dueTimes = new DueTimes();
    dueTimes.assign('tier', 0, [1_000_000, 1_000_100]);
    assert.equal(dueTimes.assign('tier', 0, [8_000, 10_000]), 10_000);
  });
});

describe('the delay queue', () => {
  const start = 1_800_000_000_000;

  /** A queue whose clock may be set independently of the timers, like the system clock. */
  function openQueue(t: TestContext) {
    mock.timers.enable({ apis: ['setTimeout'] });
    t.after(() => {
      mock.timers.reset();
    });
    let now = start;
    let elapsed = 0;
    const due: string[] = [];
    const queue = new DelayQueue<string>({
      onDue: (item) => due.push(item),
      isStale: (item) => item.startsWith('stale'),
      now: () => now,
      elapsed: () => elapsed,
    });
    return {
      queue,
      due,
      /** Lets time pass in steps, so that timers that are set meanwhile run too. */
      pass: (ms: number): void => {
        for (let left = ms; left > 0; left -= 10) {
          now += Math.min(10, left);
          elapsed += Math.min(10, left);
          mock.timers.tick(Math.min(10, left));
        }
      },
      setClock: (ms: number): void => {
        now += ms;
      },
    };
  }

  test('releases each item when it is due, earliest first, for any order of additions', (t) => {
    const { queue, due, pass } = openQueue(t);
    for (const delayMs of [300, 100, 500, 200, 400, 100]) queue.add(`${delayMs}`, start + delayMs);
    pass(90);
    assert.deepEqual(due, []);
    pass(20);
    assert.deepEqual(due, ['100', '100']);
    pass(200);
    assert.deepEqual(due, ['100', '100', '200', '300']);
    assert.equal(queue.size, 2);
    pass(200);
    assert.deepEqual(due, ['100', '100', '200', '300', '400', '500']);
    assert.equal(queue.size, 0);
  });

  test('releases items that are due at the same time in the order of their addition', (t) => {
    const { queue, due, pass } = openQueue(t);
    const items = Array.from({ length: 100 }, (_, nth) => String(nth));
    queue.add('before', start + 100);
    for (const item of items) queue.add(item, start + 200);
    pass(150);
    for (const item of items) queue.add(`later ${item}`, start + 200);
    pass(100);
    assert.deepEqual(due, ['before', ...items, ...items.map((item) => `later ${item}`)]);
  });

  test('releases all items in order, and none before its time', (t) => {
    const delays = fc.array(fc.integer({ min: -100, max: 5_000 }), { maxLength: 100, size: 'max' });
    fc.assert(
      fc.property(delays, (delays) => {
        mock.timers.reset();
        const { queue, due, pass } = openQueue(t);
        for (const delayMs of delays) queue.add(String(delayMs), start + delayMs);
        for (let elapsedMs = 0; elapsedMs < 5_100; elapsedMs += 500) {
          assert.ok(due.every((delayMs) => Number(delayMs) <= elapsedMs));
          pass(500);
        }
        assert.deepEqual(
          due.map(Number),
          delays.toSorted((a, b) => a - b),
        );
      }),
      { numRuns: 30 },
    );
  });

  test('wakes for an item that is due long after the longest sleep', (t) => {
    const { queue, due, pass } = openQueue(t);
    queue.add('late', start + 10_500);
    pass(10_490);
    assert.deepEqual(due, []);
    pass(10);
    assert.deepEqual(due, ['late']);
  });

  test('accepts an item that is due immediately while it releases another', (t) => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    t.after(() => {
      mock.timers.reset();
    });
    const due: string[] = [];
    const queue = new DelayQueue<string>({
      onDue: (item) => {
        due.push(item);
        if (item === 'first') queue.add('second', Date.now());
      },
    });
    queue.add('first', 100);
    mock.timers.tick(100);
    assert.deepEqual(due, ['first', 'second']);
  });

  test('removes items that are no longer needed', (t) => {
    const { queue, due, pass } = openQueue(t);
    for (let count = 0; count < 10_000; count += 1) queue.add(`stale ${count}`, start + 5_000);
    queue.add('fresh', start + 5_000);
    assert.ok(queue.size < 2_000, `${queue.size}`);
    pass(5_000);
    assert.ok(due.includes('fresh'));
  });

  test('releases the remaining items in order after some were removed', (t) => {
    const { queue, due, pass } = openQueue(t);
    const items = Array.from({ length: 50 }, (_, nth) => String(nth));
    for (const item of items) queue.add(item, start + 100 + Number(item));
    const isEven = (item: string): boolean => Number(item) % 2 === 0;
    assert.deepEqual(queue.remove(isEven), items.filter(isEven));
    assert.deepEqual(queue.remove(isEven), []);
    pass(200);
    assert.deepEqual(
      due,
      items.filter((item) => !isEven(item)),
    );
  });

  test('is empty after clear, and can be used again', (t) => {
    const { queue, due, pass } = openQueue(t);
    queue.add('forgotten', start + 100);
    queue.clear();
    assert.equal(queue.size, 0);
    pass(200);
    assert.deepEqual(due, []);
    queue.add('new', start + 300);
    pass(100);
    assert.deepEqual(due, ['new']);
  });

  test('notices within a second that the clock was set forward', (t) => {
    const { queue, due, pass, setClock } = openQueue(t);
    queue.add('hour', start + 3_600_000);
    setClock(3_600_000);
    pass(1_000);
    assert.deepEqual(due, ['hour']);
  });

  test('lets no item wait longer where the clock is set back', (t) => {
    const { queue, due, pass, setClock } = openQueue(t);
    queue.add('minute', start + 60_000);
    queue.add('second', start + 1_500);
    setClock(-3_600_000);
    pass(1_000);
    queue.add('new', start - 3_600_000 + 1_200);
    assert.deepEqual(due, []);
    pass(600);
    assert.deepEqual(due, ['new', 'second']);
    pass(58_400);
    assert.deepEqual(due, ['new', 'second', 'minute']);
  });

  test('follows the clock where it is only adjusted', (t) => {
    const { queue, due, pass, setClock } = openQueue(t);
    queue.add('item', start + 500);
    setClock(-800);
    pass(1_200);
    assert.deepEqual(due, []);
    pass(100);
    assert.deepEqual(due, ['item']);
  });
});
