/** Of each destination, what its health is decided from: the attempts of the last hour, what is pending, the latest success. */
import type { DatabaseSync } from 'node:sqlite';
import { hourMs, minuteMs } from '../schema/schema.ts';
import { orNull, textOf } from '../sqlite/row.ts';

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
  const outcome = (name: keyof AttemptOutcomes): string =>
    `sum(ifnull(json_extract(counts, '$.outcomes.${name}'), 0)) AS ${name}`;
  const statements = (attemptsOf: string, pendingOf: string, latestOf: string) => ({
    attempts: db.prepare(`
      SELECT destination_id, at >= ? AS isRecent, ${outcome('delivered')}, ${outcome('retry')}, ${outcome('dead')}
      FROM attempt_minutes ${attemptsOf} AND at >= ? GROUP BY destination_id, isRecent`),
    pending: db.prepare(`
      SELECT destination_id, reason, sum(deliveries) AS deliveries FROM pending
      WHERE deliveries > 0 ${pendingOf} GROUP BY destination_id, reason`),
    latest: db.prepare(`SELECT destination_id, delivered_at FROM breakers ${latestOf}`),
  });
  // The counts of all destinations together have an empty id.
  const all = statements("INDEXED BY attempt_minutes_by_time WHERE destination_id <> ''", '', '');
  const isNamed = 'destination_id IN (SELECT value FROM json_each(?))';
  const some = statements(`WHERE ${isNamed}`, `AND ${isNamed}`, `WHERE ${isNamed}`);

  return {
    /** By the id of the destination, of these or of all; those of which nothing is known are left out. */
    healthFacts(destinationIds?: readonly string[], now = Date.now()): ReadonlyMap<string, HealthFacts> {
      const { attempts, pending, latest } = destinationIds ? some : all;
      const ids = destinationIds ? [JSON.stringify(destinationIds)] : [];
      const facts = new Map<string, HealthFacts>();
      const add = (id: string, more: (known: HealthFacts) => Partial<HealthFacts>): void => {
        const known = facts.get(id) ?? noHealthFacts;
        facts.set(id, { ...known, ...more(known) });
      };
      for (const row of attempts.iterate(now - recentMs, ...ids, now - hourMs)) {
        const counts = {
          delivered: Number(row['delivered']),
          retry: Number(row['retry']),
          dead: Number(row['dead']),
        };
        add(textOf(row, 'destination_id'), (known) => ({
          attempts: sumOf(known.attempts, counts),
          ...(row['isRecent'] === 1 && { recent: counts }),
        }));
      }
      for (const row of pending.iterate(...ids)) {
        const [reason, deliveries] = [textOf(row, 'reason'), Number(row['deliveries'])];
        add(textOf(row, 'destination_id'), (known) => ({
          pending: known.pending + deliveries,
          retrying: known.retrying + (withoutFailure.includes(reason) ? 0 : deliveries),
          parked: known.parked + (reason === 'circuit-open' ? deliveries : 0),
        }));
      }
      for (const row of latest.iterate(...ids)) {
        add(textOf(row, 'destination_id'), () => ({ deliveredAt: orNull(row['delivered_at'], Number) }));
      }
      return facts;
    },
  };
}

function sumOf(one: AttemptOutcomes, other: AttemptOutcomes): AttemptOutcomes {
  return {
    delivered: one.delivered + other.delivered,
    retry: one.retry + other.retry,
    dead: one.dead + other.dead,
  };
}
