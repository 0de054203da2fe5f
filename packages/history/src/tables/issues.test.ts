import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DeliveryRow } from '../facts/delivery-row.ts';
import { minuteMs, tables } from '../schema/schema.ts';
import { issueQueries } from './issues.ts';
import { createFailureCounts } from './statistics/failures.ts';

const midnight = Date.parse('2026-05-01T00:00:00Z');
const reason = fc.constantFrom('timeout', 'client-error', 'user-deleted');
const at = fc.integer({ min: 0, max: 5 * minuteMs }).map((ms) => midnight + ms);
const change = fc.oneof(
  fc.record({ kind: fc.constant('failed' as const), reason, at }),
  fc.record({ kind: fc.constant('dead' as const), reason, at }),
  fc.record({ kind: fc.constant('replayed' as const), reason, at }),
  fc.record({ kind: fc.constant('expired' as const), reason, at }),
);

function delivery(status: 'waiting' | 'dead', reason: string, changedAt: number): DeliveryRow {
  const state = { status, changedAt, rank: 0, reason, nextDueAt: null };
  const ids = { id: 'd', eventId: 'e', sourceId: 'web', destinationId: 'crm', type: 'track' };
  return { ...ids, event: null, userKey: 'u', createdAt: 0, state, place: null };
}

test('an issue is the sum of the failures that the history has, without those that somebody has caused', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      using db = new DatabaseSync(':memory:');
      db.exec(tables);
      const failures = createFailureCounts(db);
      const expire = db.prepare('DELETE FROM failed_minutes WHERE minute < ?');
      const attempt = { deliveryId: 'd', destinationId: 'crm', attempt: 1, latencyMs: 1, nextDueAt: null };
      for (const { kind, reason, at } of changes) {
        const dead = delivery('dead', reason, at);
        if (kind === 'failed')
          failures.failed({ ...attempt, startedAt: at, outcome: 'retry', reason, urls: [] });
        else if (kind === 'dead') failures.changed(undefined, dead);
        else if (kind === 'replayed') failures.changed(dead, delivery('waiting', reason, at));
        else expire.run(at);
      }
      const sums = db
        .prepare(
          `SELECT reason, sum(attempts) AS attempts, sum(dead) AS dead FROM failed_minutes
           GROUP BY reason HAVING sum(attempts) > 0 OR sum(dead) > 0 ORDER BY reason`,
        )
        .all();
      const issues = issueQueries(db).issues();
      assert.deepEqual(
        issues.map(({ reason, attempts, dead }) => ({ reason, attempts, dead })),
        sums.map((row) => ({ ...row })),
      );
      assert.deepEqual(issueQueries(db).issues(['erp']), []);
      assert.ok(
        issues.every(
          ({ firstAt, lastAt, reason, attempts }) =>
            firstAt <= lastAt && (reason !== 'user-deleted' || attempts > 0),
        ),
      );
    }),
    { numRuns: 50 },
  );
});
