/**
 * The end offsets of one partition that a reader has seen, and when. They show between which times a record appeared, also
 * if its producer gave it another timestamp.
 *
 * All times are milliseconds since the epoch.
 */

/** Ends that were seen shortly after another replace each other. */
const spacingMs = 1_000;
/** Beyond this number, every second end is forgotten. */
const mostEnds = 32;

interface SeenEnd {
  end: number;
  /** When the end was first and last seen to be this. */
  from: number;
  to: number;
}

/** A record appeared after `after` and not after `before`, as far as they are known. */
export interface Appearance {
  readonly after: number | undefined;
  readonly before: number | undefined;
}

export class KnownEnds {
  /** In ascending order. */
  #seen: SeenEnd[] = [];

  /** The last known end; undefined if it was never seen. */
  get end(): number | undefined {
    return this.#seen.at(-1)?.end;
  }

  /** When the last known end was last seen. */
  get asOf(): number {
    return this.#seen.at(-1)?.to ?? -Infinity;
  }

  /** @param finishedBelow the times of records below this offset are not needed any more */
  see(end: number, now: number, finishedBelow: number): void {
    const last = this.#seen.at(-1);
    // A replica that has just become the leader may know of fewer records for a moment.
    if (last && end < last.end) return;
    if (last?.end === end) last.to = now;
    else this.#add(end, now, last);
    while ((this.#seen[1]?.end ?? Infinity) <= finishedBelow) this.#seen.shift();
  }

  #add(end: number, now: number, last: SeenEnd | undefined): void {
    const before = this.#seen.at(-2);
    if (last && before && last.from - before.to < spacingMs) {
      last.end = end;
      last.from = now;
      last.to = now;
      return;
    }
    this.#seen.push({ end, from: now, to: now });
    if (this.#seen.length <= mostEnds) return;
    const newest = this.#seen.length - 1;
    this.#seen = this.#seen.filter((_, nth) => nth % 2 === 0 || nth === newest);
  }

  /** Between which times the record at `offset` appeared. */
  appearanceOf(offset: number): Appearance {
    const next = this.#seen.findIndex(({ end }) => end > offset);
    const [before, after] =
      next < 0 ? [undefined, this.#seen.at(-1)] : [this.#seen[next], this.#seen[next - 1]];
    return { after: after?.to, before: before?.from };
  }
}
