/**
 * Counts of attempts by outcome and by latency class. Each class is 5 % wider than the previous one, so a percentile is
 * accurate within 2.5 %, and a minute needs a few dozen numbers for any number of attempts.
 */
import type { AttemptRow } from '../../facts/facts.ts';

type Outcome = AttemptRow['outcome'];

export interface Counts {
  readonly outcomes: Partial<Record<Outcome, number>>;
  /** Attempts in each latency class. */
  readonly latencies: Record<string, number>;
}

const growth = Math.log(1.05);
/** Latencies below it share the first class. */
const finestMs = 0.1;

export function noCounts(): Counts {
  return { outcomes: {}, latencies: {} };
}

export function countAttempt({ outcomes, latencies }: Counts, outcome: Outcome, latencyMs: number): void {
  const latencyClass = Math.max(0, Math.round(Math.log(Math.max(latencyMs, finestMs) / finestMs) / growth));
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  latencies[latencyClass] = (latencies[latencyClass] ?? 0) + 1;
}

export function addCounts(sum: Counts, { outcomes, latencies }: Counts): void {
  for (const [outcome, count] of Object.entries(outcomes) as [Outcome, number][]) {
    sum.outcomes[outcome] = (sum.outcomes[outcome] ?? 0) + count;
  }
  for (const [latencyClass, count] of Object.entries(latencies)) {
    sum.latencies[latencyClass] = (sum.latencies[latencyClass] ?? 0) + count;
  }
}

export function totalOf(all: Iterable<Counts>): Counts {
  const total = noCounts();
  for (const counts of all) addCounts(total, counts);
  return total;
}

/** In milliseconds, to three significant digits; undefined without attempts. */
export function percentile({ latencies }: Counts, share: number): number | undefined {
  // JavaScript orders integer keys numerically.
  const classes = Object.entries(latencies);
  const total = classes.reduce((sum, [, count]) => sum + count, 0);
  let left = Math.max(1, Math.ceil(total * share));
  for (const [latencyClass, count] of classes) {
    left -= count;
    if (left <= 0) return Number((finestMs * Math.exp(Number(latencyClass) * growth)).toPrecision(3));
  }
  return undefined;
}

export function parseCounts(text: string): Counts {
  return JSON.parse(text) as Counts;
}
