/** How many events a replay has at most, from what the router has counted of each day: at once, for any number of events. */
import type { DailyUsage } from '@tailrace/history';
import { compileFilter } from '@tailrace/routing';
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

/**
 * Of a day that is not wholly in the period, the share of its time. Users and conditions are not counted by the router, and what the
 * destination was sent is not left out: it is an upper bound.
 */
export function estimateOf(
  usage: readonly DailyUsage[],
  selection: EventSelection,
  now: number,
): EventEstimate {
  const { from, until, events } = selection;
  const [fields = {}] = filtersOf(selection);
  const passes = compileFilter(fields);
  const rows = usage.flatMap(({ day, type, event, calls }) => {
    const isNamed = type === 'track' && event !== undefined;
    const isWanted = !events || isNamed;
    if (!isWanted || passes({ type, name: event, document: () => ({}) }) !== undefined) return [];
    const start = Date.parse(day);
    const end = Math.min(start + dayMs, Math.max(now, start + 1));
    const share = (Math.min(until, end) - Math.max(from, start)) / (end - start);
    const count = Math.round(calls * Math.min(1, Math.max(0, share)));
    return count > 0 ? [{ day, type, event, events: count }] : [];
  });
  const sums = Map.groupBy(rows, ({ day, type, event }) => JSON.stringify([day, type, event]));
  const added = Array.from(sums.values(), ([first, ...others]): EventCount[] =>
    first ? [{ ...first, events: others.reduce((sum, one) => sum + one.events, first.events) }] : [],
  ).flat();
  return {
    events: added.reduce((sum, row) => sum + row.events, 0),
    rows: added.sort((a, b) => b.events - a.events).slice(0, 100),
  };
}
