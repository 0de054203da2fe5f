/**
 * One clock for times that are taken in one process and compared in another: CLOCK_MONOTONIC, which every
 * process of a machine shares. The origin that Node gives `performance.now()` is each process's own.
 */
const originMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Milliseconds, with fractions, on a clock that all processes of this machine share. */
export function sharedNowMs(): number {
  return originMs + performance.now();
}
