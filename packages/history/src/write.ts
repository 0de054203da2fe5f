/** Writes batches of facts to the tables, together with the next offset. */
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Span, TailPosition } from '@tailrace/kafka';
import type { UsageRecord } from '@tailrace/records';
import { createBacklogWriter } from './tables/backlog.ts';
import { breakerWriter } from './tables/breakers.ts';
import { decisionWriter } from './tables/decisions.ts';
import { createDeadLetterWriter } from './tables/dead-letters/write.ts';
import { ended, isPending, merge, pendingStatuses, type DeliveryRow } from './facts/delivery-row.ts';
import { createAttemptCounts } from './tables/statistics/attempts.ts';
import { createFailureCounts } from './tables/statistics/failures.ts';
import { createFlowWriter } from './tables/flow.ts';
import type { AttemptRow, Fact, Resend, StoredDecision } from './facts/facts.ts';
import type { Retention } from './retention.ts';
import { rowOf } from './sqlite/row.ts';
import { createUsageWriter } from './tables/usage/write.ts';

/** Deliveries that are ended in one turn of the event loop. */
const endedTogether = 100;

interface Touched {
  readonly stored: DeliveryRow | undefined;
  /** The key of the stored row. */
  key: number | bigint;
  row: DeliveryRow;
  /** Whether it was added to the backlog of its destination, again or for the first time. */
  isAdded: boolean;
}

/** Runs in the transaction of the caller. */
export class Writer {
  readonly #retention: Pick<Retention, 'floorOf'>;
  readonly #sql: ReturnType<typeof statementsOf>;
  readonly #tables: ReturnType<typeof writersOf>;

  constructor(db: DatabaseSync, retention: Pick<Retention, 'floorOf'>) {
    this.#retention = retention;
    this.#sql = statementsOf(db);
    this.#tables = writersOf(db);
  }

  /** Leaves out deliveries and decisions from before the floor of the retention. */
  write(facts: readonly Fact[], positions: readonly TailPosition[]): void {
    const { insertResend, putOffset } = this.#sql;
    const { counts, deadLetters, putBreakers, backlog } = this.#tables;
    const touched = new Map<string, Touched>();
    const attempts: AttemptRow[] = [];
    const resends: (readonly [deliveryId: string, resend: Resend])[] = [];
    for (const fact of facts) {
      if (fact.kind === 'usage') this.#putUsage(fact.usage, fact.at);
      else if (fact.kind === 'dead-letter') deadLetters.putLetter(fact.letter);
      else if (fact.kind === 'replay') deadLetters.putReplay(fact.replay);
      else if (fact.kind === 'decision') this.#putDecision(fact.decision);
      else {
        const { sourceId, destinationId, createdAt } = fact.delivery;
        if (createdAt < this.#retention.floorOf(sourceId, destinationId)) continue;
        const change = fact.kind === 'delivery' ? fact.backlog : undefined;
        this.#merge(touched, fact.delivery, change === 'added');
        if (change) backlog.count(destinationId, change, createdAt);
        if (fact.kind === 'attempt') attempts.push(fact.attempt);
        else if (fact.resend) resends.push([fact.delivery.id, fact.resend]);
      }
    }
    for (const delivery of touched.values()) this.#putDelivery(delivery);
    const keyOf = (deliveryId: string): number | bigint => touched.get(deliveryId)?.key ?? 0;
    const fresh = attempts.filter((attempt) => this.#putAttempt(keyOf(attempt.deliveryId), attempt));
    for (const [id, { at, by }] of resends) insertResend.run(keyOf(id), at, by);
    putBreakers(fresh);
    counts.add(fresh);
    this.#flush();
    for (const { topic, partition, next } of positions) putOffset.run(topic, partition, next);
  }

  /**
   * Ends some of the pending deliveries whose latest record is in this range of a partition. Returns where to continue; undefined if these
   * were all.
   */
  end(topic: string, partition: number, { from, to }: Span): number | undefined {
    const found = this.#sql.findEnded.all(topic, partition, from, to);
    for (const one of found) {
      const stored = rowOf(one);
      this.#putDelivery({ stored, key: Number(one['row']), row: ended(stored), isAdded: false });
    }
    this.#flush();
    return found.length < endedTogether ? undefined : Number(found.at(-1)?.['offset']) + 1;
  }

  #flush(): void {
    this.#tables.flow.flush();
    this.#tables.backlog.flush();
  }

  #putUsage(usage: UsageRecord, at: number): void {
    this.#tables.putUsage(usage, at);
    this.#tables.flow.usage(usage, at);
  }

