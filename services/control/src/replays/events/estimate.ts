/** About how many events a replay has, from what the router has counted of each day: at once, for any number of events. */
import type { DailyUsage } from '@tailrace/history';
import { compileFilter } from '@tailrace/routing';
import { EventCounts } from './counts.ts';
import { filtersOf, type EventCount, type EventSelection } from './selection.ts';

export interface EventEstimate {
  readonly events: number;
  /** Largest count first. */
  readonly rows: readonly EventCount[];
}

const dayMs = 86_400_000;

/** The days in UTC that the period touches, such as `2026-05-01`. */
export function daysOf({ from, until }: Pick<EventSelection, 'from' | 'until'>) {
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 'yyyy-mm-dd'.length);
  return { since: day(from), until: day(until - 1) };
}

const mostRows = 10_000;

/**
 * Of a day that is not wholly in the period, the share of its time. Users and conditions are not counted by the router, and what the
 * destination was sent is not left out.
 */
export class Estimator {
  readonly #selection: EventSelection;
  readonly #now: number;
  readonly #passes: ReturnType<typeof compileFilter>;
  readonly #counts = new EventCounts(mostRows);

  constructor(selection: EventSelection, now: number) {
    this.#selection = selection;
    this.#now = now;
    const [fields = {}] = filtersOf(selection);
    this.#passes = compileFilter(fields);
  }

  /** Adds what a source was counted. */
  add(usage: readonly DailyUsage[]): void {
    for (const { day, type, event, calls } of usage) {
      const isNamed = type === 'track' && event !== undefined;
      if (this.#selection.events && !isNamed) continue;
      if (this.#passes({ type, name: event, document: () => ({}) }) !== undefined) continue;
      const events = Math.round(calls * this.#shareOf(day));
      if (events > 0) this.#counts.add({ day, type, event, events });
    }
  }

  get estimate(): EventEstimate {
    const { events, rows } = this.#counts;
    return { events, rows };
  }

  #shareOf(day: string): number {
    const { from, until } = this.#selection;
    const start = Date.parse(day);
    const end = Math.min(start + dayMs, Math.max(this.#now, start + 1));
    return Math.min(1, Math.max(0, (Math.min(until, end) - Math.max(from, start)) / (end - start)));
  }
}
