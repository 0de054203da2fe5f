/** Points in time as parameters and options give them: ISO 8601, or how long ago. */
import { TailraceError } from '@tailrace/errors';
import { parseMoment } from '@tailrace/topics';
import Type from 'typebox';

const moment = (what: string) =>
  Type.Optional(
    Type.String({ description: `${what}: ISO 8601 (2026-05-01T08:30Z), or how long ago (15m, 2h, 7d)` }),
  );

/** To be spread into a route's query. */
export const periodParameters = {
  since: moment('only what is of this time or later'),
  until: moment('only what is from before this time'),
};

export interface Period {
  /** Milliseconds since the epoch. */
  readonly since: number | undefined;
  readonly until: number | undefined;
}

/** @throws TailraceError `invalid-request` */
export function periodOf(
  query: { readonly since?: string | undefined; readonly until?: string | undefined },
  now = Date.now(),
): Period {
  return { since: timeOf('since', query.since, now), until: timeOf('until', query.until, now) };
}

function timeOf(field: string, text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const time = parseMoment(text, now);
  if (time !== undefined) return time;
  const problem = { field, rule: 'is neither a time in ISO 8601 nor how long ago, such as 2h' };
  throw new TailraceError('invalid-request', `${problem.field} ${problem.rule}.`, { problems: [problem] });
}
