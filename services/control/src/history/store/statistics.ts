/** Statistics of a destination: counts and latencies over time, and failures by reason. */
import type { DatabaseSync } from 'node:sqlite';
import { addCounts, noCounts, parseCounts, type Counts } from './counts.ts';
import { attemptRow } from './deliveries.ts';
import type { AttemptRow } from './facts.ts';
import { textOf } from './row.ts';

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

export interface Statistics {
  /** By the start of each step, in order; steps without attempts are left out. */
  countsOf(
    destinationId: string,
    period: { readonly since: number; readonly until: number; readonly stepMs: number },
  ): ReadonlyMap<number, Counts>;
  /** By reason, most frequent first. */
  failuresOf(destinationId: string, since: number): readonly Failure[];
}

const samplesPerReason = 5;

export function statisticsQueries(db: DatabaseSync): Statistics {
  const minutes = db.prepare(
    'SELECT minute, counts FROM minutes WHERE destination_id = ? AND minute >= ? AND minute < ? ORDER BY minute',
  );
  const reasons = db.prepare(`
    SELECT reason, count(*) AS number, min(started_at) AS first, max(started_at) AS last
    FROM attempts INDEXED BY failures
    WHERE destination_id = ? AND reason IS NOT NULL AND started_at >= ? GROUP BY reason`);
  const samples = db.prepare(`
    SELECT * FROM attempts INDEXED BY failures WHERE destination_id = ? AND reason = ? AND started_at >= ?
    ORDER BY started_at DESC LIMIT ${samplesPerReason}`);
  const dead = db.prepare(`
    SELECT reason, count(*) AS number, min(changed_at) AS first, max(changed_at) AS last
    FROM deliveries INDEXED BY deliveries_dead
    WHERE destination_id = ? AND status = 'dead' AND changed_at >= ? GROUP BY reason`);

  return {
    countsOf(destinationId, { since, until, stepMs }) {
      const steps = new Map<number, Counts>();
      for (const row of minutes.iterate(destinationId, since, until)) {
        const step = Math.floor(Number(row['minute']) / stepMs) * stepMs;
        const counts = steps.get(step) ?? noCounts();
        addCounts(counts, parseCounts(textOf(row, 'counts')));
        steps.set(step, counts);
      }
      return steps;
    },
    failuresOf(destinationId, since) {
      const failures = new Map<string, Failure>();
      for (const row of reasons.all(destinationId, since)) {
        const reason = textOf(row, 'reason');
        failures.set(reason, {
          ...{ reason, attempts: Number(row['number']), dead: 0 },
          firstAt: Number(row['first']),
          lastAt: Number(row['last']),
          samples: samples.all(destinationId, reason, since).map(attemptRow),
        });
      }
      for (const row of dead.all(destinationId, since)) {
        const reason = textOf(row, 'reason');
        const known = failures.get(reason);
        failures.set(reason, {
          ...{ reason, attempts: known?.attempts ?? 0, dead: Number(row['number']) },
          firstAt: Math.min(known?.firstAt ?? Infinity, Number(row['first'])),
          lastAt: Math.max(known?.lastAt ?? 0, Number(row['last'])),
          samples: known?.samples ?? [],
        });
      }
      const weight = ({ attempts, dead }: Failure): number => Math.max(attempts, dead);
      return [...failures.values()].sort((a, b) => weight(b) - weight(a) || (a.reason < b.reason ? -1 : 1));
    },
  };
}
