/** The time of the server: the clock of the reader's machine may be wrong by minutes or hours, and what is shown comes from the server. */

/** The header has whole seconds, and an answer is on its way for a while. */
const toleranceMs = 5_000;
let aheadMs = 0;

export function followClock(headers: Headers): void {
  const aheadNow = Date.parse(headers.get('date') ?? '') - Date.now();
  if (Number.isFinite(aheadNow)) aheadMs = Math.abs(aheadNow) > toleranceMs ? aheadNow : 0;
}

/** Milliseconds since 1970. */
export function serverNow(): number {
  return Date.now() + aheadMs;
}