  #putDecision(decision: StoredDecision): void {
    const { putDecision, flow } = this.#tables;
    const isKept = decision.decidedAt >= this.#retention.floorOf(decision.sourceId, '');
    if (isKept && putDecision(decision)) flow.decision(decision);
  }

  #merge(touched: Map<string, Touched>, fact: DeliveryRow, isAdded: boolean): void {
    const known = touched.get(fact.id);
    if (known) {
      known.row = merge(known.row, fact);
      known.isAdded ||= isAdded;
      return;
    }
    const found = this.#sql.findDelivery.get(fact.id);
    const stored = found && rowOf(found);
    const row = stored ? merge(stored, fact) : fact;
    touched.set(fact.id, { stored, key: Number(found?.['row'] ?? 0), row, isAdded });
  }

  #putDelivery(touched: Touched): void {
    const { insertDelivery, updateOrigin, updateState } = this.#sql;
    const { stored, row } = touched;
    this.#tables.failures.changed(stored, row);
    this.#tables.flow.changed(stored, row);
    this.#countEnd(touched);
    const { id, event, userKey, createdAt, state, place } = row;
    const stateValues = [state.status, state.changedAt, state.rank, state.reason, state.nextDueAt];
    const placeValues = place
      ? [place.topic, place.partition, place.offset, place.placedAt]
      : [null, null, null, null];
    if (!stored) {
      const { eventId, sourceId, destinationId, type } = row;
      const origin = [id, eventId, sourceId, destinationId, type, event, userKey, createdAt];
      touched.key = insertDelivery.run(...origin, ...stateValues, ...placeValues).lastInsertRowid;
      return;
    }
    if (stored.createdAt !== createdAt || stored.event !== event || stored.userKey !== userKey) {
      updateOrigin.run(event, userKey, createdAt, id);
    }
    if (stored.state !== state || stored.place !== place) updateState.run(...stateValues, ...placeValues, id);
  }

  /** The minute in which a delivery ended unnoticed is not known, so it counts in none: as if it had ended when it was made. */
  #countEnd({ stored, row: { destinationId, state }, isAdded }: Touched): void {
    if (!stored) return;
    const { backlog } = this.#tables;
    const { status } = stored.state;
    const { createdAt } = stored;
    if (isPending(status) && state.status === 'unknown') backlog.count(destinationId, 'ended', createdAt);
    // It had not ended, or the late record of its end counts too. A replay adds it again instead.
    const isLate = status === 'unknown' && state.status !== 'unknown' && !isAdded;
    if (isLate) backlog.count(destinationId, 'ended', createdAt, -1);
  }

  /** Returns whether the attempt was new: its record may be duplicated. */
  #putAttempt(delivery: number | bigint, attempt: AttemptRow): boolean {
    const { failures, backlog } = this.#tables;
    const { startedAt, destinationId, latencyMs, outcome, reason, nextDueAt, urls } = attempt;
    const key = [delivery, startedAt, attempt.attempt, reason === null ? null : destinationId];
    const values = [latencyMs, outcome, reason, nextDueAt, JSON.stringify(urls)];
    if (this.#sql.insertAttempt.run(...key, ...values).changes === 0) return false;
    failures.failed(attempt);
    if (outcome === 'delivered') backlog.count(destinationId, 'ended', startedAt + latencyMs);
    return true;
  }
}

function writersOf(db: DatabaseSync) {
  return {
    counts: createAttemptCounts(db),
    failures: createFailureCounts(db),
    deadLetters: createDeadLetterWriter(db),
    putUsage: createUsageWriter(db),
    putDecision: decisionWriter(db),
    putBreakers: breakerWriter(db),
    flow: createFlowWriter(db),
    backlog: createBacklogWriter(db),
  };
}

function statementsOf(db: DatabaseSync) {
  return {
    findDelivery: db.prepare('SELECT * FROM deliveries WHERE id = ?'),
    insertDelivery: db.prepare(`
      INSERT INTO deliveries (id, event_id, source_id, destination_id, type, event, user_key, created_at,
        status, changed_at, rank, reason, next_due_at, topic, partition, "offset", placed_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    // Two statements, because SQLite rewrites the indexes of every column that a statement names, changed or not.
    updateState: db.prepare(`
      UPDATE deliveries SET status = ?, changed_at = ?, rank = ?, reason = ?, next_due_at = ?,
        topic = ?, partition = ?, "offset" = ?, placed_at = ? WHERE id = ?`),
    updateOrigin: db.prepare('UPDATE deliveries SET event = ?, user_key = ?, created_at = ? WHERE id = ?'),
    insertAttempt: db.prepare('INSERT OR IGNORE INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    insertResend: db.prepare('INSERT OR IGNORE INTO resends VALUES (?, ?, ?)'),
    findEnded: db.prepare(`
      SELECT * FROM deliveries INDEXED BY deliveries_by_place
      WHERE status IN ${pendingStatuses} AND topic = ? AND partition = ? AND "offset" >= ? AND "offset" < ?
      ORDER BY "offset" LIMIT ${endedTogether}`),
    putOffset: db.prepare('INSERT OR REPLACE INTO offsets VALUES (?, ?, ?)'),
  };
}

/** The next offset to read, by `<topic>/<partition>`. */
export function readOffsets(db: DatabaseSync): ReadonlyMap<string, number> {
  const rows: Record<string, SQLOutputValue>[] = db.prepare('SELECT * FROM offsets').all();
  return new Map(
    rows.map(({ topic, partition, next }) => [`${String(topic)}/${String(partition)}`, Number(next)]),
  );
}
