/** Timestamps. Invalid ones are refused here, because the server would refuse them later. */

const iso8601 =
  /^(\d{4})-?(\d\d)-?(\d\d)(?:[Tt ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?)?(?:[Zz]| ?([+-])(\d\d)(?::?(\d\d))?)?)?$/;

/** The calendar repeats after 400 years. Date.UTC interprets the years 0 to 99 as 1900 to 1999. */
const earliestMs = Date.UTC(400, 0, 1);
const endMs = Date.UTC(10_400, 0, 1);

/**
 * Whether `text` is a calendar date of ISO 8601, in extended or basic form, optionally with a time, in the years
 * 0000 to 9999 of UTC. `Date.parse` accepts 30 February as 2 March, and refuses an offset without a colon.
 */
export function isIso8601(text: string): boolean {
  const match = iso8601.exec(text);
  if (!match) return false;
  const [year, month, day, hour, minute, second, sign, offsetHours, offsetMinutes] = match
    .slice(1)
    .map((part: string | undefined) =>
      part === '-' ? -1 : Number(part === '+' ? 1 : (part ?? 0)),
    ) as Numbers;
  const dayMs = Date.UTC(year + 400, month - 1, day);
  if (month > 12 || day < 1 || new Date(dayMs).getUTCMonth() !== month - 1) return false;
  if (offsetHours > 23 || offsetMinutes > 59 || minute > 59) return false;
  // 24:00 is the end of a day, and second 60 a leap second.
  if (hour === 24 ? minute + second > 0 : hour > 24 || second > 60) return false;
  const ms =
    dayMs + ((hour - sign * offsetHours) * 60 + minute - sign * offsetMinutes) * 60_000 + second * 1_000;
  return ms >= earliestMs && ms < endMs;
}

type Numbers = [number, number, number, number, number, number, number, number, number];

let lastMs = NaN;
let lastIso = '';

/** Now, in UTC with milliseconds. Cached for a millisecond, because formatting costs as much as a UUID. */
export function isoNow(): string {
  const now = Date.now();
  if (now !== lastMs) {
    lastMs = now;
    lastIso = new Date(now).toISOString();
  }
  return lastIso;
}
