/** Counts failed attempts, and deliveries that are dead of a failure, by destination, minute and reason, while they are written. */
import type { DatabaseSync } from 'node:sqlite';
import { isExpected } from '@tailrace/deadletters';
import type { DeliveryRow, DeliveryState } from '../../facts/delivery-row.ts';
import type { AttemptRow } from '../../facts/facts.ts';
import { minuteMs } from '../../schema/schema.ts';

/** Numbers are bound as floating-point numbers, which SQLite divides without rounding. */
const minuteOf = (value: string): string => `CAST(${value} AS INTEGER) / ${minuteMs} * ${minuteMs}`;

export function createFailureCounts(db: DatabaseSync) {
  const addAttempt = db.prepare(`
    INSERT INTO failed_minutes VALUES (?1, ${minuteOf('?2')}, ?3, 1, 0, ?2, ?2)
    ON CONFLICT DO UPDATE SET attempts = attempts + 1,
      first_at = min(ifnull(first_at, ?2), ?2), last_at = max(ifnull(last_at, ?2), ?2)`);
  const addDead = db.prepare(`
    INSERT INTO failed_minutes VALUES (?1, ${minuteOf('?2')}, ?3, 0, max(?4, 0), NULL, NULL)
    ON CONFLICT DO UPDATE SET dead = max(0, dead + ?4)`);

  const count = ({ destinationId }: DeliveryRow, { reason, changedAt }: DeliveryState, by: number): void => {
    addDead.run(destinationId, changedAt, reason ?? 'unknown', by);
  };

  return {
    failed({ destinationId, startedAt, reason }: AttemptRow): void {
      if (reason !== null) addAttempt.run(destinationId, startedAt, reason);
    },
    /** A delivery was dead, or is dead now. */
    changed(before: DeliveryRow | undefined, now: DeliveryRow): void {
      const [wasDead, isDead] = [failedIn(before?.state), failedIn(now.state)];
      if (wasDead === isDead) return;
      if (wasDead) count(now, wasDead, -1);
      if (isDead) count(now, isDead, 1);
    },
  };
}

function failedIn(state: DeliveryState | undefined): DeliveryState | undefined {
  return state?.status === 'dead' && !isExpected(state.reason) ? state : undefined;
}
