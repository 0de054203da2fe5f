/** Usage of sources by day and by event name. It is kept for 90 days. */
import type { DatabaseSync } from 'node:sqlite';
import { plain, textOf } from '../../sqlite/row.ts';
import { otherName } from './write.ts';

export interface NamedUsage {
  readonly event: string;
  readonly calls: number;
  readonly filtered: number;
  /** Milliseconds since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** The calls of a source in a day, in UTC, by type, and of track calls by event name. */
export interface DailyUsage {
  readonly day: string;
  readonly type: string;
  /** Undefined for other types, and for names that are not counted one by one. */
  readonly event?: string | undefined;
  readonly calls: number;
}

export function usageQueries(db: DatabaseSync) {
  const days = db.prepare(
    'SELECT * FROM usage WHERE source_id = ? AND day >= ? AND day <= ? ORDER BY day, type',
  );
  const dailyEvents = db.prepare(
    'SELECT day, event, calls FROM event_usage WHERE source_id = ? AND day >= ? AND day <= ?',
  );
  const events = db.prepare(`
    SELECT event, sum(calls) AS calls, sum(filtered) AS filtered, min(first_at) AS firstAt, max(last_at) AS lastAt
    FROM event_usage WHERE source_id = ? AND event > ? GROUP BY event ORDER BY event LIMIT ?`);
  const other = db.prepare(`
    SELECT sum(calls) AS calls, sum(filtered) AS filtered, min(first_at) AS firstAt, max(last_at) AS lastAt
    FROM event_usage WHERE source_id = ? AND event = ? GROUP BY event`);
  const latest = db.prepare('SELECT source_id, at FROM latest_calls');
  return {
    /** When the latest call of each source was received, in milliseconds since the epoch. */
    receivedAt: (): ReadonlyMap<string, number> =>
      new Map(latest.all().map((row) => [textOf(row, 'source_id'), Number(row['at'])])),
    /** The UTC days with calls, such as `2026-11-21`, in order; `since` and `until` are days, both inclusive. */
    daysOf(
      sourceId: string,
      { since = '', until = '~' }: { readonly since?: string; readonly until?: string },
    ) {
      const rows = days.all(sourceId, since, until);
      return [...Map.groupBy(rows, (row) => textOf(row, 'day'))].map(([day, types]) => ({
        day,
        calls: types.reduce((sum, { calls }) => sum + Number(calls), 0),
        filtered: types.reduce((sum, { filtered }) => sum + Number(filtered), 0),
        byType: Object.fromEntries(types.map((row) => [textOf(row, 'type'), Number(row['calls'])])),
      }));
    },
    /** `since` and `until` are days, both inclusive. */
    dailyUsageOf(sourceId: string, since: string, until: string): readonly DailyUsage[] {
      const named = dailyEvents.all(sourceId, since, until).map((row): DailyUsage => ({
        day: textOf(row, 'day'),
        type: 'track',
        event: textOf(row, 'event') === otherName ? undefined : textOf(row, 'event'),
        calls: Number(row['calls']),
      }));
      const byType = days
        .all(sourceId, since, until)
        .filter((row) => textOf(row, 'type') !== 'track')
        .map((row) => ({ day: textOf(row, 'day'), type: textOf(row, 'type'), calls: Number(row['calls']) }));
      return [...named, ...byType];
    },
    /** In byte order of the names, after `after`. */
    eventsOf: (sourceId: string, limit: number, after = ''): readonly NamedUsage[] =>
      events.all(sourceId, after, limit).map(plain<NamedUsage>),
    /** The events whose names are not counted one by one, because the source has sent too many or too long names. */
    otherEventsOf(sourceId: string): Omit<NamedUsage, 'event'> | undefined {
      const row = other.get(sourceId, otherName);
      return row && plain(row);
    },
  };
}
