/** Of each destination, since when a circuit breaker is open, as its latest attempt reported, and when an attempt was last delivered. */
import type { DatabaseSync } from 'node:sqlite';
import { isAboutReceiver } from '@tailrace/records';
import type { AttemptRow } from '../facts/facts.ts';
import { plain } from '../sqlite/row.ts';

/** Of those that got as far as the receiver. Times are milliseconds since the epoch. */
export interface LatestAttempts {
  /** When the latest attempt ended. */
  readonly attemptedAt: number;
  /** When the latest one ended that was delivered; null where none is known. */
  readonly deliveredAt: number | null;
  /** Of the latest failure that is known. */
  readonly reason: string | null;
}

export function breakerQueries(db: DatabaseSync) {
  const find = db.prepare('SELECT open_since FROM breakers WHERE destination_id = ?');
  const latest = db.prepare(`
    SELECT destination_id AS id, at AS attemptedAt, delivered_at AS deliveredAt,
      (SELECT reason FROM failed_minutes AS failed WHERE failed.destination_id = breakers.destination_id AND attempts > 0
       ORDER BY minute DESC LIMIT 1) AS reason
    FROM breakers WHERE destination_id IN (SELECT value FROM json_each(?))`);
  return {
    /** By the id of the destination; those of which no attempt is known are left out. */
    latestAttempts(destinationIds: readonly string[]): ReadonlyMap<string, LatestAttempts> {
      const rows = latest
        .all(JSON.stringify(destinationIds))
        .map(plain<LatestAttempts & { readonly id: string }>);
      return new Map(rows.map(({ id, ...attempts }) => [id, attempts]));
    },
    /** Milliseconds since the epoch; undefined where no breaker of the destination is open, or none is known. */
    breakerOpenSince(destinationId: string): number | undefined {
      const since = find.get(destinationId)?.['open_since'];
      return since === null || since === undefined ? undefined : Number(since);
    },
  };
}

interface Latest {
  endedAt: number;
  openSince: number | null;
  deliveredAt: number | null;
}

/** Returns a function that keeps the latest of these attempts and of the stored one, in any order of reading. */
export function breakerWriter(db: DatabaseSync): (attempts: readonly AttemptRow[]) => void {
  const put = db.prepare(`
    INSERT INTO breakers VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET open_since = iif(excluded.at >= at, excluded.open_since, open_since), at = max(at, excluded.at),
      delivered_at = nullif(max(ifnull(delivered_at, 0), ifnull(excluded.delivered_at, 0)), 0)`);
  return (attempts) => {
    const latest = new Map<string, Latest>();
    for (const { destinationId, startedAt, latencyMs, outcome, breakerOpenSince = null } of attempts.filter(
      isAboutReceiver,
    )) {
      const endedAt = startedAt + Math.round(latencyMs);
      const known = latest.get(destinationId) ?? { endedAt: 0, openSince: null, deliveredAt: null };
      if (endedAt >= known.endedAt) Object.assign(known, { endedAt, openSince: breakerOpenSince });
      if (outcome === 'delivered') known.deliveredAt = Math.max(known.deliveredAt ?? 0, endedAt);
      latest.set(destinationId, known);
    }
    for (const [id, { endedAt, openSince, deliveredAt }] of latest)
      put.run(id, endedAt, openSince, deliveredAt);
  };
}
