import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { tables } from '../../schema/schema.ts';
import { usageQueries } from './queries.ts';
import { createUsageWriter } from './write.ts';

test('the latest call of each source is known, whatever the order in which usage is read', () => {
  using db = new DatabaseSync(':memory:');
  db.exec(tables);
  const write = createUsageWriter(db);
  const usage = { day: '2026-11-27', filtered: 0, events: [] };
  for (const [sourceId, calls, at] of [
    ['web', { page: 1 }, 2_000],
    ['web', { track: 3 }, 1_000],
    ['web', { track: 0 }, 3_000],
    ['app', { identify: 1 }, 500],
  ] as const) {
    write({ ...usage, sourceId, calls }, at);
  }
  const expected = new Map([
    ['app', 500],
    ['web', 2_000],
  ]);
  assert.deepEqual(usageQueries(db).receivedAt(), expected);
});
