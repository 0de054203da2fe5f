/** Counts attempts by destination and in all, by outcome and latency, in a minute and in an hour, while they are written. */
import type { DatabaseSync } from 'node:sqlite';
import type { AttemptRow } from '../../facts/facts.ts';
import { textOf } from '../../sqlite/row.ts';
import { attemptCounts } from '../../schema/schema.ts';
import { addCounts, countAttempt, noCounts, parseCounts, type Counts } from './counts.ts';

/** The key of the counts of all destinations; no destination has an empty id. */
export const allDestinations = '';

export function createAttemptCounts(db: DatabaseSync) {
  const tables = attemptCounts.map(({ table, unitMs }) => ({
    unitMs,
    find: db.prepare(`SELECT counts FROM ${table} WHERE destination_id = ? AND at = ?`),
    // Replacing the row would delete it without its trigger.
    put: db.prepare(
      `INSERT INTO ${table} VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET counts = excluded.counts`,
    ),
  }));
  return {
    add(attempts: readonly AttemptRow[]): void {
      for (const { unitMs, find, put } of tables) {
        for (const [destinationId, at, counts] of countsBy(unitMs, attempts)) {
          const stored = find.get(destinationId, at);
          if (stored) addCounts(counts, parseCounts(textOf(stored, 'counts')));
          put.run(destinationId, at, JSON.stringify(counts));
        }
      }
    },
  };
}

function countsBy(unitMs: number, attempts: readonly AttemptRow[]): Iterable<[string, number, Counts]> {
  const counted = new Map<string, [string, number, Counts]>();
  for (const { destinationId, startedAt, outcome, latencyMs } of attempts) {
    const at = Math.floor(startedAt / unitMs) * unitMs;
    for (const id of [destinationId, allDestinations]) {
      const key = `${at} ${id}`;
      let entry = counted.get(key);
      if (!entry) counted.set(key, (entry = [id, at, noCounts()]));
      countAttempt(entry[2], outcome, latencyMs);
    }
  }
  return counted.values();
}
