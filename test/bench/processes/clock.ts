import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Milliseconds, with fractions, on a clock that all processes of this machine share: CLOCK_MONOTONIC. The origin of
 * `performance.now()` differs between processes, and a busy machine delays whoever measures it.
 */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

const lookAgainMs = 20;

/** Resolves once `holds`, or after the limit; with the time of this process. */
export async function until(holds: () => boolean | Promise<boolean>, withinMs: number): Promise<number> {
  const deadline = performance.now() + withinMs;
  while (!(await holds()) && performance.now() < deadline) await sleep(lookAgainMs);
  return performance.now();
}
