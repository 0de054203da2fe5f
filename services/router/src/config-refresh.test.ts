import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TailraceError } from '@tailrace/errors';
import { limitRefreshes } from './config-refresh.ts';

const quiet = { warn: () => undefined };

test('concurrent callers share one refresh', async () => {
  let refreshes = 0;
  const refreshedSince = limitRefreshes(
    () => {
      refreshes += 1;
      return Promise.resolve();
    },
    quiet,
    1,
  );
  const since = performance.now();
  await Promise.all(Array.from({ length: 100 }, () => refreshedSince(since)));
  await refreshedSince(since);
  assert.equal(refreshes, 1);
});

test('a refresh that began before the call does not satisfy it', async () => {
  const begun: PromiseWithResolvers<void>[] = [];
  const refresh = (): Promise<void> => {
    const running = Promise.withResolvers<undefined>();
    begun.push(running as PromiseWithResolvers<void>);
    secondBegan.resolve(begun.length);
    if (begun.length === 1) secondBegan = Promise.withResolvers<number>();
    return running.promise;
  };
  let secondBegan = Promise.withResolvers<number>();
  const refreshedSince = limitRefreshes(refresh, quiet, 1);

  const early = refreshedSince(performance.now());
  const late = refreshedSince(performance.now() + 0.001);
  begun[0]?.resolve();
  await early;
  assert.equal(await secondBegan.promise, 2);
  let answered = false;
  void late.then(() => {
    answered = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(answered, false);
  begun[1]?.resolve();
  await late;
});

test('refreshes start at least one interval apart', async () => {
  const begins: number[] = [];
  const refreshedSince = limitRefreshes(
    () => {
      begins.push(performance.now());
      return Promise.resolve();
    },
    quiet,
    20,
  );
  for (let i = 0; i < 4; i++) await refreshedSince(performance.now());
  assert.equal(begins.length, 4);
  for (const [i, begin] of begins.slice(1).entries()) {
    assert.ok(begin - (begins[i] ?? NaN) >= 20, `refresh ${i + 2} began too early: ${begins.join(', ')}`);
  }
});

test('a failed refresh is repeated while Kafka is unavailable', async () => {
  let failures = 3;
  const refreshedSince = limitRefreshes(
    () => (failures-- > 0 ? Promise.reject(new TailraceError('kafka-unavailable')) : Promise.resolve()),
    quiet,
    1,
  );
  await refreshedSince(performance.now());
  assert.equal(failures, -1);
});

test('an error that is not a TailraceError is passed on', async () => {
  const refreshedSince = limitRefreshes(() => Promise.reject(new TypeError('a defect')), quiet, 1);
  await assert.rejects(refreshedSince(performance.now()), TypeError);
});
