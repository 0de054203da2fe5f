import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TailraceError } from '@tailrace/errors';
import { limitRefreshes } from './freshness.ts';

const quiet = { warn: () => undefined };

test('many who wait share one refresh', async () => {
  let refreshes = 0;
  const freshAsOf = limitRefreshes(
    () => {
      refreshes += 1;
      return Promise.resolve();
    },
    quiet,
    1,
  );
  const since = performance.now();
  await Promise.all(Array.from({ length: 100 }, () => freshAsOf(since)));
  await freshAsOf(since);
  assert.equal(refreshes, 1);
});

test('a refresh that began before the question was asked does not answer it', async () => {
  const begun: PromiseWithResolvers<void>[] = [];
  const refresh = (): Promise<void> => {
    const running = Promise.withResolvers<undefined>();
    begun.push(running as PromiseWithResolvers<void>);
    secondBegan.resolve(begun.length);
    if (begun.length === 1) secondBegan = Promise.withResolvers<number>();
    return running.promise;
  };
  let secondBegan = Promise.withResolvers<number>();
  const freshAsOf = limitRefreshes(refresh, quiet, 1);

  const early = freshAsOf(performance.now());
  const late = freshAsOf(performance.now() + 0.001);
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

test('refreshes begin no closer together than the interval', async () => {
  const begins: number[] = [];
  const freshAsOf = limitRefreshes(
    () => {
      begins.push(performance.now());
      return Promise.resolve();
    },
    quiet,
    20,
  );
  for (let i = 0; i < 4; i++) await freshAsOf(performance.now());
  assert.equal(begins.length, 4);
  for (const [i, begin] of begins.slice(1).entries()) {
    assert.ok(begin - (begins[i] ?? NaN) >= 20, `refresh ${i + 2} began too early: ${begins.join(', ')}`);
  }
});

test('while Kafka is away it waits, and goes on when Kafka is back', async () => {
  let failures = 3;
  const freshAsOf = limitRefreshes(
    () => (failures-- > 0 ? Promise.reject(new TailraceError('kafka-unavailable')) : Promise.resolve()),
    quiet,
    1,
  );
  await freshAsOf(performance.now());
  assert.equal(failures, -1);
});

test('an error that is not about Kafka is not waited out', async () => {
  const freshAsOf = limitRefreshes(() => Promise.reject(new TypeError('a defect')), quiet, 1);
  await assert.rejects(freshAsOf(performance.now()), TypeError);
});
