import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import type { Signal, Task } from './lane.ts';
import { Lanes, type LaneLimits, type SubmitOptions } from './lanes.ts';

const roomy = { waiting: 100_000, waitingBytes: 2 ** 30 };

/** Lanes whose tasks run until they are told to end. */
function openLanes(limits: Partial<LaneLimits> & { perLane: number; total: number }) {
  const pressure: boolean[] = [];
  const putOff: string[] = [];
  const load = { isBusy: false };
  const lanes = new Lanes(
    { ...roomy, ...limits },
    (high) => pressure.push(high),
    () => load.isBusy,
  );
  const started: string[] = [];
  const running: { readonly name: string; readonly end: (signal?: Signal) => void }[] = [];
  return {
    lanes,
    /** Of this process. */
    load,
    /** The lanes of the tasks that were started, in the order of their starts. */
    started,
    running,
    pressure,
    putOff,
    submit: (lane: string, name = lane, options?: SubmitOptions): void => {
      const task: Task = {
        bytes: 100,
        requests: 1,
        run() {
          started.push(name);
          return new Promise((resolve) => {
            const end = (signal: Signal = 'steady'): void => {
              resolve(signal);
            };
            running.push({ name: lane, end });
          });
        },
        putOff: () => putOff.push(name),
      };
      lanes.submit(lane, task, options);
    },
    /** Ends the task that has run longest, or the one given, and lets what follows start. */
    endOne: async (index = 0): Promise<void> => {
      running.splice(index, 1)[0]?.end();
      await turn();
    },
  };
}

describe('lanes', () => {
  test('run as many tasks of one destination as it is allowed, and the rest in order', async () => {
    const { lanes, started, submit, endOne } = openLanes({ perLane: 2, total: 10 });
    for (const name of ['1', '2', '3', '4']) submit('a', name);
    assert.deepEqual(started, ['1', '2']);
    assert.equal(lanes.running, 2);
    await endOne();
    assert.deepEqual(started, ['1', '2', '3']);
    await endOne();
    assert.deepEqual(started, ['1', '2', '3', '4']);
    await endOne();
    await endOne();
    assert.equal(lanes.running, 0);
  });

  test('run no more tasks altogether than the process is allowed', async () => {
    const { started, submit, endOne } = openLanes({ perLane: 2, total: 3 });
    for (const lane of ['a', 'a', 'b', 'b', 'c']) submit(lane);
    assert.deepEqual(started, ['a', 'a', 'b']);
    await endOne();
    assert.equal(started.length, 4);
  });

  test('let a newcomer pass a thousand tasks of another destination after one turn', async () => {
    const { started, submit, endOne } = openLanes({ perLane: 4, total: 4 });
    for (let count = 0; count < 1_000; count += 1) submit('busy');
    submit('other');
    assert.deepEqual(started, ['busy', 'busy', 'busy', 'busy']);
    await endOne();
    await endOne();
    assert.ok(started.slice(4).includes('other'), started.join());
  });

  test('start a newcomer at once where a destination that hangs has used up its own limit', () => {
    const { started, submit } = openLanes({ perLane: 4, total: 5 });
    for (let count = 0; count < 1_000; count += 1) submit('hanging');
    submit('other');
    assert.deepEqual(started.at(-1), 'other');
  });

  test('take turns', async () => {
    const { started, submit, endOne } = openLanes({ perLane: 10, total: 1 });
    for (let count = 0; count < 3; count += 1) for (const lane of ['a', 'b', 'c']) submit(lane);
    for (let count = 0; count < 8; count += 1) await endOne();
    assert.deepEqual(started.slice(1).toSorted(), ['a', 'a', 'b', 'b', 'b', 'c', 'c', 'c']);
    for (let first = 1; first + 3 <= 7; first += 3) {
      assert.equal(new Set(started.slice(first, first + 3)).size, 3, started.join());
    }
  });

  test('keep the order of a destination through thousands of its tasks', async () => {
    const lanes = new Lanes({ ...roomy, perLane: 1, total: 1 });
    const numbers = Array.from({ length: 3_000 }, (_, number) => number);
    const started: number[] = [];
    await Promise.all(
      numbers.map(
        (number) =>
          new Promise<void>((resolve) => {
            const run = (): Promise<Signal> => {
              started.push(number);
              resolve();
              return Promise.resolve('quick');
            };
            lanes.submit('a', { bytes: 1, requests: 1, run, putOff: () => assert.fail('put off') });
          }),
      ),
    );
    assert.deepEqual(started, numbers);
  });

  test('keep their order and their limits, and run every task once, however tasks end', async () => {
    const limit = fc.integer({ min: 1, max: 4 });
    const steps = fc.array(fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.nat(10)), {
      maxLength: 100,
      size: 'max',
    });
    await fc.assert(
      fc.asyncProperty(limit, limit, steps, async (perLane, total, steps) => {
        const { lanes, started, running, submit, endOne } = openLanes({ perLane, total });
        const submitted: string[] = [];
        const assertWithinLimits = (): void => {
          assert.equal(lanes.running, running.length);
          assert.ok(running.length <= total);
          for (const lane of ['a', 'b', 'c']) {
            assert.ok(running.filter(({ name }) => name === lane).length <= perLane);
          }
        };
        for (const step of steps) {
          if (typeof step === 'string') {
            const name = `${step}${submitted.length}`;
            submitted.push(name);
            submit(step, name);
          } else if (running.length > 0) await endOne(step % running.length);
          assertWithinLimits();
        }
        while (running.length > 0) {
          await endOne();
          assertWithinLimits();
        }
        for (const lane of ['a', 'b', 'c']) {
          const ofLane = (name: string): boolean => name.startsWith(lane);
          assert.deepEqual(started.filter(ofLane), submitted.filter(ofLane));
        }
      }),
      { numRuns: 50 },
    );
  });
});

