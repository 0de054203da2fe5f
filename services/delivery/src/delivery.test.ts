import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LabelsOf } from '@tailrace/metrics';
import type { PermanentReason } from '@tailrace/webhook';
import type { DeadReason, RetryReason } from './delivery.ts';

type Same<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false;
type AttemptReason = Exclude<LabelsOf<'tailrace_delivery_attempts_total'>['reason'], ''>;

test('the reasons in metrics are those of the code', () => {
  const dead: Same<DeadReason, LabelsOf<'tailrace_dead_letters_total'>['reason']> = true;
  const attempts: Same<
    RetryReason | PermanentReason | 'attempts-exhausted' | 'window-exceeded',
    AttemptReason
  > = true;
  // The compiler checks them: a difference is an error of types.
  assert.deepEqual([dead, attempts], [true, true]);
});
