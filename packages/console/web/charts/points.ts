/** Points and the range of a time series, which a line alone does not show. */

/** The indices of values without a neighbour on either side: a line is drawn between two values only. */
export function lonePoints(values: readonly (number | null | undefined)[]): number[] {
  return values.flatMap((value, index) => {
    const isAlone = (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null;
    return (value ?? null) !== null && isAlone ? [index] : [];
  });
}

/** The range of an axis in seconds, in the middle of which the only time is shown. A day has its bar around it. */
export function rangeOfTimes(times: readonly number[], isByDay: boolean): [since: number, until: number] {
  const [first = 0, last = first] = [times[0], times.at(-1)];
  const beside = isByDay ? 43_200 : 1_800;
  return first === last || isByDay ? [first - beside, last + beside] : [first, last];
}
