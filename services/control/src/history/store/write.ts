/** Writes batches of facts to the tables, together with the next offset. */
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { parseInstant } from '@tailrace/events';
import type { TailPosition } from '@tailrace/kafka';
import type { UsageRecord } from '@tailrace/topics';
import { addCounts, countAttempt, noCounts, parseCounts, type Counts } from './counts.ts';
import { merge, type DeliveryRow } from './delivery-row.ts';
import type { AttemptRow, Fact } from './facts.ts';
import { rowOf } from './row.ts';

export interface Writer {
  /** Runs in the caller's transaction. Leaves out deliveries from before `floor` (milliseconds since the epoch). */
  write(facts: readonly Fact[], position: TailPosition, floor: number): void;
}

const minuteMs = 60_000;

interface Touched {
  readonly stored: DeliveryRow | undefined;
  row: DeliveryRow;
}

export function createWriter(db: DatabaseSync): Writer {
  const findDelivery = db.prepare('SELECT * FROM deliveries WHERE id = ?');
  const insertDelivery = db.prepare(`
    INSERT INTO deliveries (id, event_id, source_id, destination_id, type, event, user_key, created_at,
      status, changed_at, rank, reason, next_due_at, topic, partition, "offset", placed_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  // Two statements, because SQLite rewrites the indexes of every column that a statement names, changed or not.
  const updateState = db.prepare(`
    UPDATE deliveries SET status = ?, changed_at = ?, rank = ?, reason = ?, next_due_at = ?,
      topic = ?, partition = ?, "offset" = ?, placed_at = ? WHERE id = ?`);
  const updateOrigin = db.prepare(
    'UPDATE deliveries SET event = ?, user_key = ?, created_at = ? WHERE id = ?',
  );
  const insertAttempt = db.prepare('INSERT OR IGNORE INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const findMinute = db.prepare('SELECT counts FROM minutes WHERE destination_id = ? AND minute = ?');
  const putMinute = db.prepare('INSERT OR REPLACE INTO minutes VALUES (?, ?, ?)');
  const addUsage = db.prepare(`
    INSERT INTO usage VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, filtered = filtered + excluded.filtered`);
  const addEventUsage = db.prepare(`
    INSERT INTO event_usage VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, filtered = filtered + excluded.filtered,
      first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at)`);
  const putOffset = db.prepare('INSERT OR REPLACE INTO offsets VALUES (?, ?, ?)');

  const mergeDelivery = (touched: Map<string, Touched>, fact: DeliveryRow): void => {
    const known = touched.get(fact.id);
    if (known) {
      known.row = merge(known.row, fact);
      return;
    }
    const found = findDelivery.get(fact.id);
    const stored = found && rowOf(found);
    touched.set(fact.id, { stored, row: stored ? merge(stored, fact) : fact });
  };

  const putDelivery = ({ stored, row }: Touched): void => {
    const { id, event, userKey, createdAt, state, place } = row;
    const stateValues = [state.status, state.changedAt, state.rank, state.reason, state.nextDueAt];
    const placeValues = place
      ? [place.topic, place.partition, place.offset, place.placedAt]
      : [null, null, null, null];
    if (!stored) {
      const { eventId, sourceId, destinationId, type } = row;
      const origin = [id, eventId, sourceId, destinationId, type, event, userKey, createdAt];
      insertDelivery.run(...origin, ...stateValues, ...placeValues);
      return;
    }
    if (stored.createdAt !== createdAt || stored.event !== event || stored.userKey !== userKey) {
      updateOrigin.run(event, userKey, createdAt, id);
    }
    if (stored.state !== state || stored.place !== place) updateState.run(...stateValues, ...placeValues, id);
  };

  /** Returns whether the attempt was new: its record may be duplicated. */
  const putAttempt = (attempt: AttemptRow): boolean => {
    const { deliveryId, startedAt, destinationId, latencyMs, outcome, reason, nextDueAt, urls } = attempt;
    const { changes } = insertAttempt.run(
      ...[deliveryId, startedAt, attempt.attempt, destinationId, latencyMs, outcome, reason, nextDueAt],
      JSON.stringify(urls),
    );
    return changes > 0;
  };

  const count = (
    minutes: Map<string, [destinationId: string, minute: number, Counts]>,
    attempt: AttemptRow,
  ) => {
    const { destinationId, startedAt, outcome, latencyMs } = attempt;
    const minute = Math.floor(startedAt / minuteMs) * minuteMs;
    const key = `${minute} ${destinationId}`;
    let entry = minutes.get(key);
    if (!entry) minutes.set(key, (entry = [destinationId, minute, noCounts()]));
    countAttempt(entry[2], outcome, latencyMs);
  };

  const putUsage = ({ sourceId, day, calls, filtered, events }: UsageRecord): void => {
    for (const [type, number] of Object.entries(calls)) {
      addUsage.run(sourceId, day, type, number, type === 'track' ? filtered : 0);
    }
    for (const { event, calls, filtered, firstAt, lastAt } of events) {
      addEventUsage.run(
        sourceId,
        event,
        day,
        calls,
        filtered,
        parseInstant(firstAt) ?? 0,
        parseInstant(lastAt) ?? 0,
      );
    }
  };

  return {
    write(facts, { topic, partition, next }, floor) {
      const touched = new Map<string, Touched>();
      const minutes = new Map<string, [string, number, Counts]>();
      for (const fact of facts) {
        if (fact.kind === 'usage') {
          putUsage(fact.usage);
          continue;
        }
        if (fact.delivery.createdAt < floor) continue;
        mergeDelivery(touched, fact.delivery);
        if (fact.kind === 'attempt' && putAttempt(fact.attempt)) count(minutes, fact.attempt);
      }
      for (const delivery of touched.values()) putDelivery(delivery);
      for (const [destinationId, minute, counts] of minutes.values()) {
        const stored = findMinute.get(destinationId, minute);
        if (stored) addCounts(counts, parseCounts(String(stored['counts'])));
        putMinute.run(destinationId, minute, JSON.stringify(counts));
      }
      putOffset.run(topic, partition, next);
    },
  };
}

/** The next offset to read, by `<topic>/<partition>`. */
export function readOffsets(db: DatabaseSync): ReadonlyMap<string, number> {
  const rows: Record<string, SQLOutputValue>[] = db.prepare('SELECT * FROM offsets').all();
  return new Map(
    rows.map(({ topic, partition, next }) => [`${String(topic)}/${String(partition)}`, Number(next)]),
  );
}
