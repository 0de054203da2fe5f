/** Reads rows of SQLite. */
import type { SQLOutputValue } from 'node:sqlite';
import type { DeliveryRow, DeliveryStatus } from '../facts/delivery-row.ts';

export type SqlRow = Readonly<Record<string, SQLOutputValue>>;

/** The row as an object, where its columns have the names and the types of the fields. */
export function plain<Of extends object>(row: SqlRow): Readonly<Of> {
  return { ...row } as Of;
}

export function rowOf(row: SqlRow): DeliveryRow {
  return {
    id: textOf(row, 'id'),
    eventId: textOf(row, 'event_id'),
    sourceId: textOf(row, 'source_id'),
    destinationId: textOf(row, 'destination_id'),
    type: textOf(row, 'type'),
    event: orNull(row['event'], String),
    userKey: textOf(row, 'user_key'),
    createdAt: Number(row['created_at']),
    state: {
      status: textOf(row, 'status') as DeliveryStatus,
      changedAt: Number(row['changed_at']),
      rank: Number(row['rank']),
      reason: orNull(row['reason'], String),
      nextDueAt: orNull(row['next_due_at'], Number),
    },
    place: orNull(row['topic'], (topic) => ({
      topic: String(topic),
      partition: Number(row['partition']),
      offset: Number(row['offset']),
      placedAt: Number(row['placed_at']),
    })),
  };
}

export function textOf(row: SqlRow, column: string): string {
  return String(row[column]);
}

export function orNull<T>(value: SQLOutputValue | undefined, read: (value: SQLOutputValue) => T): T | null {
  return value === null || value === undefined ? null : read(value);
}
