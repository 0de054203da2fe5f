/**
 * Milliseconds, with fractions, on a clock that all processes of this machine share: CLOCK_MONOTONIC. The origin of
 * `performance.now()` differs between processes, and a busy machine delays whoever measures it.
 */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
