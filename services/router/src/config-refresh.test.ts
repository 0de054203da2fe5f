import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TailraceError } from '@tailrace/errors';
import { simulatedStart, simulateTime, type SimulatedTime } from '@tailrace/testing';
import { limitRefreshes } from './config-refresh.ts';

const quiet = { warn: () => undefined };

/** `Date.now()` and `performance.now()` return the same. */
function simulateClocks(): SimulatedTime {
  return simulateTime({ monotonicMs: simulatedStart });
}

test('concurrent callers share one refresh', async () => {
  using time = simulateClocks();
  let refreshes = 0;
  const refreshedSince = limitRefreshes(() => {
    refreshes += 1;
    return Promise.resolve();
  }, quiet);
  const since = Date.now();
  await Promise.all(Array.from({ length: 100 }, () => refreshedSince(since)));
  await time.pass(2_000);
  await refreshedSince(since);
  assert.equal(refreshes, 1);
});

test('a refresh that began before the call does not satisfy it', async () => {
  using time = simulateClocks();
  const begun: PromiseWithResolvers<undefined>[] = [];
  const refreshedSince = limitRefreshes(() => {
    const running = Promise.withResolvers<undefined>();
    begun.push(running);
    return running.promise;
  }, quiet);

  const early = refreshedSince(Date.now());
  await time.pass(1);
  const late = refreshedSince(Date.now());
  begun[0]?.resolve(undefined);
  await early;
  await time.until(() => begun.length === 2);
  let answered = false;
  void late.then(() => {
    answered = true;
  });
  await time.pass(1);
  assert.equal(answered, false);
  begun[1]?.resolve(undefined);
  await late;
});

test('refreshes start at least one interval apart', async () => {
  using time = simulateClocks();
  const begins: number[] = [];
  const refreshedSince = limitRefreshes(
    () => {
      begins.push(Date.now() - simulatedStart);
      return Promise.resolve();
    },
    quiet,
    20,
  );
  for (let nth = 0; nth < 4; nth += 1) {
    await time.settled(refreshedSince(Date.now()));
    await time.pass(1);
  }
  assert.deepEqual(begins, [0, 20, 40, 60]);
});

test('a failed refresh is repeated while Kafka is unavailable', async () => {
  using time = simulateClocks();
  let failures = 3;
  const refreshedSince = limitRefreshes(
    () => (failures-- > 0 ? Promise.reject(new TailraceError('kafka-unavailable')) : Promise.resolve()),
    quiet,
  );
  await time.settled(refreshedSince(Date.now()));
  assert.equal(failures, -1);
});

test('an error that is not a TailraceError is passed on', async () => {
  const refreshedSince = limitRefreshes(() => Promise.reject(new TypeError('a defect')), quiet);
  await assert.rejects(refreshedSince(0), TypeError);
});
