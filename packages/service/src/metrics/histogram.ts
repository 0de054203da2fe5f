/**
 * A histogram whose values cost a few comparisons each, and whose text is made at a scrape. prom-client's builds a key of
 * the labels and an object for each value, which is too slow for values of every event.
 */
import type { PageSample } from './page.ts';

/** One series. */
export class Distribution {
  readonly #bounds: readonly number[];
  /** Values up to each bound and above the one before; the last entry is for values above all bounds. */
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  /** A negative value, which comes from clocks that differ, counts as 0. */
  observe(value: number): void {
    const least = Math.max(0, value);
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && least > (bounds[bucket] ?? Infinity)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += least;
  }

  *samples(labels: PageSample['labels']): Iterable<PageSample> {
    let count = 0;
    for (const [bucket, counted] of this.#counts.entries()) {
      count += counted;
      const le = String(this.#bounds[bucket] ?? '+Inf');
      yield { labels: { ...labels, le }, value: count, suffix: '_bucket' };
    }
    yield { labels, value: this.#sum, suffix: '_sum' };
    yield { labels, value: count, suffix: '_count' };
  }
}

/** All series of one name. */
export class Histogram<Labels extends object> {
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, { readonly labels: Labels; readonly values: Distribution }>();

  /** @param first the series that exist from the start */
  constructor(bounds: readonly number[], first: readonly Labels[]) {
    this.#bounds = bounds;
    for (const labels of first) this.of(labels);
  }

  /** The series with these labels. Keep it where values are frequent. */
  of(labels: Labels): Distribution {
    const key = Object.values(labels).join('\n');
    const known = this.#series.get(key);
    if (known) return known.values;
    const values = new Distribution(this.#bounds);
    this.#series.set(key, { labels, values });
    return values;
  }

  *samples(): Iterable<PageSample> {
    for (const { labels, values } of this.#series.values()) {
      yield* values.samples(labels as PageSample['labels']);
    }
  }
}
