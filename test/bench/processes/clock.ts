/**
 * One clock for times that are compared between processes: CLOCK_MONOTONIC, which all processes of a machine share. The
 * origin of `performance.now()` differs between processes.
 */
const originMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Milliseconds, with fractions, on a clock that all processes of this machine share. */
export function sharedNowMs(): number {
  return originMs + performance.now();
}
