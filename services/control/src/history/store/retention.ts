/**
 * Limits the history by age and size. The oldest deliveries are removed first, in small portions that do not block requests.
 * Deliveries that were removed because of the size are not stored again: `floor` is the time up to which they were removed.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Store } from './store.ts';

export interface HistoryLimits {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

export interface Retention {
  /** Deliveries from before this time (milliseconds since the epoch) are not stored. */
  readonly floor: number;
  /** Size of the stored data; the file may be larger temporarily. */
  readonly bytes: number;
  /** Removes a portion of what exceeds the limits. Returns whether there may be more. */
  prune(): boolean;
}

const portion = 500;
/** Empty pages of 4 KB that are returned to the disk after a portion. */
const pagesToVacuum = 1_000;
/** The retention of the topic `usage`. */
const usageDays = 90;
const dayMs = 86_400_000;

export function createRetention(
  { db, transaction }: Store,
  limits: HistoryLimits,
  now: () => number,
): Retention {
  const oldest = db.prepare('SELECT id, created_at FROM deliveries ORDER BY created_at, id LIMIT ?');
  const deleteDelivery = db.prepare('DELETE FROM deliveries WHERE id = ?');
  const deleteAttempts = db.prepare('DELETE FROM attempts WHERE delivery_id = ?');
  const putFloor = db.prepare("INSERT OR REPLACE INTO meta VALUES ('floor', ?)");
  const oldCounts = ['minutes WHERE minute < ?', 'usage WHERE day < ?', 'event_usage WHERE day < ?'].map(
    (table) => db.prepare(`DELETE FROM ${table}`),
  );
  let sizeFloor = Number(db.prepare("SELECT value FROM meta WHERE name = 'floor'").get()?.['value'] ?? 0);
  let countsPrunedAt = -Infinity;

  const bytes = (): number =>
    (pragma(db, 'page_count') - pragma(db, 'freelist_count')) * pragma(db, 'page_size');
  const ageFloor = (): number => now() - limits.maxAgeMs;

  const deleteOldest = (before: number): number => {
    const rows = oldest.all(portion).filter((row) => Number(row['created_at']) < before);
    if (rows.length === 0) return 0;
    transaction(() => {
      for (const { id = null } of rows) {
        deleteAttempts.run(id);
        deleteDelivery.run(id);
      }
      if (before === Infinity) {
        sizeFloor = Number(rows.at(-1)?.['created_at']) + 1;
        putFloor.run(String(sizeFloor));
      }
    });
    db.exec(`PRAGMA incremental_vacuum(${pagesToVacuum})`);
    return rows.length;
  };

  /** The tables of counts are small: they are pruned completely, once a minute. */
  const pruneCounts = (): void => {
    if (now() - countsPrunedAt < 60_000) return;
    countsPrunedAt = now();
    const firstDay = new Date(now() - usageDays * dayMs).toISOString().slice(0, 10);
    const [minutes, ...usage] = oldCounts;
    minutes?.run(ageFloor());
    for (const statement of usage) statement.run(firstDay);
  };

  return {
    get floor() {
      return Math.max(ageFloor(), sizeFloor);
    },
    get bytes() {
      return bytes();
    },
    prune() {
      pruneCounts();
      if (deleteOldest(ageFloor()) === portion) return true;
      return bytes() > limits.maxBytes && deleteOldest(Infinity) > 0;
    },
  };
}

function pragma(db: DatabaseSync, name: string): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
}
