/** The record of `events.waiting`: a record of `events` as it was received, with its position there in a header. */
import { type ConsumedRecord, type OutgoingRecord, type TrackedRecord, type Work } from '@tailrace/kafka';
import { waitingHeader, type WaitingPlace } from '@tailrace/records';
import { trackedRecord } from '../record-content.ts';

/** Keeps the partition number, so that the router that owns one partition owns the other. */
export function waitingRecord(
  topic: string,
  { partition, offset, timestamp, key, value, headerList }: ConsumedRecord,
): OutgoingRecord {
  const headers = [...headerList, [waitingHeader, `${offset} ${timestamp}`] as const];
  return { topic, partition, key, value, headers };
}

/** The record as it was in `events`. Its work is that of the waiting record. */
export function originalRecord(
  topic: string,
  { key, value, headerList, partition }: ConsumedRecord,
  { offset, timestamp }: WaitingPlace,
  work: Work,
): TrackedRecord {
  const content = { topic, partition, offset, timestamp, key, value, headerList: headerList.slice(0, -1) };
  return trackedRecord(work, content);
}
