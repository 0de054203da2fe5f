import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import { Health, type CheckReport } from './health.ts';

function openHealth(options?: ConstructorParameters<typeof Health>[0]): Health & Disposable {
  const health = new Health(options);
  return Object.assign(health, {
    [Symbol.dispose]: () => {
      health.close();
    },
  });
}

async function until(health: Health, name: string, isWanted: (report: CheckReport) => boolean) {
  for (;;) {
    const report = health.checks.find((check) => check.name === name);
    if (report && isWanted(report)) return report;
    await new Promise(setImmediate);
  }
}

test('the last result of each check is reported', async () => {
  using health = openHealth();
  let broken = false;
  health.add('steady', () => Promise.resolve(), { everyMs: 1 });
  health.add('kafka', () => (broken ? Promise.reject(new Error('no broker answers')) : Promise.resolve()), {
    everyMs: 1,
  });
  await until(health, 'kafka', ({ ok }) => ok);
  broken = true;
  await until(health, 'kafka', ({ ok }) => !ok);
  assert.deepEqual(health.checks, [
    { name: 'steady', ok: true },
    { name: 'kafka', ok: false, reason: 'no broker answers' },
  ]);
  broken = false;
  await until(health, 'kafka', ({ ok }) => ok);
});

test('a check without a result yet is not reported, and one that exceeds its timeout fails', async () => {
  using health = openHealth({ timeoutMs: 20 });
  health.add('kafka', () => new Promise<never>(() => undefined));
  assert.deepEqual(health.checks, []);
  const { reason } = await until(health, 'kafka', ({ ok }) => !ok);
  assert.equal(reason, 'no answer within 20 ms');
});

test('no check is repeated after the close, also where it was running', async () => {
  using time = simulateTime();
  using health = openHealth();
  const answers = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  let runs = 0;
  health.add('waiting', () => {
    runs += 1;
    return Promise.resolve();
  });
  health.add('running', () => answers[runs++ - 1]?.promise ?? Promise.resolve());
  await time.pass(1_000);
  health.close();
  for (const { resolve } of answers) resolve(undefined);
  await time.pass(60_000);
  assert.equal(runs, 2);
});

test('a check that throws synchronously fails', async () => {
  using health = openHealth();
  health.add('broken', () => {
    throw new Error('a defect');
  });
  assert.equal((await until(health, 'broken', ({ ok }) => !ok)).reason, 'a defect');
});
