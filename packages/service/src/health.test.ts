import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHealth } from './health.ts';

test('a process is ready when each of its checks is', async () => {
  const health = createHealth({ cacheMs: 0 });
  let broken = false;
  health.add('steady', () => Promise.resolve());
  health.add('kafka', () => (broken ? Promise.reject(new Error('no broker answers')) : Promise.resolve()));
  assert.deepEqual(await health.report(), {
    ready: true,
    checks: [
      { name: 'steady', ready: true },
      { name: 'kafka', ready: true },
    ],
  });
  broken = true;
  assert.deepEqual(await health.report(), {
    ready: false,
    checks: [
      { name: 'steady', ready: true },
      { name: 'kafka', ready: false, reason: 'no broker answers' },
    ],
  });
});

test('a check that exceeds its timeout is not ready', async () => {
  const health = createHealth({ timeoutMs: 20 });
  health.add('kafka', () => new Promise<never>(() => undefined));
  const { ready, checks } = await health.report();
  assert.equal(ready, false);
  assert.equal(checks[0]?.reason, 'no answer within 20 ms');
});

test('a check runs once for all reports within its cache time', async () => {
  const health = createHealth({ cacheMs: 60_000 });
  let runs = 0;
  health.add('kafka', async () => {
    runs += 1;
    await new Promise(setImmediate);
  });
  await Promise.all(Array.from({ length: 50 }, () => health.report()));
  await health.report();
  assert.equal(runs, 1);
});

test('a check that throws synchronously is not ready', async () => {
  const health = createHealth();
  health.add('broken', () => {
    throw new Error('a defect');
  });
  assert.equal((await health.report()).checks[0]?.reason, 'a defect');
});
