/** Of each destination, what its health is decided from: the attempts of the last hour, what is pending, the latest success. */
import type { DatabaseSync } from 'node:sqlite';
import { hourMs, minuteMs } from '../schema/schema.ts';
import { orNull, textOf, type SqlRow } from '../sqlite/row.ts';

export interface AttemptOutcomes {
  readonly delivered: number;
  readonly retry: number;
  readonly dead: number;
}

export interface HealthFacts {
  /** In the last hour. */
  readonly attempts: AttemptOutcomes;
  /** Of these, in the last quarter of an hour. */
  readonly recent: AttemptOutcomes;
  readonly pending: number;
  /** Of these, deliveries that wait after a failure. */
  readonly retrying: number;
  /** Of these, deliveries that wait until an open circuit breaker permits a request. */
  readonly parked: number;
  /** Milliseconds since the epoch; null where none is known. */
  readonly deliveredAt: number | null;
}

const none = { delivered: 0, retry: 0, dead: 0 };
export const noHealthFacts: HealthFacts = {
  attempts: none,
  recent: none,
  pending: 0,
  retrying: 0,
  parked: 0,
  deliveredAt: null,
};

const recentMs = 15 * minuteMs;
/** For which a delivery waits though nothing has failed; empty in the first queue. */
const withoutFailure: readonly string[] = ['', 'paused', 'lane-full', 'behind'];

export function healthQueries(db: DatabaseSync) {
  const outcomes = ['delivered', 'retry', 'dead'] as const;
  const sums = outcomes.map((name) => `sum(${name}), sum(iif(at >= ?1, ${name}, 0))`);
  const isNamed = 'destination_id IN (SELECT value FROM json_each(?2))';
  const attempts = db.prepare(`
    SELECT destination_id AS id, json_array(${sums.join()}) AS sums FROM attempt_minutes INDEXED BY attempt_minutes_outcomes
    WHERE ${isNamed} AND at >= ?3 GROUP BY destination_id`);
  const pending = db.prepare(`
    SELECT destination_id AS id, reason, sum(deliveries) AS deliveries FROM pending
    WHERE deliveries > ?1 AND ${isNamed} GROUP BY destination_id, reason`);
  const latest = db.prepare(
    `SELECT destination_id AS id, delivered_at FROM breakers WHERE at > ?1 AND ${isNamed}`,
  );

  return {
    /** By the id of the destination; those of which nothing is known are left out. */
    healthFacts(destinationIds: readonly string[], now = Date.now()): ReadonlyMap<string, HealthFacts> {
      const ids = JSON.stringify(destinationIds);
      const facts = new Map<string, HealthFacts>();
      const add = (row: SqlRow, more: (known: HealthFacts) => Partial<HealthFacts>): void => {
        const known = facts.get(textOf(row, 'id')) ?? noHealthFacts;
        facts.set(textOf(row, 'id'), { ...known, ...more(known) });
      };
      for (const row of attempts.iterate(now - recentMs, ids, now - hourMs)) {
        const [delivered, newDelivered, retry, newRetry, dead, newDead] = JSON.parse(
          textOf(row, 'sums'),
        ) as Sums;
        add(row, () => ({
          attempts: { delivered, retry, dead },
          recent: { delivered: newDelivered, retry: newRetry, dead: newDead },
        }));
      }
      for (const row of pending.iterate(0, ids)) {
        const [reason, deliveries] = [textOf(row, 'reason'), Number(row['deliveries'])];
        add(row, (known) => ({
          pending: known.pending + deliveries,
          retrying: known.retrying + (withoutFailure.includes(reason) ? 0 : deliveries),
          parked: known.parked + (reason === 'circuit-open' ? deliveries : 0),
        }));
      }
      for (const row of latest.iterate(0, ids)) {
        add(row, () => ({ deliveredAt: orNull(row['delivered_at'], Number) }));
      }
      return facts;
    },
  };
}

/** Of each outcome, in the hour and of these the recent ones. */
type Sums = readonly [number, number, number, number, number, number];
