/**
 * The flow of all events, counted while records are written: what was received, why destinations did not get events, and the state of
 * the deliveries that were made in a minute. Also the pending deliveries of each destination, by the topic in which they wait.
 *
 * Minutes are kept for two days, hours as long as the history, so that any period is answered from a few thousand rows.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Decision, UsageRecord } from '@tailrace/records';
import { isPending, pendingStatuses, type DeliveryRow, type DeliveryStatus } from '../facts/delivery-row.ts';
import { hourMs, minuteMs } from '../schema/schema.ts';
import { plain } from '../sqlite/row.ts';

/** `received` and `blocked` are events; `filtered` and deliveries count once for each destination. */
export type FlowKind = 'received' | 'blocked' | 'unconnected' | 'filtered' | DeliveryStatus;

export interface FlowRow {
  /** The start of the step; milliseconds since the epoch. */
  readonly at: number;
  readonly kind: FlowKind;
  /** Of `filtered` and `dead`; otherwise empty. */
  readonly reason: string;
  readonly count: number;
}

export interface PendingRow {
  readonly destinationId: string;
  /** The topic of the latest record; empty where it is not known yet. */
  readonly topic: string;
  readonly reason: string;
  readonly deliveries: number;
}

/** Milliseconds since the epoch; `until` is exclusive. */
export interface Period {
  readonly since: number;
  readonly until: number;
  readonly stepMs: number;
}

export const minutesKeptMs = 48 * hourMs;

export function createFlowWriter(db: DatabaseSync) {
  const addFlow = db.prepare(`
    INSERT INTO flow VALUES (?, ?, ?, ?, max(0, ?5))
    ON CONFLICT DO UPDATE SET count = max(0, count + ?5)`);
  const addPending = db.prepare(`
    INSERT INTO pending VALUES (?1, ?2, ?3, max(0, ?4))
    ON CONFLICT DO UPDATE SET deliveries = max(0, deliveries + ?4)`);
  const forgetPending = db.prepare(
    'DELETE FROM pending WHERE destination_id = ? AND topic = ? AND reason = ? AND deliveries = 0',
  );
  const flow = new Map<string, [at: number, kind: FlowKind, reason: string, count: number]>();
  const pending = new Map<string, [destinationId: string, topic: string, reason: string, count: number]>();

  const count = (at: number, kind: FlowKind, reason: string, by: number): void => {
    const minute = Math.floor(at / minuteMs) * minuteMs;
    const key = `${minute} ${kind} ${reason}`;
    const entry = flow.get(key);
    if (entry) entry[3] += by;
    else flow.set(key, [minute, kind, reason, by]);
  };
  const countDelivery = (row: DeliveryRow, by: number): void => {
    const { createdAt, destinationId, state, place } = row;
    const { status } = state;
    const reason = state.reason ?? '';
    count(createdAt, status, status === 'dead' ? reason : '', by);
    if (!isPending(status)) return;
    const topic = place?.topic ?? '';
    const key = `${destinationId} ${topic} ${reason}`;
    const entry = pending.get(key);
    if (entry) entry[3] += by;
    else pending.set(key, [destinationId, topic, reason, by]);
  };
  return {
    /** @param at when the router wrote the record */
    usage({ calls, filtered }: UsageRecord, at: number): void {
      const all = Object.values(calls).reduce((sum, one) => sum + one, 0);
      if (all > 0) count(at, 'received', '', all);
      if (filtered > 0) count(at, 'blocked', '', filtered);
    },
    /** Of a decision that was not stored before. */
    decision({ decidedAt, routed, filtered }: Decision): void {
      if (routed === 0 && filtered.length === 0) count(decidedAt, 'unconnected', '', 1);
      for (const { reason, count: destinations } of filtered) {
        // The router counts blocked events in the usage too.
        if (reason !== 'schema') count(decidedAt, 'filtered', reason.slice(0, 100), destinations);
      }
    },
    changed(before: DeliveryRow | undefined, now: DeliveryRow): void {
      if (before) countDelivery(before, -1);
      countDelivery(now, 1);
    },
    /** Writes what was counted since the last call. */
    flush(): void {
      for (const [at, kind, reason, by] of flow.values()) {
        if (by === 0) continue;
        addFlow.run(minuteMs, at, kind, reason, by);
        addFlow.run(hourMs, Math.floor(at / hourMs) * hourMs, kind, reason, by);
      }
      for (const [destinationId, topic, reason, by] of pending.values()) {
        if (by === 0) continue;
        addPending.run(destinationId, topic, reason, by);
        if (by < 0) forgetPending.run(destinationId, topic, reason);
      }
      flow.clear();
      pending.clear();
    },
  };
}

export function flowQueries(db: DatabaseSync) {
  // Numbers are bound as floating-point numbers, which SQLite divides without rounding.
  const flow = db.prepare(`
    SELECT at / CAST(?4 AS INTEGER) * ?4 AS at, kind, reason, sum(count) AS count FROM flow
    WHERE unit = ?1 AND at >= ?2 AND at < ?3 GROUP BY 1, kind, reason ORDER BY 1`);
  const pendingAll = db.prepare(`
    SELECT '' AS destinationId, topic, reason, sum(deliveries) AS deliveries FROM pending
    WHERE deliveries > 0 GROUP BY topic, reason ORDER BY topic, reason`);
  const pendingOne = db.prepare(`
    SELECT destination_id AS destinationId, topic, reason, deliveries FROM pending
    WHERE destination_id = ? AND deliveries > 0 ORDER BY topic, reason`);
  const waiting = db.prepare(`
    SELECT destination_id AS destinationId, '' AS topic, reason, sum(deliveries) AS deliveries FROM pending
    WHERE reason = ? AND deliveries > 0 GROUP BY destination_id ORDER BY deliveries DESC, destination_id LIMIT ?`);
  const nextDue = db.prepare(`
    SELECT next_due_at AS at, reason FROM
      (SELECT next_due_at, reason FROM deliveries INDEXED BY deliveries_pending
       WHERE destination_id = ? AND status IN ${pendingStatuses} ORDER BY created_at DESC LIMIT 2000)
    WHERE next_due_at IS NOT NULL ORDER BY next_due_at LIMIT 1`);
  return {
    /** By step, kind and reason. Steps are whole hours where the period is longer than minutes are kept. */
    flowOf({ since, until, stepMs }: Period): readonly FlowRow[] {
      const unit = stepMs % hourMs === 0 ? hourMs : minuteMs;
      return flow.all(unit, since, until, stepMs).map(plain<FlowRow>);
    },
    /** Pending deliveries by topic and reason; of all destinations together, or of one. */
    pendingOf: (destinationId?: string): readonly PendingRow[] =>
      (destinationId === undefined ? pendingAll.all() : pendingOne.all(destinationId)).map(plain<PendingRow>),
    /** Destinations whose deliveries wait for this reason, most first. */
    destinationsWaitingFor: (reason: string, limit: number): readonly PendingRow[] =>
      waiting.all(reason, limit).map(plain<PendingRow>),
    /** When the next of the newest 2,000 pending deliveries of the destination is due. */
    nextDueOf(destinationId: string): { readonly at: number; readonly reason: string } | undefined {
      const row = nextDue.get(destinationId);
      return row && { at: Number(row['at']), reason: String(row['reason'] ?? '') };
    },
  };
}
