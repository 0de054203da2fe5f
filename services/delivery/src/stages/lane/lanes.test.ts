import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { simulateTime } from '@tailrace/testing';
import fc from 'fast-check';
import type { Feedback, Signal, Task } from './task.ts';
import { Lanes, type LaneLimits } from './lanes.ts';
import type { OwnLimits } from './own-limits.ts';

const roomy = { waiting: 100_000, waitingBytes: 2 ** 30 };

/** Lanes whose tasks run until the test ends them. */
function openLanes(limits: Partial<LaneLimits> & { perLane: number; total: number }) {
  const pressure: boolean[] = [];
  const backgroundPressure: boolean[] = [];
  const deferred: string[] = [];
  const own = new Map<string, OwnLimits>();
  const load = { isBusy: false };
  let idle = 0;
  let before = Date.now();
  const lanes = new Lanes(
    { ...roomy, ...limits },
    {
      limitsOf: (lane) => own.get(lane),
      onPressure: (kind, high) => (kind === 'live' ? pressure : backgroundPressure).push(high),
      idleMs: () => {
        if (!load.isBusy) idle += Date.now() - before;
        before = Date.now();
        return idle;
      },
    },
  );
  const started: string[] = [];
  const running: { readonly name: string; readonly end: (signal?: Signal) => void }[] = [];
  const opened = {
    lanes,
    /** The limits of destinations. */
    own,
    /** The load of this process. */
    load,
    /** The names of the started tasks, in order. */
    started,
    running,
    pressure,
    backgroundPressure,
    deferred,
    submit: (lane: string, name = lane, more: Partial<Pick<Task, 'traffic' | 'revoked'>> = {}): void => {
      const task: Task = {
        traffic: 'live',
        returned: false,
        bytes: 100,
        requests: 1,
        since: 0,
        revoked: false,
        ...more,
        run() {
          started.push(name);
          return new Promise<Feedback>((resolve) => {
            const end = (signal: Signal = 'quick'): void => {
              resolve({ signal });
            };
            running.push({ name: lane, end });
          });
        },
        defer: () => deferred.push(name),
      };
      lanes.submit(lane, task);
    },
    /** Ends the oldest running task, or the given one, and lets the next ones start. */
    endOne: async (index = 0, signal?: Signal): Promise<void> => {
      running.splice(index, 1)[0]?.end(signal);
      await turn();
    },
    /** Has a lane answer quickly until it reaches its maximum concurrency. */
    warmUp: async (lane: string): Promise<void> => {
      for (let count = 0; count < limits.perLane * 8; count += 1) opened.submit(lane);
      while (running.length > 0) await opened.endOne();
      started.length = 0;
    },
  };
  return opened;
}

