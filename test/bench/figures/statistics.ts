/** The statistics of the report. */

/** Percentiles of latencies, in their unit; NaN without values. */
export interface Distribution {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** One figure over repeated runs. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** A figure sampled at regular times: the medians of its first and last third, and its peak. */
export interface Trend {
  readonly first: number;
  readonly last: number;
  readonly max: number;
}

/** NaN values are left out: they stand for events that did not happen. */
export function distribution(values: Iterable<number>): Distribution {
  const sorted = Float64Array.from([...values].filter((value) => !Number.isNaN(value))).sort();
  return { p50: percentile(sorted, 50), p99: percentile(sorted, 99), max: percentile(sorted, 100) };
}

/** By nearest rank: the smallest value that at least `percent` of the values do not exceed. */
export function percentile(sorted: Float64Array, percent: number): number {
  const rank = Math.ceil((percent / 100) * sorted.length);
  return sorted[Math.max(rank, 1) - 1] ?? NaN;
}

export function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** The middle value; the mean of the two middle values for an even number. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1] ?? NaN;
  const high = sorted[Math.floor(middle)] ?? NaN;
  return (low + high) / 2;
}

export function trend(samples: readonly number[]): Trend {
  const third = Math.max(1, Math.floor(samples.length / 3));
  return {
    first: median(samples.slice(0, third)),
    last: median(samples.slice(-third)),
    max: Math.max(...samples),
  };
}

/**
 * Whether memory counts as flat: a garbage-collected heap varies, so the last third may be a tenth above the first.
 */
export function isFlat({ first, last }: Trend): boolean {
  return last <= first * 1.1;
}
