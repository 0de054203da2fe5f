import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OutgoingRecord } from '@tailrace/kafka';
import { createMetrics } from '@tailrace/service';
import type { AttemptRecord } from '@tailrace/records';
import { simulatedStart, simulateTime } from '@tailrace/testing';
import { targetsOf } from '@tailrace/webhook';
import { Breakers } from '../receivers/breakers.ts';
import { DeliveryMetrics } from './metrics.ts';
import { Observer } from './observer.ts';
import { destinationOf, names, newDelivery } from '../testing/stage.ts';

test('the record of an attempt says since when a circuit breaker of its URLs is open', async () => {
  using time = simulateTime();
  const records: AttemptRecord[] = [];
  const breakers = new Breakers(1, () => undefined);
  const ignore = (): undefined => undefined;
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const config = { destination: ignore, onChange: () => ignore };
  const metrics = new DeliveryMetrics(createMetrics(), { config, log, logAttempts: 'none' });
  const observer = new Observer({
    names,
    breakers,
    metrics,
    log,
    exchanges: { encode: ignore },
    publisher: {
      publish: ({ value }: OutgoingRecord) => {
        records.push(JSON.parse(String(value)) as AttemptRecord);
        return Promise.resolve();
      },
    },
    now: Date.now,
  });
  const [target] = targetsOf(destinationOf('crm'));
  assert.ok(target);
  const fail = (): void => {
    breakers.permit('crm', [target.fingerprint])[0]?.report(false);
    const answer = { kind: 'retryable', reason: 'timeout' } as const;
    const attempt = { startedAt: simulatedStart, results: [{ target, answer, latencyMs: 1 }] };
    const outcome = { kind: 'retry', reason: 'timeout' } as const;
    void observer.attempted(newDelivery('crm'), outcome, attempt, simulatedStart);
  };
  for (const ms of [0, 3_000, 3_000, 3_000, 3_000, 500]) {
    await time.pass(ms);
    fail();
  }
  metrics.close();
  const openedAt = new Date(simulatedStart + 12_000).toISOString();
  assert.deepEqual(
    records.map(({ breakerOpenSince }) => breakerOpenSince),
    [undefined, undefined, undefined, undefined, openedAt, openedAt],
  );
});
