/** The record of `events.waiting`: a record of `events` as it was received, with its position there in a header. */
import { type ConsumedRecord, type OutgoingRecord, type TrackedRecord, type Work } from '@tailrace/kafka';
import { trackedRecord } from '../record-content.ts';

/** Always the last header, so that a producer's header of the same name is not taken for it. */
const positionHeader = 'tailrace-place';

/** The offset of a record in `events`, and its time there. */
export interface Position {
  readonly offset: number;
  readonly timestamp: number;
}

/** Keeps the partition number, so that the router that owns one partition owns the other. */
export function waitingRecord(
  topic: string,
  { partition, offset, timestamp, key, value, headerList }: ConsumedRecord,
): OutgoingRecord {
  const headers = [...headerList, [positionHeader, `${offset} ${timestamp}`] as const];
  return { topic, partition, key, value, headers };
}

/** Undefined where the record was not made by {@link waitingRecord}. */
export function positionOf({ headerList }: Pick<ConsumedRecord, 'headerList'>): Position | undefined {
  const [name, value] = headerList.at(-1) ?? [];
  if (name !== positionHeader) return undefined;
  const [, offset, timestamp] = /^(\d{1,16}) (-?\d{1,16})$/.exec(value?.toString('latin1') ?? '') ?? [];
  return offset === undefined ? undefined : { offset: Number(offset), timestamp: Number(timestamp) };
}

/** The record as it was in `events`. Its work is that of the waiting record. */
export function originalRecord(
  topic: string,
  { key, value, headerList, partition }: ConsumedRecord,
  { offset, timestamp }: Position,
  work: Work,
): TrackedRecord {
  const content = { topic, partition, offset, timestamp, key, value, headerList: headerList.slice(0, -1) };
  return trackedRecord(work, content);
}
