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
import { textOf } from '../sqlite/row.ts';

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

export interface FlowPeriod {
  readonly since: number;
  readonly until: number;
  readonly stepMs: number;
}

export interface FlowQueries {
  /** By step, kind and reason. Steps are whole hours where the period is longer than minutes are kept. */
  flowOf(period: FlowPeriod): readonly FlowRow[];
  /** Pending deliveries by topic and reason; of all destinations together, or of one. */
  pendingOf(destinationId?: string): readonly PendingRow[];
  /** Destinations whose deliveries wait for this reason, most first. */
  destinationsWaitingFor(reason: string, limit: number): readonly PendingRow[];
  /** When the next of the newest 2,000 pending deliveries of the destination is due. */
  nextDueOf(destinationId: string): { readonly at: number; readonly reason: string } | undefined;
}

export const minutesKeptMs = 48 * hourMs;

export interface FlowWriter {
  /** @param at when the router wrote the record */
  usage(usage: UsageRecord, at: number): void;
  /** Of a decision that was not stored before. */
  decision(decision: Decision): void;
  changed(before: DeliveryRow | undefined, now: DeliveryRow): void;
  /** Writes what was counted since the last call. */
  flush(): void;
}

export function createFlowWriter(db: DatabaseSync): FlowWriter {
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
    usage({ calls, filtered }, at) {
      const all = Object.values(calls).reduce((sum, one) => sum + one, 0);
      if (all > 0) count(at, 'received', '', all);
      if (filtered > 0) count(at, 'blocked', '', filtered);
    },
    decision({ decidedAt, routed, filtered }) {
      if (routed === 0 && filtered.length === 0) count(decidedAt, 'unconnected', '', 1);
      for (const { reason, count: destinations } of filtered) {
        // The router counts blocked events in the usage too.
        if (reason !== 'schema') count(decidedAt, 'filtered', reason.slice(0, 100), destinations);
      }
    },
    changed(before, now) {
      if (before) countDelivery(before, -1);
      countDelivery(now, 1);
    },
    flush() {
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

export function flowQueries(db: DatabaseSync): FlowQueries {
  // Numbers are bound as floating-point numbers, which SQLite divides without rounding.
  const flow = db.prepare(`
    SELECT at / CAST(?4 AS INTEGER) * ?4 AS step, kind, reason, sum(count) AS count FROM flow
    WHERE unit = ?1 AND at >= ?2 AND at < ?3 GROUP BY step, kind, reason ORDER BY step`);
  const pendingAll = db.prepare(`
    SELECT '' AS destination_id, topic, reason, sum(deliveries) AS deliveries FROM pending
    WHERE deliveries > 0 GROUP BY topic, reason ORDER BY topic, reason`);
  const pendingOne = db.prepare(
    'SELECT * FROM pending WHERE destination_id = ? AND deliveries > 0 ORDER BY topic, reason',
  );
  const waiting = db.prepare(`
    SELECT destination_id, '' AS topic, reason, sum(deliveries) AS deliveries FROM pending
    WHERE reason = ? AND deliveries > 0 GROUP BY destination_id ORDER BY deliveries DESC, destination_id LIMIT ?`);
  const nextDue = db.prepare(`
    SELECT next_due_at AS at, reason FROM
      (SELECT next_due_at, reason FROM deliveries INDEXED BY deliveries_pending
       WHERE destination_id = ? AND status IN ${pendingStatuses} ORDER BY created_at DESC LIMIT 2000)
    WHERE next_due_at IS NOT NULL ORDER BY next_due_at LIMIT 1`);
  const pendingRow = (row: Parameters<typeof textOf>[0]): PendingRow => ({
    destinationId: textOf(row, 'destination_id'),
    topic: textOf(row, 'topic'),
    reason: textOf(row, 'reason'),
    deliveries: Number(row['deliveries']),
  });
  return {
    flowOf({ since, until, stepMs }) {
      const unit = stepMs % hourMs === 0 ? hourMs : minuteMs;
      return flow.all(unit, since, until, stepMs).map((row) => ({
        at: Number(row['step']),
        kind: textOf(row, 'kind') as FlowKind,
        reason: textOf(row, 'reason'),
        count: Number(row['count']),
      }));
    },
    pendingOf: (destinationId) =>
      (destinationId === undefined ? pendingAll.all() : pendingOne.all(destinationId)).map(pendingRow),
    destinationsWaitingFor: (reason, limit) => waiting.all(reason, limit).map(pendingRow),
    nextDueOf(destinationId) {
      const row = nextDue.get(destinationId);
      return row && { at: Number(row['at']), reason: String(row['reason'] ?? '') };
    },
  };
}
