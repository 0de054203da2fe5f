/** Statistics of a destination: counts and latencies over time, and failures by reason. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { addCounts, noCounts, parseCounts, type Counts } from './counts.ts';
import { attemptColumns, attemptRow } from '../deliveries.ts';
import type { Period } from '../flow.ts';
import type { AttemptRow } from '../../facts/facts.ts';
import { plain, textOf, type SqlRow } from '../../sqlite/row.ts';
import { attemptCounts, hourMs, minuteMs } from '../../schema/schema.ts';

export interface Failure {
  readonly reason: string;
  /** Attempts with this reason. */
  readonly attempts: number;
  /** Dead deliveries with this reason, including those without an attempt. */
  readonly dead: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** The newest attempts, newest first. */
  readonly samples: readonly AttemptRow[];
}

const samplesPerReason = 5;

export function statisticsQueries(db: DatabaseSync) {
  const [minutes, hours] = attemptCounts.map(({ table }) =>
    db.prepare(`SELECT at, counts FROM ${table} WHERE destination_id = ? AND at >= ? AND at < ? ORDER BY at`),
  ) as [StatementSync, StatementSync];
  const reasons = db.prepare(`
    SELECT reason, sum(attempts) AS attempts, sum(dead) AS dead,
      min(ifnull(first_at, minute)) AS firstAt, max(ifnull(last_at, minute)) AS lastAt
    FROM failed_minutes WHERE destination_id = ? AND minute >= ? AND (attempts > 0 OR dead > 0) GROUP BY reason`);
  const samples = db.prepare(`
    SELECT ${attemptColumns} FROM attempts INDEXED BY failures JOIN deliveries ON deliveries.row = attempts.delivery
    WHERE attempts.destination_id = ? AND attempts.reason = ? AND started_at >= ?
    ORDER BY started_at DESC LIMIT ${samplesPerReason}`);

  return {
    /** By the start of each step, in order; steps without attempts are left out. */
    countsOf(destinationId: string, { since, until, stepMs }: Period): ReadonlyMap<number, Counts> {
      const steps = new Map<number, Counts>();
      const add = (rows: Iterable<SqlRow>): void => {
        for (const row of rows) {
          const step = Math.floor(Number(row['at']) / stepMs) * stepMs;
          const counts = steps.get(step) ?? noCounts();
          addCounts(counts, parseCounts(textOf(row, 'counts')));
          steps.set(step, counts);
        }
      };
      // Where each step is whole hours, only the begun hours at both ends are added up by minutes.
      const isByHour = stepMs % hourMs === 0;
      const fromHour = isByHour ? Math.min(Math.ceil(since / hourMs) * hourMs, until) : until;
      const toHour = isByHour ? Math.max(Math.floor(until / hourMs) * hourMs, fromHour) : until;
      add(minutes.iterate(destinationId, since, fromHour));
      add(hours.iterate(destinationId, fromHour, toHour));
      add(minutes.iterate(destinationId, toHour, until));
      return steps;
    },
    /** By reason, most frequent first, from the beginning of the minute of `since`. */
    failuresOf(destinationId: string, since: number): readonly Failure[] {
      const from = Math.floor(since / minuteMs) * minuteMs;
      const failures = reasons.all(destinationId, from).map((row): Failure => {
        const failure = plain<Omit<Failure, 'samples'>>(row);
        return { ...failure, samples: samples.all(destinationId, failure.reason, from).map(attemptRow) };
      });
      const weight = ({ attempts, dead }: Failure): number => Math.max(attempts, dead);
      return failures.sort((a, b) => weight(b) - weight(a) || (a.reason < b.reason ? -1 : 1));
    },
  };
}
