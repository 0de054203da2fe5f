/** The parameters `since` and `until`: ISO 8601, or a duration before now. */
import { parseMoment } from '@tailrace/events';
import Type from 'typebox';
import { invalidField } from './errors.ts';

const moment = (period: string) =>
  Type.Optional(
    Type.String({
      description: `${period}: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d)`,
    }),
  );

/** To be spread into the query of a route. */
export const periodParameters = {
  since: moment('the beginning of the period'),
  until: moment('the end of the period, exclusive'),
};

export interface Period {
  /** Milliseconds since the epoch. */
  readonly since: number | undefined;
  /** Milliseconds since the epoch, exclusive. */
  readonly until: number | undefined;
}

interface PeriodQuery {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** @throws TailraceError `invalid-request` */
export function periodOf(query: PeriodQuery, now = Date.now()): Period {
  const since = query.since === undefined ? undefined : momentOf('since', query.since, now);
  const until = query.until === undefined ? undefined : momentOf('until', query.until, now);
  if (since !== undefined && until !== undefined) requireOrder(since, until);
  return { since, until };
}

/**
 * A period that ends now where the query does not say, and is `usualMs` long.
 *
 * @throws TailraceError `invalid-request`
 */
export function closedPeriodOf(
  query: PeriodQuery,
  usualMs: number,
  now: number,
): { readonly [Bound in keyof Period]: number } {
  const { until = now, since = until - usualMs } = periodOf(query, now);
  requireOrder(since, until);
  return { since, until };
}

function requireOrder(since: number, until: number): void {
  if (since >= until) throw invalidField('since', 'is not before until');
}

/** @throws TailraceError `invalid-request` */
export function momentOf(field: string, text: string, now: number): number {
  const time = parseMoment(text, now);
  // Nothing is older, and a year before 0 has no form in ISO 8601 that clients read.
  if (time !== undefined) return Math.max(0, time);
  throw invalidField(field, 'is neither a time in ISO 8601 nor a duration such as 2h');
}
