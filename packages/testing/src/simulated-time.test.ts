import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { holdRealTime, simulatedStart, simulateTime } from './simulated-time.ts';

const hourMs = 3_600_000;

describe('simulated time', () => {
  test('passes only when the test says so, on all clocks alike', async () => {
    using time = simulateTime({ monotonicMs: 7.25 });
    const [date, created] = [Date.now(), new Date().getTime()];
    await turn();
    assert.deepEqual([Date.now(), created, performance.now()], [date, date, 7.25]);
    await time.pass(4 * hourMs);
    assert.equal(Date.now() - date, 4 * hourMs);
    assert.equal(new Date().getTime() - date, 4 * hourMs);
    assert.equal(performance.now(), 7.25 + 4 * hourMs);
    assert.equal(performance.eventLoopUtilization().idle, 4 * hourMs);
    assert.equal(new Date('2026-11-21T00:00:00Z').toISOString(), '2026-11-21T00:00:00.000Z');
  });

  test('fires timers in order, each when all that runs before it has run', async () => {
    using time = simulateTime();
    const start = Date.now();
    const seen: string[] = [];
    const see = (what: string): void => {
      seen.push(`${what} at ${Date.now() - start}`);
    };
    setTimeout(see, 300, 'later');
    setTimeout(() => {
      setImmediate(() => {
        setImmediate(() => {
          see('immediate');
          setTimeout(see, 50, 'nested');
        });
      });
    }, 100);
    const interval = setInterval(see, 120, 'interval');
    void wait(150, 'waited').then(see);
    await time.pass(299);
    clearInterval(interval);
    await time.pass(hourMs);
    assert.deepEqual(seen, [
      'immediate at 100',
      'interval at 120',
      'waited at 150',
      'nested at 150',
      'interval at 240',
      'later at 300',
    ]);
  });

  test('has timers that are cleared, refreshed and aborted', async () => {
    using time = simulateTime();
    const fired: string[] = [];
    clearTimeout(setTimeout(() => fired.push('cleared'), 10));
    const refreshed = setTimeout(() => fired.push('refreshed'), 10).unref();
    const aborted = new AbortController();
    const waiting = wait(10, undefined, { signal: aborted.signal });
    await time.pass(9);
    refreshed.refresh();
    aborted.abort();
    await assert.rejects(waiting, { name: 'AbortError', code: 'ABORT_ERR' });
    await time.pass(9);
    assert.deepEqual(fired, []);
    await time.pass(1);
    assert.deepEqual(fired, ['refreshed']);
  });

  test('goes no further than a condition or a promise needs', async () => {
    using time = simulateTime();
    const start = Date.now();
    let count = 0;
    const interval = setInterval(() => {
      count += 1;
    }, 1_000);
    await time.until(() => count === 3);
    assert.equal(Date.now() - start, 3_000);
    assert.equal(await time.settled(time.after(500, 'value')), 'value');
    assert.equal(Date.now() - start, 3_500);
    await assert.rejects(time.settled(time.after(1).then(() => assert.fail('failed'))), /failed/);
    clearInterval(interval);
    await assert.rejects(
      time.until(() => count > 3),
      /not within 5 hours: .*count > 3/,
    );
  });

  test('ends when it is disposed of, and a timer that is left never fires', async () => {
    const before = [setTimeout, setInterval, setImmediate, Date, Date.now];
    const early = setTimeout(() => assert.fail('cleared'), 0);
    let left: NodeJS.Timeout;
    {
      using time = simulateTime();
      assert.throws(() => simulateTime(), /simulated already/);
      clearTimeout(early);
      await time.pass(1);
      left = setTimeout(() => assert.fail('left'), 0);
    }
    clearTimeout(left);
    assert.deepEqual([setTimeout, setInterval, setImmediate, Date, Date.now], before);
    await turn();
  });

  test('does not begin beside what runs on real time, and holds what begins with it', () => {
    {
      using _service = holdRealTime('control');
      assert.throws(() => simulateTime(), /on real time: control/);
    }
    using time = simulateTime();
    using _service = holdRealTime('delivery');
    time[Symbol.dispose]();
    assert.doesNotThrow(() => {
      simulateTime()[Symbol.dispose]();
    });
  });
});

test('the clock that can be set is set, and no other', async () => {
  const before = Date.now();
  {
    using time = simulateTime({ monotonicMs: 5 });
    time.setClock(-1_000);
    await time.pass(10);
    const set = simulatedStart - 990;
    assert.deepEqual([Date.now(), +new Date(), performance.now()], [set, set, 15]);
  }
  assert.ok(Date.now() >= before);
});
