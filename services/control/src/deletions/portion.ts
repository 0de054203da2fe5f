/** A portion of a deletion request: what one transaction writes. */
import type { ExclusiveRecord, OutgoingRecord, Partitioner } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topology';
import type { UserIndex } from '../suppressions/user-index.ts';
import { markRecordOf, marksOf } from './marks.ts';
import { deleteRecord, encodeRequest, totalOf, withoutUsers, type DeletionRequest } from './request.ts';
import { isWritten } from './view.ts';

export interface PortionOptions {
  readonly names: Pick<TopicNames, 'deletions' | 'suppressions' | 'audiences' | 'events'>;
  readonly partitioners: { readonly events: Partitioner; readonly audiences: Partitioner };
  /** Everything that was written before. */
  readonly users: Pick<UserIndex, 'deleted'>;
  /** Marks and events of one transaction. */
  readonly maxRecords: number;
}

const maxBytes = 512 * 1024;

/** The next records of the request, the last of which is the request after them. Marks come before events. */
export function portionOf(
  request: DeletionRequest,
  { names, partitioners, users, maxRecords }: PortionOptions,
): { readonly records: readonly ExclusiveRecord[]; readonly next: DeletionRequest } {
  const [marks, total] = [marksOf(request), totalOf(request)];
  const records: ExclusiveRecord[] = [];
  let bytes = 0;
  const add = (record: OutgoingRecord, partitioner?: Partitioner): void => {
    const { key, value } = record;
    bytes += (key?.length ?? 0) + (value?.length ?? 0);
    records.push({ ...record, partition: partitioner?.partitionOf(key?.toString() ?? '') ?? 0 });
  };
  const isFull = (): boolean => records.length >= maxRecords || bytes >= maxBytes;
  const now = Date.now();
  let { sent, marked = 0 } = request;
  for (; marked < marks && !isFull(); marked += 1) {
    const record = markRecordOf(names, request, marked, { users, partitioner: partitioners.events, now });
    add(record, record.topic === names.audiences ? partitioners.audiences : undefined);
  }
  for (; sent < total && !isFull(); sent += 1)
    add(deleteRecord(names.events, request, sent), partitioners.events);
  const step: DeletionRequest = { ...request, sent, marked, updatedAt: new Date(now).toISOString() };
  const next = isWritten(step) ? withoutUsers(step) : step;
  add(encodeRequest(names.deletions, next));
  return { records, next };
}
