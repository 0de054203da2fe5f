/** Times in options: ISO 8601 or an age, such as `2h`. */
import { formatInstant, parseMoment } from '@tailrace/events';
import { UsageError } from '../command.ts';

/** The values of --since and --until. */
export interface Period {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** Milliseconds since the epoch. @throws UsageError */
export function timeOf(
  name: keyof Period | 'around',
  text: string | undefined,
  now = Date.now(),
): number | undefined {
  if (text === undefined) return undefined;
  const time = parseMoment(text, now);
  if (time !== undefined) return time;
  throw new UsageError(`--${name} must be a time (2026-05-01T08:30) or an age (2h), not ${text}`);
}

/** The period as query parameters of the API: ISO 8601. @throws UsageError */
export function periodOf({ since, until }: Period) {
  const instant = (time: number | undefined): string | undefined =>
    time === undefined ? undefined : formatInstant(time);
  return { since: instant(timeOf('since', since)), until: instant(timeOf('until', until)) };
}
