/** How the clock of a process is wrong during a fault, and when something really happened that has the time of such a clock. */
import type { Episode } from './facts.ts';
import type { Fault } from './schedule.ts';

const hourMs = 3_600_000;
/** By how many hours a clock jumps. */
const jumps = [25, -25, 1, -1];
/** Seconds of a drifting clock in a second. */
const rates = [1.1, 0.9];
/** Between the begin of a fault and the moment from which it counts as begun, and the same at its end. */
const toleranceMs = 1_000;

/** At the begin of the fault the clock is set ahead by `hours`; then it goes `rate` times as fast as time. */
export function clockOf({ kind, id }: Fault): { readonly hours: number; readonly rate: number } {
  return {
    hours: kind === 'clock jumped' ? (jumps[id % jumps.length] ?? 0) : 0,
    rate: kind === 'clock drifted' ? (rates[id % rates.length] ?? 1) : 1,
  };
}

export function setsClock({ kind }: Fault): boolean {
  return kind === 'clock jumped' || kind === 'clock drifted';
}

/** The right time when the clock of this fault showed `at`; undefined where it did not during the fault. */
export function rightTime({ fault, beganAt, endedAt }: Episode, at: number): number | undefined {
  const { hours, rate } = clockOf(fault);
  const right = beganAt + (at - hours * hourMs - beganAt) / rate;
  return right >= beganAt - toleranceMs && right <= endedAt + toleranceMs ? right : undefined;
}

/** The times at which something may have happened, where it is not known whose clock showed `at`. */
export function possibleTimes(at: number, episodes: readonly Episode[]): readonly number[] {
  return [at, ...episodes.flatMap((one) => (setsClock(one.fault) ? (rightTime(one, at) ?? []) : []))];
}
