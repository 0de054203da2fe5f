import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AttemptRow } from '../../facts/facts.ts';
import { hourMs, minuteMs, tables } from '../../schema/schema.ts';
import { createAttemptCounts } from './attempts.ts';
import { addCounts, noCounts, type Counts } from './counts.ts';
import { createFailureCounts } from './failures.ts';
import { statisticsQueries } from './queries.ts';

const midnight = Date.parse('2026-05-01T00:00:00Z');
const periodMs = 12 * hourMs;

function attemptAt(startedAt: number): AttemptRow {
  return {
    deliveryId: 'd-1',
    destinationId: 'crm',
    attempt: 1,
    startedAt,
    latencyMs: startedAt % 700,
    outcome: 'delivered',
    reason: null,
    nextDueAt: null,
    urls: [],
  };
}

test('steps of whole hours count the same attempts as the minutes in them', () => {
  const offset = fc.integer({ min: 0, max: periodMs });
  const minute = fc.integer({ min: 0, max: periodMs / minuteMs }).map((minutes) => minutes * minuteMs);
  fc.assert(
    fc.property(
      fc.array(fc.array(offset, { maxLength: 20 }), { maxLength: 4 }),
      minute,
      offset,
      fc.constantFrom(1, 2, 5),
      (batches, from, to, hours) => {
        using db = new DatabaseSync(':memory:');
        db.exec(tables);
        const attempts = createAttemptCounts(db);
        for (const batch of batches) attempts.add(batch.map((at) => attemptAt(midnight + at)));
        const queries = statisticsQueries(db);
        const period = { since: midnight + from, until: midnight + to };
        const expected = new Map<number, Counts>();
        for (const [at, counts] of queries.countsOf('crm', { ...period, stepMs: minuteMs })) {
          const step = Math.floor(at / (hours * hourMs)) * hours * hourMs;
          const sum = expected.get(step) ?? noCounts();
          addCounts(sum, counts);
          expected.set(step, sum);
        }
        assert.deepEqual(queries.countsOf('crm', { ...period, stepMs: hours * hourMs }), expected);
      },
    ),
    { numRuns: 50 },
  );
});

test('the failures of a minute with one reason are one row', () => {
  using db = new DatabaseSync(':memory:');
  db.exec(tables);
  const failures = createFailureCounts(db);
  for (let second = 0; second < 120; second += 1) {
    failures.failed({ ...attemptAt(midnight + second * 1_000 + 7), outcome: 'retry', reason: 'timeout' });
  }
  const rows = db.prepare('SELECT minute, attempts, last_at FROM failed_minutes ORDER BY minute').all();
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [0, 1].map((minute) => ({
      minute: midnight + minute * minuteMs,
      attempts: 60,
      last_at: midnight + minute * minuteMs + 59_007,
    })),
  );
});
