/** Dead letters as rows. Empty texts stand for what a record that is not a delivery lacks. */
import type { DeadLetterSummary } from '@tailrace/deadletters';
import { bounded, boundedOrNull } from '@tailrace/records';
import { orNull, type SqlRow } from '../../sqlite/row.ts';

/** The texts of the letter as they are stored. */
export function storedTexts({
  deliveryId,
  eventId,
  sourceId,
  destinationId = '',
  type = '',
  event,
  userKey,
  reason = '',
}: DeadLetterSummary) {
  return {
    deliveryId: boundedOrNull(deliveryId),
    eventId: boundedOrNull(eventId),
    sourceId: boundedOrNull(sourceId),
    destinationId: bounded(destinationId),
    type: bounded(type),
    event: boundedOrNull(event),
    userKey: boundedOrNull(userKey),
    reason: bounded(reason),
  };
}

export function deadLetterOf(row: SqlRow): DeadLetterSummary {
  const text = (column: string): string | undefined => {
    const value = orNull(row[column], String);
    return value === null || value === '' ? undefined : value;
  };
  return {
    partition: Number(row['partition']),
    offset: Number(row['offset']),
    diedAt: Number(row['died_at']),
    reason: text('reason'),
    replayed: Number(row['replayed']) > 0,
    deliveryId: text('delivery_id'),
    eventId: text('event_id'),
    sourceId: text('source_id'),
    destinationId: text('destination_id'),
    type: text('type'),
    event: text('event'),
    userKey: text('user_key'),
    attempts: Number(row['attempts']),
  };
}
