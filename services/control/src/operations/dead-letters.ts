/**
 * Counts the dead letters of each destination until they are reported. Counts are kept for spans of time, so that all instances
 * report the same spans, and none twice.
 */
import { builtInSource } from '@tailrace/config';
import { isExpected, type DeadLetterSummary } from '@tailrace/deadletters';

/** Times are milliseconds since the epoch. */
export interface DeadLetterCount {
  readonly count: number;
  readonly since: number;
  /** The last millisecond that is counted. */
  readonly until: number;
  /** By reason, of which there is a closed set. */
  readonly reasons: Readonly<Record<string, number>>;
}

/** By the number of the span. */
type Spans = Map<number, Map<string, number>>;

export function createDeadLetterCounts(spanMs: number) {
  const byDestination = new Map<string, Spans>();
  return {
    /** Counts a dead letter, unless it belongs to an operational event or was expected. */
    add({ destinationId, sourceId, reason = 'malformed-record', diedAt }: DeadLetterSummary): void {
      if (destinationId === undefined || sourceId === builtInSource.id) return;
      if (isExpected(reason)) return;
      let spans = byDestination.get(destinationId);
      if (!spans) byDestination.set(destinationId, (spans = new Map<number, Map<string, number>>()));
      const number = Math.floor(diedAt / spanMs);
      let reasons = spans.get(number);
      if (!reasons) spans.set(number, (reasons = new Map<string, number>()));
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    },
    /** Forgets the spans that were over at `time`. */
    forget(time: number): void {
      for (const [destinationId, spans] of byDestination) {
        for (const number of spans.keys()) if ((number + 1) * spanMs <= time) spans.delete(number);
        if (spans.size === 0) byDestination.delete(destinationId);
      }
    },
    /** The destinations with dead letters. */
    destinations: () => byDestination.keys(),
    /** The dead letters of spans that are over, after `reportedUntil`, which is the end of a span; undefined without any. */
    take(destinationId: string, reportedUntil: number, now: number): DeadLetterCount | undefined {
      const spans = byDestination.get(destinationId) ?? new Map<number, Map<string, number>>();
      for (const number of spans.keys()) if (number * spanMs <= reportedUntil) spans.delete(number);
      if (spans.size === 0) byDestination.delete(destinationId);
      const over = [...spans].filter(([number]) => (number + 1) * spanMs <= now);
      if (over.length === 0) return undefined;
      const numbers = over.map(([number]) => number);
      const reasons: Record<string, number> = {};
      let count = 0;
      for (const [reason, counted] of over.flatMap(([, found]) => [...found])) {
        reasons[reason] = (reasons[reason] ?? 0) + counted;
        count += counted;
      }
      const until = (Math.max(...numbers) + 1) * spanMs - 1;
      return { count, since: Math.min(...numbers) * spanMs, until, reasons };
    },
  };
}