describe('lanes', () => {
  test('run as many tasks of one destination as permitted, and the others in order', async () => {
    const { lanes, started, submit, endOne, warmUp } = openLanes({ perLane: 2, total: 10 });
    await warmUp('a');
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

  test('run no more tasks in total than permitted', async () => {
    const { lanes, submit, endOne, running } = openLanes({ perLane: 2, total: 3 });
    for (let lane = 0; lane < 10; lane += 1) submit(`${lane}`);
    let most = 0;
    while (running.length > 0) {
      most = Math.max(most, lanes.running);
      await endOne();
    }
    assert.ok(most <= 3, `${most}`);
  });

  test('start a task of a new destination before a thousand waiting ones of another', async () => {
    const { started, submit, endOne, warmUp } = openLanes({ perLane: 4, total: 4 });
    await warmUp('busy');
    for (let count = 0; count < 1_000; count += 1) submit('busy');
    submit('other');
    await endOne();
    await endOne();
    assert.ok(started.includes('other'), started.join());
  });

  test('start tasks in turn', async () => {
    const { started, submit, endOne } = openLanes({ perLane: 10, total: 1 });
    for (let count = 0; count < 3; count += 1) for (const lane of ['a', 'b', 'c']) submit(lane);
    for (let count = 0; count < 8; count += 1) await endOne();
    assert.deepEqual(started.toSorted(), ['a', 'a', 'a', 'b', 'b', 'b', 'c', 'c', 'c']);
    for (let first = 1; first + 3 <= 7; first += 3) {
      assert.equal(new Set(started.slice(first, first + 3)).size, 3, started.join());
    }
  });

  test('keep the order of thousands of tasks of a destination', async () => {
    const lanes = new Lanes({ ...roomy, perLane: 1, total: 1 });
    const numbers = Array.from({ length: 3_000 }, (_, number) => number);
    const started: number[] = [];
    await Promise.all(
      numbers.map(
        (number) =>
          new Promise<void>((resolve) => {
            const run = (): Promise<Feedback> => {
              started.push(number);
              resolve();
              return Promise.resolve({ signal: 'quick' });
            };
            const defer = (): void => {
              assert.fail('deferred');
            };
            const task = { traffic: 'live', returned: false, bytes: 1, requests: 1 } as const;
            lanes.submit('a', { ...task, since: 0, revoked: false, run, defer });
          }),
      ),
    );
    assert.deepEqual(started, numbers);
  });

  test('keep their order and limits, and run every task once, with any results', async () => {
    const limit = fc.integer({ min: 1, max: 4 });
    const signal = fc.constantFrom<Signal>('quick', 'steady', 'failed', 'overloaded', 'none');
    const steps = fc.array(fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.tuple(fc.nat(10), signal)), {
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
          } else if (running.length > 0) await endOne(step[0] % running.length, step[1]);
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

/** Puts time under the control of the test. */
function holdTime(t: TestContext, monotonicMs?: number): (ms: number) => Promise<void> {
  const time = simulateTime(monotonicMs === undefined ? {} : { monotonicMs });
  t.after(() => {
    time[Symbol.dispose]();
  });
  return (ms) => time.pass(ms);
}

describe('the capacity in flight', () => {
  test('17.4 is shared so that a dead receiver uses one place, and the first task of another starts', () => {
    const { started, submit } = openLanes({ perLane: 64, total: 100 });
    for (let count = 0; count < 1_000; count += 1) submit('hanging');
    submit('other');
    assert.deepEqual(started, ['hanging', 'other']);
  });

  test('has a place for a lane that answers while hundreds hang', async (t) => {
    const pass = holdTime(t);
    const { lanes, running, started, submit, warmUp } = openLanes({ perLane: 4, total: 100 });
    await warmUp('healthy');
    for (let lane = 0; lane < 500; lane += 1) submit(`hanging ${lane}`);
    await pass(1_000);
    for (let lane = 0; lane < 500; lane += 1) submit(`hanging ${lane}`);
    assert.ok(lanes.running < 100, `${lanes.running}`);
    submit('healthy');
    assert.equal(started.at(-1), 'healthy');
    const index = running.findIndex(({ name }) => name === 'healthy');
    running[index]?.end();
  });

  test('goes to lanes that were crowded out as others end', async () => {
    const { started, running, submit, endOne } = openLanes({ perLane: 4, total: 10 });
    const names = Array.from({ length: 30 }, (_, lane) => `lane ${lane}`);
    for (const name of names) submit(name);
    while (running.length > 0) await endOne(0, 'steady');
    assert.deepEqual(started.toSorted(), names.toSorted());
  });
});

describe('the buffer', () => {
  test('pauses reading when lanes that keep up fill it, until a quarter of it is free', async (t) => {
    holdTime(t);
    const { pressure, deferred, submit, endOne } = openLanes({ perLane: 1, total: 1, waiting: 20 });
    for (let count = 0; count < 21; count += 1) submit(`lane ${count % 3}`);
    assert.deepEqual(pressure, [true]);
    for (let count = 0; count < 4; count += 1) await endOne();
    assert.deepEqual(pressure, [true]);
    await endOne();
    assert.deepEqual(pressure, [true, false]);
    assert.deepEqual(deferred, []);
  });

  test('reads ahead for a lane that keeps up, so that the deliveries of others behind its flood are found', async (t) => {
    holdTime(t);
    const { pressure, started, deferred, submit, endOne } = openLanes({
      perLane: 1,
      total: 10,
      waiting: 20,
      readAhead: { count: 100, bytes: 2 ** 20 },
    });
    for (let count = 0; count < 105; count += 1) submit('flood');
    submit('other');
    assert.deepEqual([pressure, started], [[], ['flood', 'other']]);
    for (let count = 0; count < 20; count += 1) submit('flood');
    assert.deepEqual(pressure, [true]);
    for (let count = 0; count < 40; count += 1) await endOne();
    assert.deepEqual([pressure, deferred], [[true, false], []]);
  });

  test('charges a pause to the lane that was read ahead for, and not to those that hold less than the average', async (t) => {
    const pass = holdTime(t);
    const { pressure, deferred, submit } = openLanes({
      perLane: 1,
      total: 10,
      waiting: 40,
      readAhead: { count: 100, bytes: 2 ** 20 },
    });
    for (let count = 0; count < 111; count += 1) submit('flood');
    for (let count = 0; count < 33; count += 1) submit(`lane ${count % 3}`);
    assert.deepEqual([pressure, deferred], [[true], []]);
    await pass(450);
    assert.ok(deferred.length > 0);
    assert.deepEqual([...new Set(deferred)], ['flood']);
  });

  test('defers what it has read ahead for a lane that stops keeping up', async (t) => {
    const pass = holdTime(t);
    const { lanes, deferred, pressure, submit } = openLanes({
      perLane: 1,
      total: 10,
      waiting: 20,
      readAhead: { count: 100, bytes: 2 ** 20 },
    });
    for (let count = 0; count < 90; count += 1) submit('hanging');
    assert.deepEqual([lanes.waiting, deferred.length], [89, 0]);
    await pass(2_600);
    assert.ok(lanes.waiting <= 10, `${lanes.waiting}`);
    assert.equal(deferred.length + lanes.waiting + lanes.running, 90);
    assert.deepEqual(pressure, []);
  });

  test('17.4 is not filled by a lane that does not keep up, which defers the excess', async (t) => {
    const pass = holdTime(t);
    const { lanes, deferred, pressure, submit } = openLanes({ perLane: 2, total: 10, waiting: 100 });
    for (let count = 0; count < 40; count += 1) submit('hanging');
    await pass(2_600);
    for (let count = 0; count < 1_000; count += 1) submit('hanging');
    assert.ok(lanes.waiting <= 50, `${lanes.waiting}`);
    assert.equal(deferred.length + lanes.waiting + lanes.running, 1_040);
    assert.deepEqual(pressure, []);
  });

  test('17.4 is not filled by a quick lane that a limit of its destination holds back', async (t) => {
    const pass = holdTime(t);
    const { own, started, deferred, pressure, submit, endOne } = openLanes({
      perLane: 64,
      total: 100,
      waiting: 100,
      readAhead: { count: 400, bytes: 2 ** 20 },
    });
    own.set('capped', { inFlight: 1 });
    for (let count = 0; count < 100; count += 1) {
      submit('capped');
      await pass(50);
      await endOne();
    }
    for (let count = 0; count < 1_000; count += 1) submit('capped');
    submit('other');
    assert.deepEqual([pressure, started.at(-1)], [[], 'other']);
    assert.ok(deferred.length >= 900, `${deferred.length}`);
  });

  test('is not filled by hundreds of such lanes either', async (t) => {
    const pass = holdTime(t);
    const { lanes, own, started, deferred, pressure, submit, warmUp } = openLanes({
      perLane: 1,
      total: 10_000,
      waiting: 1_000,
    });
    await warmUp('healthy');
    const names = Array.from({ length: 300 }, (_, number) => `limited ${number}`);
    for (const name of names) {
      own.set(name, { rate: 0.01 });
      for (let count = 0; count < 9; count += 1) submit(name);
    }
    await pass(100);
    assert.ok(lanes.waiting <= 500, `${lanes.waiting}`);
    assert.deepEqual(pressure, []);
    for (let count = 0; count < 400; count += 1) submit('healthy');
    assert.ok(started.includes('healthy'));
    assert.ok(!deferred.includes('healthy'));
  });

  test('is released by lanes that turn out to be slow', async (t) => {
    const pass = holdTime(t);
    const { lanes, deferred, pressure, submit } = openLanes({ perLane: 1, total: 10, waiting: 100 });
    for (let count = 0; count < 300; count += 1) submit('hanging', String(count));
    assert.deepEqual([pressure, deferred], [[true], []]);
    await pass(600);
    assert.deepEqual(pressure, [true, false]);
    assert.ok(lanes.waiting <= 50, `${lanes.waiting}`);
    assert.ok(deferred.includes('299'));
    assert.ok(!deferred.includes('1'));
  });

  test('pauses reading, and defers nothing, while this process is busy', async (t) => {
    const pass = holdTime(t);
    const { load, deferred, pressure, submit } = openLanes({ perLane: 2, total: 10, waiting: 100 });
    load.isBusy = true;
    for (let count = 0; count < 60; count += 1) submit('one');
    await pass(2_600);
    for (let count = 0; count < 60; count += 1) submit('one');
    assert.deepEqual([deferred, pressure], [[], [true]]);
    load.isBusy = false;
    await pass(1_000);
    assert.ok(deferred.length > 0);
    assert.deepEqual(pressure, [true, false]);
  });

  test('defers nothing while this process is the bottleneck, and otherwise until the credit is exhausted', async (t) => {
    const pass = holdTime(t);
    const { lanes, running, deferred, submit, warmUp } = openLanes({ perLane: 20, total: 100, waiting: 100 });
    await warmUp('one');
    /** Each 100 ms so many tasks end, and as many are added as fit. */
    const work = async (ticks: number, ended: number): Promise<void> => {
      for (let tick = 0; tick < ticks; tick += 1) {
        for (let count = 0; count < ended; count += 1) {
          running.shift()?.end();
          if (count % 10 === 0) await turn();
        }
        for (let missing = 100 - lanes.waiting; missing > 0; missing -= 1) submit('one');
        await pass(100);
      }
    };
    await work(400, 210);
    assert.deepEqual(deferred, []);
    await work(400, 1);
    assert.ok(deferred.length > 0);
  });

  test('of the background is separate: it pauses only its own reading', (t) => {
    holdTime(t);
    const { pressure, backgroundPressure, started, submit } = openLanes({
      perLane: 4,
      total: 10,
      waiting: 100,
    });
    for (let count = 0; count < 27; count += 1) submit('a', 'replayed', { traffic: 'background' });
    assert.deepEqual([pressure, backgroundPressure], [[], [true]]);
    submit('b');
    assert.equal(started.at(-1), 'b');
  });
});

describe('a delivery behind deferred ones', () => {
  test('is deferred too', async (t) => {
    const pass = holdTime(t);
    const { lanes, deferred, submit } = openLanes({ perLane: 1, total: 10, waiting: 40 });
    for (let count = 0; count < 12; count += 1) submit('slow');
    await pass(2_600);
    for (let count = 0; count < 20; count += 1) submit('slow', 'early');
    assert.ok(deferred.includes('early'));
    const waiting = lanes.waiting;
    submit('slow', 'late');
    assert.equal(deferred.at(-1), 'late');
    assert.equal(lanes.waiting, waiting);
  });
});

describe('breakers', () => {
  /** Reports failures for more than ten seconds. */
  async function fail(
    lanes: Lanes,
    lane: string,
    url: string,
    pass: (ms: number) => Promise<void>,
  ): Promise<void> {
    for (let count = 0; count < 7; count += 1) {
      lanes.breakers.permit(lane, [url])[0]?.report(false);
      await pass(2_000);
    }
  }

  test('are separate for each destination and URL', async (t) => {
    const pass = holdTime(t);
    const { lanes } = openLanes({ perLane: 1, total: 10 });
    await fail(lanes, 'a', 'url', pass);
    assert.ok(lanes.breakers.isBlocked('a', 'url'));
    assert.ok(!lanes.breakers.isBlocked('b', 'url'));
    assert.ok(!lanes.breakers.isBlocked('a', 'other'));
    assert.equal(lanes.breakers.count('open'), 1);
  });

  test('of URLs that a destination no longer uses are removed', async (t) => {
    const pass = holdTime(t);
    const { lanes } = openLanes({ perLane: 1, total: 10 });
    await fail(lanes, 'a', 'first', pass);
    for (let url = 0; url < 12; url += 1) lanes.breakers.permit('a', [`${url}`]);
    assert.equal(lanes.breakers.count('open'), 0);
  });

  test('use a part of the capacity in flight for probes', async (t) => {
    const pass = holdTime(t);
    const { lanes } = openLanes({ perLane: 1, total: 16 });
    for (const url of ['1', '2', '3', '4']) await fail(lanes, 'a', url, pass);
    await pass(60_000);
    const asked = lanes.breakers.permit('a', ['1', '2', '3', '4']);
    assert.deepEqual(
      asked.map((permit) => permit?.isProbe),
      [true, true, undefined, undefined],
    );
    asked[0]?.report(true);
    assert.equal(lanes.breakers.permit('a', ['3'])[0]?.isProbe, true);
  });
});

describe('a rate limit', () => {
  test('7.7 spaces requests evenly', async (t) => {
    const pass = holdTime(t);
    const { own, started, submit, endOne } = openLanes({ perLane: 10, total: 10 });
    own.set('limited', { rate: 2 });
    for (let count = 0; count < 5; count += 1) submit('limited');
    assert.equal(started.length, 1);
    for (const expected of [2, 3, 4]) {
      await pass(480);
      await endOne();
      assert.equal(started.length, expected - 1);
      await pass(20);
      assert.equal(started.length, expected);
    }
  });

  test('does so for any fraction of a millisecond at which the clock starts', async () => {
    for (let start = 0; start < 300; start += 0.7310585) {
      using time = simulateTime({ monotonicMs: start });
      const pass = (ms: number): Promise<void> => time.pass(ms);
      const { own, started, submit, endOne } = openLanes({ perLane: 10, total: 10 });
      own.set('limited', { rate: 3 });
      for (let count = 0; count < 5; count += 1) submit('limited');
      await pass(150);
      await endOne();
      await pass(183);
      assert.equal(started.length, 1, `${start}`);
      await pass(1);
      assert.equal(started.length, 2, `${start}`);
    }
  });

  test('of one destination does not affect others', async (t) => {
    holdTime(t);
    const { own, started, submit, warmUp } = openLanes({ perLane: 10, total: 100 });
    await warmUp('free');
    own.set('limited', { rate: 1 });
    for (let count = 0; count < 5; count += 1) submit('limited');
    for (let count = 0; count < 5; count += 1) submit('free');
    assert.equal(started.filter((name) => name === 'free').length, 5);
    assert.equal(started.filter((name) => name === 'limited').length, 1);
  });
});

describe('limits that change', () => {
  test('5.5 apply within a second to tasks that wait for their rate', async (t) => {
    const pass = holdTime(t);
    const { own, started, submit, endOne } = openLanes({ perLane: 1, total: 1 });
    own.set('limited', { rate: 0.01 });
    for (let count = 0; count < 3; count += 1) submit('limited');
    await endOne();
    await pass(2_000);
    assert.equal(started.length, 1);
    own.set('limited', { rate: 100 });
    await pass(1_000);
    await endOne();
    assert.equal(started.length, 3);
  });

  test('5.5 apply to tasks that wait for others in flight', async () => {
    const { own, started, submit, endOne, warmUp } = openLanes({ perLane: 4, total: 100 });
    await warmUp('a');
    for (let count = 0; count < 12; count += 1) submit('a');
    own.set('a', { inFlight: 1 });
    for (let count = 0; count < 3; count += 1) await endOne();
    assert.equal(started.length, 4);
    await endOne();
    assert.equal(started.length, 5);
    own.set('a', { inFlight: 3 });
    await endOne();
    assert.equal(started.length, 8);
  });
});

describe('paused lanes', () => {
  test('start and defer nothing, and continue when resumed', async (t) => {
    const pass = holdTime(t);
    const { lanes, started, deferred, submit, endOne } = openLanes({ perLane: 1, total: 2, waiting: 40 });
    submit('a');
    lanes.pause();
    for (let count = 0; count < 60; count += 1) submit('a');
    submit('b');
    await pass(3_000);
    await endOne();
    assert.deepEqual([started, deferred], [['a'], []]);
    lanes.resume();
    assert.deepEqual(started.toSorted(), ['a', 'a', 'b']);
  });

  test('drop tasks of revoked partitions when resumed', () => {
    const { lanes, started, submit } = openLanes({ perLane: 1, total: 10 });
    lanes.pause();
    submit('a', 'revoked', { revoked: true });
    submit('a', 'kept');
    lanes.resume();
    assert.deepEqual([started, lanes.waiting], [['kept'], 0]);
  });
});

describe('draining', () => {
  test('waits for running tasks, and starts no more', async () => {
    const { lanes, started, submit, endOne } = openLanes({ perLane: 2, total: 4 });
    for (const lane of ['a', 'a', 'a', 'b', 'b']) submit(lane);
    let drained = false;
    const draining = lanes.drain().then(() => {
      drained = true;
    });
    await endOne();
    assert.ok(!drained);
    await endOne();
    await draining;
    assert.deepEqual(started, ['a', 'b']);
    assert.equal(lanes.running, 0);
  });

  test('resolves immediately where nothing runs', async () => {
    await new Lanes({ ...roomy, perLane: 1, total: 1 }).drain();
  });

  test('leaves no timer of a destination with a rate limit', async (t) => {
    const { lanes, own, submit, endOne } = openLanes({ perLane: 1, total: 1 });
    own.set('limited', { rate: 1 });
    for (const name of ['first', 'second']) submit('limited', name);
    const draining = lanes.drain();
    const timers = t.mock.method(globalThis, 'setTimeout');
    await endOne();
    await draining;
    assert.equal(timers.mock.callCount(), 0);
  });
});
