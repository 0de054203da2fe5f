/**
 * Which owners are suspects. After a run that was too long an owner is one, until a number of runs in a row have ended in time.
 *
 * Suspects do not wait for each other for long, because what waits is not committed: what would is not run, and fails.
 */
import type { TransformResult } from './run.ts';

/** Why an owner is a suspect. */
export interface Suspicion {
  /** The script of its latest run. */
  readonly code: string;
  /** How many runs of that in a row have ended in time. */
  readonly inTime: number;
  /** By how many more runs have not. */
  readonly late: number;
  /** How many have to end in time. */
  readonly runsToTrust: number;
  /** It is not run before. */
  readonly restsUntil: number;
}

/** In time and in a row; after one that was so long that it has held up others. */
const runsToTrust = 20;
const runsToTrustAfterHarm = 1_000;
/** So many more late runs than others are made before an owner rests. */
const lateRunsToRest = 10;
/** For so many times as long as its latest run has taken, so that suspects use a small part of a processor. */
const restTimes = 100;
const longestRestMs = 60_000;
const longestWaitOfSuspectMs = 10_000;

/** Why the script is not run, if it is not. `since` is when it began to wait, by `performance.now()`. */
export function failureBefore(
  suspicion: Suspicion | undefined,
  code: string,
  since: number,
): TransformResult | undefined {
  if (!suspicion) return undefined;
  const now = performance.now();
  if (suspicion.code === code && now < suspicion.restsUntil) return resting;
  return now - since > longestWaitOfSuspectMs ? waited : undefined;
}

function notRun(message: string): TransformResult {
  return { outcome: 'failed', error: { message }, cpuMs: 0, logs: [] };
}

const resting = notRun('The function was not run, because its latest runs used too much CPU time.');
const waited = notRun('The function was not run, because it and others like it use too much CPU time.');
/** Of a run whose thread was ended. */
export const stuck: TransformResult = {
  outcome: 'failed',
  error: { message: 'The function did not end, and its thread was ended.', isTooLong: true, isHarmful: true },
  cpuMs: 0,
  logs: [],
};

/** What follows from a run of the script; undefined where its owner is trusted. */
export function suspicionAfter(
  before: Suspicion | undefined,
  code: string,
  result: TransformResult,
): Suspicion | undefined {
  const same = before?.code === code ? before : { inTime: 0, late: 0, runsToTrust };
  const { isTooLong = false, isHarmful = false } = result.outcome === 'failed' ? result.error : {};
  if (isTooLong) {
    const late = same.late + 1;
    const rest = late < lateRunsToRest ? 0 : Math.min(longestRestMs, result.cpuMs * restTimes);
    const restsUntil = performance.now() + (result === stuck ? longestRestMs : rest);
    return {
      code,
      inTime: 0,
      late,
      runsToTrust: isHarmful ? runsToTrustAfterHarm : same.runsToTrust,
      restsUntil,
    };
  }
  const inTime = same.inTime + 1;
  if (!before || inTime >= same.runsToTrust) return undefined;
  return { code, inTime, late: Math.max(0, same.late - 1), runsToTrust: same.runsToTrust, restsUntil: 0 };
}