/** Time as `performance.now()` and the timers tell it, under the test's control. */
function holdTime(t: TestContext, now = performance.now()): (ms: number) => void {
  t.mock.method(performance, 'now', () => now);
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  return (ms) => {
    for (let left = ms; left > 0; left -= 10) {
      now += Math.min(10, left);
      t.mock.timers.tick(Math.min(10, left));
    }
  };
}

describe('a full buffer', () => {
  test('pauses reading, and lets it go on when half of it is gone', async (t) => {
    holdTime(t);
    const { pressure, submit, endOne } = openLanes({ perLane: 1, total: 1, waiting: 20 });
    for (let count = 0; count < 21; count += 1) submit(`lane ${count % 3}`);
    assert.deepEqual(pressure, [true]);
    for (let count = 0; count < 10; count += 1) await endOne();
    assert.deepEqual(pressure, [true]);
    await endOne();
    assert.deepEqual(pressure, [true, false]);
  });

  test('is not filled by a lane that does not get on, which puts off what it has no room for', (t) => {
    const pass = holdTime(t);
    const { lanes, putOff, pressure, submit } = openLanes({ perLane: 2, total: 10, waiting: 100 });
    for (let count = 0; count < 40; count += 1) submit('hanging');
    pass(2_600);
    for (let count = 0; count < 1_000; count += 1) submit('hanging');
    assert.ok(lanes.waiting <= 50, `${lanes.waiting}`);
    assert.equal(putOff.length + lanes.waiting + lanes.running, 1_040);
    assert.deepEqual(pressure, []);
  });

  test('is not filled by many such lanes either, and has room for one that gets on', (t) => {
    const pass = holdTime(t);
    const { lanes, started, putOff, submit } = openLanes({ perLane: 1, total: 100, waiting: 1_000 });
    const names = Array.from({ length: 20 }, (_, number) => `hanging ${number}`);
    for (const name of names) for (let count = 0; count < 10; count += 1) submit(name);
    pass(2_600);
    for (const name of names) for (let count = 0; count < 500; count += 1) submit(name);
    assert.ok(lanes.waiting < 1_000, `${lanes.waiting}`);
    submit('healthy');
    assert.equal(started.at(-1), 'healthy');
    assert.ok(!putOff.includes('healthy'));
  });

  test('gives up what a lane took in before it turned out to be slow', (t) => {
    const pass = holdTime(t);
    const { lanes, putOff, pressure, submit } = openLanes({ perLane: 1, total: 10, waiting: 100 });
    for (let count = 0; count < 300; count += 1) submit('hanging', String(count));
    assert.deepEqual(pressure, [true]);
    pass(2_700);
    assert.deepEqual(pressure, [true, false]);
    assert.ok(lanes.waiting <= 50, `${lanes.waiting}`);
    assert.ok(putOff.includes('299'));
    assert.ok(!putOff.includes('1'));
  });

  test('puts nothing off while it is this process that is busy, and pauses reading', (t) => {
    const pass = holdTime(t);
    const { load, putOff, pressure, submit } = openLanes({ perLane: 2, total: 10, waiting: 100 });
    load.isBusy = true;
    for (let count = 0; count < 60; count += 1) submit('one');
    pass(2_600);
    for (let count = 0; count < 60; count += 1) submit('one');
    assert.deepEqual([putOff, pressure], [[], [true]]);
    load.isBusy = false;
    pass(100);
    assert.ok(putOff.length > 0);
    assert.deepEqual(pressure, [true, false]);
  });

  test('does not put off a lane that is busy and will be through in a moment', async (t) => {
    const pass = holdTime(t);
    const { putOff, submit, endOne } = openLanes({ perLane: 1, total: 1, waiting: 100 });
    for (let count = 0; count < 90; count += 1) submit('busy');
    for (let count = 0; count < 80; count += 1) {
      pass(10);
      await endOne();
    }
    for (let count = 0; count < 90; count += 1) submit('busy');
    assert.deepEqual(putOff, []);
  });
});

