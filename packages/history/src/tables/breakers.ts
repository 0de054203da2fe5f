/** Since when a circuit breaker of a destination is open, as its latest attempt reported. */
import type { DatabaseSync } from 'node:sqlite';
import type { AttemptRow } from '../facts/facts.ts';

export function breakerQueries(db: DatabaseSync) {
  const find = db.prepare('SELECT open_since FROM breakers WHERE destination_id = ?');
  return {
    /** Milliseconds since the epoch; undefined where no breaker of the destination is open, or none is known. */
    breakerOpenSince(destinationId: string): number | undefined {
      const since = find.get(destinationId)?.['open_since'];
      return since === null || since === undefined ? undefined : Number(since);
    },
  };
}

/** Returns a function that keeps the latest of these attempts and of the stored one, in any order of reading. */
export function breakerWriter(db: DatabaseSync): (attempts: readonly AttemptRow[]) => void {
  const put = db.prepare(`
    INSERT INTO breakers VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET at = excluded.at, open_since = excluded.open_since WHERE excluded.at >= at`);
  return (attempts) => {
    const latest = new Map<string, { readonly endedAt: number; readonly openSince: number | null }>();
    for (const { destinationId, startedAt, latencyMs, breakerOpenSince: openSince = null } of attempts) {
      const endedAt = startedAt + Math.round(latencyMs);
      if (endedAt >= (latest.get(destinationId)?.endedAt ?? 0))
        latest.set(destinationId, { endedAt, openSince });
    }
    for (const [id, { endedAt, openSince }] of latest) put.run(id, endedAt, openSince);
  };
}
