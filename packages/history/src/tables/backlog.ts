/**
 * The backlog of each destination over time. Of each minute it is counted how many deliveries were added and how many ended, while
 * records are read; the backlog at a time is what is pending now, without what was added since, with what has ended since. So an error
 * of one minute, such as a delivery that was repeated after a crash, changes the minutes before it only.
 */
import type { DatabaseSync } from 'node:sqlite';
import { pendingStatuses } from '../facts/delivery-row.ts';
import type { BacklogChange } from '../facts/facts.ts';
import { minuteMs } from '../schema/schema.ts';
import type { Period } from './flow.ts';

export function backlogQueries(db: DatabaseSync) {
  const later = db.prepare(
    'SELECT sum(added) - sum(ended) AS change FROM backlog_minutes WHERE destination_id = ? AND at >= ?',
  );
  // Numbers are bound as floating-point numbers, which SQLite divides without rounding.
  const steps = db.prepare(`
    SELECT ?2 + CAST(at - ?2 AS INTEGER) / CAST(?4 AS INTEGER) * ?4 AS step, sum(added) - sum(ended) AS change FROM backlog_minutes
    WHERE destination_id = ?1 AND at >= ?2 AND at < ?3 GROUP BY step`);
  const oldest = db.prepare(`
    SELECT created_at FROM deliveries INDEXED BY deliveries_pending
    WHERE destination_id = ? AND status IN ${pendingStatuses} ORDER BY created_at LIMIT 1`);
  return {
    /**
     * The pending deliveries at the end of each step, by its start.
     *
     * @param pending those of now
     */
    backlogOf(
      destinationId: string,
      { since, until, stepMs }: Period,
      pending: number,
    ): ReadonlyMap<number, number> {
      const changes = new Map(
        steps
          .all(destinationId, since, until, stepMs)
          .map((row) => [Number(row['step']), Number(row['change'])]),
      );
      let deliveries = pending - Number(later.get(destinationId, until)?.['change'] ?? 0);
      const backlog: [at: number, deliveries: number][] = [];
      const last = since + Math.floor(Math.max(0, until - since - 1) / stepMs) * stepMs;
      for (let at = last; at >= since; at -= stepMs) {
        backlog.push([at, Math.max(0, deliveries)]);
        deliveries -= changes.get(at) ?? 0;
      }
      return new Map(backlog.reverse());
    },
    /** When the oldest pending delivery of the destination was made. */
    oldestPendingOf(destinationId: string): number | undefined {
      const at = oldest.get(destinationId)?.['created_at'];
      return at === undefined ? undefined : Number(at);
    },
  };
}

export function createBacklogWriter(db: DatabaseSync) {
  const add = db.prepare(`
    INSERT INTO backlog_minutes VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET added = added + excluded.added, ended = ended + excluded.ended`);
  const counted = new Map<string, { destinationId: string; minute: number; added: number; ended: number }>();
  return {
    /** @param by -1 takes back a change that was counted at this time */
    count(destinationId: string, change: BacklogChange, at: number, by: 1 | -1 = 1): void {
      const minute = Math.floor(at / minuteMs) * minuteMs;
      const key = `${minute} ${destinationId}`;
      let entry = counted.get(key);
      if (!entry) counted.set(key, (entry = { destinationId, minute, added: 0, ended: 0 }));
      entry[change] += by;
    },
    /** Writes what was counted since the last call. */
    flush(): void {
      for (const { destinationId, minute, added, ended } of counted.values()) {
        add.run(destinationId, minute, added, ended);
      }
      counted.clear();
    },
  };
}
