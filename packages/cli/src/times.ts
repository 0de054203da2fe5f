/** Times on a command line. */
import { parseMoment } from '@tailrace/topics';
import { UsageError } from './command.ts';

export const aboutTimes =
  'A TIME is a date and time in ISO 8601, UTC unless it says otherwise (2026-05-01T08:30), or how long ago\n' +
  '(90s, 15m, 2h, 7d).';

/** Milliseconds since the epoch. @throws UsageError */
export function timeOf(
  name: 'since' | 'until',
  text: string | undefined,
  now = Date.now(),
): number | undefined {
  if (text === undefined) return undefined;
  const time = parseMoment(text, now);
  if (time !== undefined) return time;
  throw new UsageError(`--${name} is a time (2026-05-01T08:30) or how long ago (2h), not ${text}`);
}