describe('what comes after some that were put off', () => {
  test('is put off too, and what returns goes first', (t) => {
    const pass = holdTime(t);
    const { lanes, putOff, submit } = openLanes({ perLane: 1, total: 10, waiting: 40 });
    for (let count = 0; count < 12; count += 1) submit('slow');
    pass(2_600);
    for (let count = 0; count < 20; count += 1) submit('slow', 'early');
    assert.ok(putOff.includes('early'));
    const waiting = lanes.waiting;
    submit('slow', 'late');
    assert.equal(putOff.at(-1), 'late');
    assert.equal(lanes.waiting, waiting);
  });
});

describe('a rate limit', () => {
  test('spaces requests out', async (t) => {
    const pass = holdTime(t);
    const { started, submit, endOne } = openLanes({ perLane: 10, total: 10 });
    for (let count = 0; count < 5; count += 1) submit('limited', 'limited', { rateLimit: 2 });
    assert.equal(started.length, 1);
    for (const expected of [2, 3, 4]) {
      pass(480);
      await endOne();
      assert.equal(started.length, expected - 1);
      pass(20);
      assert.equal(started.length, expected);
    }
  });

  test('does so whatever fraction of a millisecond the clock began with', async (t) => {
    for (let start = 0; start < 300; start += 0.7310585) {
      const pass = holdTime(t, start);
      const { started, submit, endOne } = openLanes({ perLane: 10, total: 10 });
      for (let count = 0; count < 5; count += 1) submit('limited', 'limited', { rateLimit: 3 });
      pass(150);
      await endOne();
      pass(183);
      assert.equal(started.length, 1, `${start}`);
      pass(1);
      assert.equal(started.length, 2, `${start}`);
      t.mock.reset();
    }
  });

  test('of one destination leaves the others alone', (t) => {
    holdTime(t);
    const { started, submit } = openLanes({ perLane: 10, total: 10 });
    for (let count = 0; count < 5; count += 1) submit('limited', 'limited', { rateLimit: 1 });
    for (let count = 0; count < 5; count += 1) submit('free');
    assert.equal(started.filter((name) => name === 'free').length, 5);
    assert.equal(started.filter((name) => name === 'limited').length, 1);
  });
});

describe('lanes that are held', () => {
  test('start nothing and put nothing off, and go on where they were', async (t) => {
    const pass = holdTime(t);
    const { lanes, started, putOff, submit, endOne } = openLanes({ perLane: 1, total: 2, waiting: 40 });
    submit('a');
    lanes.hold();
    for (let count = 0; count < 60; count += 1) submit('a');
    submit('b');
    pass(3_000);
    await endOne();
    assert.deepEqual([started, putOff], [['a'], []]);
    lanes.release();
    assert.deepEqual(started.toSorted(), ['a', 'a', 'b']);
  });
});

describe('draining', () => {
  test('waits for what runs, and starts nothing more', async () => {
    const { lanes, started, submit, endOne } = openLanes({ perLane: 2, total: 3 });
    for (const lane of ['a', 'a', 'a', 'b', 'b']) submit(lane);
    let drained = false;
    const draining = lanes.drain().then(() => {
      drained = true;
    });
    await endOne();
    await endOne();
    assert.ok(!drained);
    await endOne();
    await draining;
    assert.deepEqual(started, ['a', 'a', 'b']);
    assert.equal(lanes.running, 0);
  });

  test('is over at once where nothing runs', async () => {
    await new Lanes({ ...roomy, perLane: 1, total: 1 }).drain();
  });
});
