/** Timestamps. Invalid ones are refused here, because the server would refuse them later. */

const iso8601 =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d)(?::(\d\d)(?::(\d\d)(?:[.,]\d+)?)?)?(?:[Zz]| ?[+-](\d\d)(?::?(\d\d))?)?)?$/;

/**
 * Whether `text` is a calendar date of ISO 8601 in extended form, optionally with a time. `Date.parse` accepts 30
 * February as 2 March, and refuses an offset without a colon.
 */
export function isIso8601(text: string): boolean {
  const match = iso8601.exec(text);
  if (!match) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offsetHours = 0, offsetMinutes = 0] =
    match.slice(1).map((digits: string | undefined) => Number(digits ?? 0));
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return false;
  if (offsetHours > 23 || offsetMinutes > 59 || minute > 59) return false;
  // 24:00 is the end of a day, and second 60 a leap second.
  return hour === 24 ? minute + second === 0 : hour < 24 && second <= 60;
}

function daysOf(year: number, month: number): number {
  // The calendar repeats after 400 years. Date.UTC interprets the years 0 to 99 as 1900 to 1999.
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

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
