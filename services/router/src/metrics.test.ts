import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LabelsOf } from '@tailrace/metrics';
import type { FilterReason } from '@tailrace/routing';
import type { Rejection } from './reject-record.ts';

type Same<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false;

test('the codes and reasons in metrics are those of the code', () => {
  const codes: Same<Rejection['code'], LabelsOf<'tailrace_events_rejected_total'>['code']> = true;
  const reasons: Same<
    FilterReason | 'record-too-large',
    LabelsOf<'tailrace_deliveries_filtered_total'>['reason']
  > = true;
  // The compiler checks them: a difference is an error of types.
  assert.deepEqual([codes, reasons], [true, true]);
});
