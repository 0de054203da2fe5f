import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHealth, type CheckReport, type Health } from './health.ts';

async function until(health: Health, name: string, isWanted: (report: CheckReport) => boolean) {
  for (;;) {
    const report = health.checks.find((check) => check.name === name);
    if (report && isWanted(report)) return report;
    await new Promise(setImmediate);
  }
}

test('the last result of each check is reported', async () => {
  const health = createHealth();
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
  const health = createHealth({ timeoutMs: 20 });
  health.add('kafka', () => new Promise<never>(() => undefined));
  assert.deepEqual(health.checks, []);
  const { reason } = await until(health, 'kafka', ({ ok }) => !ok);
  assert.equal(reason, 'no answer within 20 ms');
});

test('a check that throws synchronously fails', async () => {
  const health = createHealth();
  health.add('broken', () => {
    throw new Error('a defect');
  });
  assert.equal((await until(health, 'broken', ({ ok }) => !ok)).reason, 'a defect');
});
