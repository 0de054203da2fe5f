import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OutgoingRecord } from '@tailrace/kafka';
import type { AttemptRecord } from '@tailrace/topics';
import { targetsOf } from '@tailrace/webhook';
import { Attempts } from './attempt.ts';
import { Breakers } from './isolation/breakers.ts';
import { FakeSender } from './testing/fake-sender.ts';
import { destinationOf, names, newDelivery } from './testing/stage.ts';

test('the record of an attempt says since when a circuit breaker of its URLs is open', (t) => {
  const clock = t.mock.method(performance, 'now', () => 0);
  const at = (ms: number): void => {
    clock.mock.mockImplementation(() => ms);
  };
  const epoch = Date.UTC(2026, 10, 22);
  const records: AttemptRecord[] = [];
  const breakers = new Breakers(1, () => undefined);
  const attempts = new Attempts({
    ...{ names, breakers, sender: new FakeSender(), log: { debug: () => undefined } },
    attemptPublisher: {
      publish: ({ value }: OutgoingRecord) => {
        records.push(JSON.parse(String(value)) as AttemptRecord);
        return Promise.resolve();
      },
    },
    metrics: { attempted: () => undefined },
    now: () => epoch + performance.now(),
  });
  const [target] = targetsOf(destinationOf('crm'));
  assert.ok(target);
  const fail = (): void => {
    breakers.report('crm', target.fingerprint, false);
    const answer = { kind: 'retryable', reason: 'timeout' } as const;
    const attempt = { startedAt: epoch, results: [{ target, answer, latencyMs: 1 }] };
    attempts.report(newDelivery('crm'), { kind: 'retry', reason: 'timeout' }, attempt, epoch);
  };
  for (const ms of [0, 3_000, 6_000, 9_000, 12_000, 12_500]) {
    at(ms);
    fail();
  }
  const openedAt = new Date(epoch + 12_000).toISOString();
  assert.deepEqual(
    records.map(({ breakerOpenSince }) => breakerOpenSince),
    [undefined, undefined, undefined, undefined, openedAt, openedAt],
  );
});
