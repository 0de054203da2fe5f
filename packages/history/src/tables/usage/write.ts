/**
 * Adds usage records. A source may add a bounded number of event names a day, because a public write key suffices to send any
 * number of them; calls of other names are counted together, under the empty name.
 */
import type { DatabaseSync } from 'node:sqlite';
import { parseInstant } from '@tailrace/events';
import { maxStoredLength, type EventUsage, type UsageRecord } from '@tailrace/records';

/** Names of a source and day that are counted one by one; as many as a router publishes. */
const maxNamesPerDay = 500;
/** The name under which all others are counted. */
export const otherName = '';
/** Sources and days whose number of names is kept in memory. */
const maxKnownDays = 10_000;

/** The second argument is when the router wrote the record. */
export function createUsageWriter(db: DatabaseSync): (usage: UsageRecord, at: number) => void {
  const addUsage = db.prepare(`
    INSERT INTO usage VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, filtered = filtered + excluded.filtered`);
  const addName = db.prepare(`
    INSERT INTO event_usage VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, filtered = filtered + excluded.filtered,
      first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at)`);
  const putLatest = db.prepare(
    'INSERT INTO latest_calls VALUES (?, ?) ON CONFLICT DO UPDATE SET at = max(at, excluded.at)',
  );
  const isKnown = db.prepare('SELECT 1 FROM event_usage WHERE source_id = ? AND event = ? AND day = ?');
  const countNames = db.prepare(
    'SELECT count(*) AS names FROM event_usage WHERE source_id = ? AND day = ? AND event > ?',
  );
  const namesByDay = new Map<string, number>();

  const namesOf = (sourceId: string, day: string): number => {
    const key = `${day} ${sourceId}`;
    let names = namesByDay.get(key);
    if (names === undefined) {
      if (namesByDay.size >= maxKnownDays) namesByDay.clear();
      names = Number(countNames.get(sourceId, day, otherName)?.['names']);
      namesByDay.set(key, names);
    }
    return names;
  };

  /** The name under which the calls are counted. */
  const nameOf = (sourceId: string, day: string, event: string): string => {
    if (event.length > maxStoredLength) return otherName;
    if (event === otherName || isKnown.get(sourceId, event, day)) return event;
    const names = namesOf(sourceId, day);
    if (names >= maxNamesPerDay) return otherName;
    namesByDay.set(`${day} ${sourceId}`, names + 1);
    return event;
  };

  const put = (sourceId: string, day: string, event: string, usage: Omit<EventUsage, 'event'>): void => {
    const { calls, filtered, firstAt, lastAt } = usage;
    const times = [parseInstant(firstAt) ?? 0, parseInstant(lastAt) ?? 0];
    addName.run(sourceId, event, day, calls, filtered, ...times);
  };

  return ({ sourceId, day, calls, filtered, events, otherEvents }, at) => {
    if (Object.values(calls).some((number) => number > 0)) putLatest.run(sourceId, at);
    for (const [type, number] of Object.entries(calls)) {
      addUsage.run(sourceId, day, type, number, type === 'track' ? filtered : 0);
    }
    for (const { event, ...usage } of events) put(sourceId, day, nameOf(sourceId, day, event), usage);
    if (otherEvents) put(sourceId, day, otherName, otherEvents);
  };
}
