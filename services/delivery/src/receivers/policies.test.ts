import assert from 'node:assert/strict';
import test from 'node:test';
import type { Destination } from '@tailrace/config';
import type { Delivery } from '@tailrace/records';
import { Policies } from './policies.ts';
import { destinationOf } from '../testing/stage.ts';
import { transition } from '../transition.ts';

const crm = destinationOf('crm');
const [second, minute, hour] = [1_000, 60_000, 3_600_000] as const;
const usual = {
  scheduleMs: [10 * second, minute, hour],
  windowMs: 4 * hour,
  tiersMs: [10 * second, minute, hour],
  pauseMs: 24 * hour,
};

test('10.9 a destination chooses a shorter window, and delays that have a retry topic', () => {
  let destination: Destination = crm;
  const policies = new Policies(usual, { destination: () => destination });
  const policy = () => policies.ofDelivery({ destinationId: 'crm' });
  assert.equal(policy(), usual);
  destination = { ...crm, retry: { for: '30m' } };
  assert.deepEqual(policy(), { ...usual, windowMs: 30 * minute });
  assert.equal(policy(), policy());
  destination = { ...crm, retry: { schedule: ['10s', '10s', '11s', '4h'] } };
  assert.deepEqual(policy().scheduleMs, [10 * second, 10 * second, minute, hour]);
  assert.equal(policy().windowMs, usual.windowMs);
});

test('the window of the service is a limit', () => {
  const policies = new Policies({ ...usual, windowMs: minute }, { destination: () => undefined });
  assert.equal(policies.of({ ...crm, retry: { for: '4h' } }).windowMs, minute);
  assert.equal(policies.of(undefined).windowMs, minute);
});

test('however short its delays are, what waits for a receiver that is down is written a few times only', () => {
  for (const retry of [{}, { schedule: ['10s'] }, { schedule: ['4h', '10s', '10s'] }]) {
    const destination = { ...crm, retry };
    const policy = new Policies(usual, { destination: () => destination }).of(destination);
    const begun = Date.parse('2026-05-01T00:00:00Z');
    let delivery = { destinationId: 'crm', attempt: 0, step: 0, deferrals: 0 } as Delivery;
    let writes = 0;
    for (let now = begun; ; writes += 1) {
      const down = { kind: 'down', firstAttemptAt: begun, probeInMs: Infinity } as const;
      const effect = transition(delivery, down, policy, now);
      if (effect.kind !== 'wait') break;
      assert.ok(effect.until > now);
      now = effect.until;
      delivery = effect.delivery;
    }
    assert.ok(writes <= 10, `${JSON.stringify(retry)}: ${writes}`);
  }
});
