/** Which dead letters are meant. What is left out does not narrow. */
import type { DeadLetterSummary } from './dead-letter.ts';

export interface DeadLetterFilter {
  readonly destinationId?: string | undefined;
  readonly reason?: string | undefined;
  readonly type?: string | undefined;
  /** Died at this time or later; milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Died before this time. */
  readonly until?: number | undefined;
}

export function matches(filter: DeadLetterFilter, letter: DeadLetterSummary): boolean {
  return (
    isOrAny(filter.destinationId, letter.destinationId) &&
    isOrAny(filter.reason, letter.reason) &&
    isOrAny(filter.type, letter.type) &&
    letter.diedAt >= (filter.since ?? -Infinity) &&
    letter.diedAt < (filter.until ?? Infinity)
  );
}

function isOrAny(wanted: string | undefined, is: string | undefined): boolean {
  return wanted === undefined || wanted === is;
}
