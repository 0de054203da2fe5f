import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OutgoingRecord } from '@tailrace/kafka';
import type { AttemptRecord } from '@tailrace/topics';
import { simulatedStart, simulateTime } from '@tailrace/testing';
import { targetsOf } from '@tailrace/webhook';
import { AttemptReports } from './attempt-reports.ts';
import { Breakers } from '../isolation/breakers.ts';
import { destinationOf, names, newDelivery } from '../testing/stage.ts';

test('the record of an attempt says since when a circuit breaker of its URLs is open', async () => {
  using time = simulateTime();
  const records: AttemptRecord[] = [];
  const breakers = new Breakers(1, () => undefined);
  const attempts = new AttemptReports({
    names,
    breakers,
    log: { debug: () => undefined },
    attemptPublisher: {
      publish: ({ value }: OutgoingRecord) => {
        records.push(JSON.parse(String(value)) as AttemptRecord);
        return Promise.resolve();
      },
    },
    metrics: { attempted: () => undefined },
    now: Date.now,
  });
  const [target] = targetsOf(destinationOf('crm'));
  assert.ok(target);
  const fail = (): void => {
    breakers.report('crm', target.fingerprint, false);
    const answer = { kind: 'retryable', reason: 'timeout' } as const;
    const attempt = { startedAt: simulatedStart, results: [{ target, answer, latencyMs: 1 }] };
    void attempts.report(newDelivery('crm'), { kind: 'retry', reason: 'timeout' }, attempt, simulatedStart);
  };
  for (const ms of [0, 3_000, 3_000, 3_000, 3_000, 500]) {
    await time.pass(ms);
    fail();
  }
  const openedAt = new Date(simulatedStart + 12_000).toISOString();
  assert.deepEqual(
    records.map(({ breakerOpenSince }) => breakerOpenSince),
    [undefined, undefined, undefined, undefined, openedAt, openedAt],
  );
});
