import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { Lanes } from './lanes.ts';

/** Lanes whose tasks run until they are told to end. */
function openLanes(limits: { perLane: number; total: number }) {
  const lanes = new Lanes(limits);
  const started: string[] = [];
  const running: { readonly name: string; readonly end: () => void }[] = [];
  return {
    lanes,
    /** The lanes of the tasks that were started, in the order of their starts. */
    started,
    running,
    submit: (lane: string, name = lane): void => {
      lanes.submit(lane, () => {
        started.push(name);
        return new Promise((resolve) => running.push({ name: lane, end: resolve }));
      });
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
    const lanes = new Lanes({ perLane: 1, total: 1 });
    const numbers = Array.from({ length: 3_000 }, (_, number) => number);
    const started: number[] = [];
    await Promise.all(
      numbers.map(
        (number) =>
          new Promise<void>((resolve) => {
            lanes.submit('a', () => {
              started.push(number);
              resolve();
              return Promise.resolve();
            });
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
    await new Lanes({ perLane: 1, total: 1 }).drain();
  });
});
