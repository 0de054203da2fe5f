/** Selects dead letters. A field that is undefined matches all. */
import type { DeadLetterSummary } from './dead-letter.ts';

export interface DeadLetterFilter {
  readonly destinationId?: string | undefined;
  readonly reason?: string | undefined;
  readonly type?: string | undefined;
  /** The name of a track call's event. */
  readonly event?: string | undefined;
  /** The userId, else the anonymousId. */
  readonly userKey?: string | undefined;
  /** Written at this time or later, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Written before this time, in milliseconds since the epoch. */
  readonly until?: number | undefined;
}

const compared = ['destinationId', 'reason', 'type', 'event', 'userKey'] as const;

export function matches(filter: DeadLetterFilter, letter: DeadLetterSummary): boolean {
  return (
    compared.every((name) => filter[name] === undefined || filter[name] === letter[name]) &&
    letter.diedAt >= (filter.since ?? -Infinity) &&
    letter.diedAt < (filter.until ?? Infinity)
  );
}
