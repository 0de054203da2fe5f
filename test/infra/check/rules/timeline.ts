/** Values of a series minute by minute, from which the input of promtool is written. */

/** The value of a series at a minute; undefined where the series does not exist. */
export type Timeline = (minute: number) => number | undefined;

/** All series of a scenario by their name with labels, such as `up{pod="ingest-0"}`. */
export type SeriesTimelines = Readonly<Record<string, Timeline>>;

/** A gauge that keeps one value. */
export function level(value: number): Timeline {
  return () => value;
}

/** A counter that begins at 0 and grows by `perMinute`. */
export function rate(perMinute: number): Timeline {
  return (minute) => perMinute * minute;
}

/** A counter that begins at 0 and grows by what `perMinute` returns for each minute. */
export function varying(perMinute: (minute: number) => number): Timeline {
  const sums: number[] = [0];
  return (minute) => {
    for (let next = sums.length; next <= minute; next += 1) {
      sums.push((sums[next - 1] ?? 0) + perMinute(next - 1));
    }
    return sums[minute];
  };
}

/** The time of a right clock, in seconds. It does not begin with a process. */
export const rightClock: Timeline = (minute) => 60 * minute;

/** The series exists from `from` until before `to`; a counter begins at 0 then, as in a new process. */
export function during(from: number, to: number, timeline: Timeline): Timeline {
  const begun = timeline === rightClock ? 0 : from;
  return (minute) => (minute >= from && minute < to ? timeline(minute - begun) : undefined);
}

/** A gauge that changes at minutes: `steps([0, 5], [10, 0])` is 5, and 0 from minute 10. */
export function steps(...changes: readonly (readonly [from: number, value: number | undefined])[]): Timeline {
  return (minute) => changes.findLast(([from]) => minute >= from)?.[1];
}

export const absent: Timeline = () => undefined;
