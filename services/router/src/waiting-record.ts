/** The record of `events.waiting`: one of `events` as it was received, with its place there in a header, and back. */
import { type ConsumedRecord, type OutgoingRecord, type TrackedRecord, type Work } from '@tailrace/kafka';
import { trackedRecord } from './tracked-record.ts';

/** Always the last header, so that one of the same name from a producer is not taken for it. */
const placeHeader = 'tailrace-place';

/** Where a record lies in `events`, and its time there. */
export interface Place {
  readonly offset: number;
  readonly timestamp: number;
}

/** In the same partition number, so that the router that owns the one owns the other. */
export function waitingRecord(
  topic: string,
  { partition, offset, timestamp, key, value, headerList }: ConsumedRecord,
): OutgoingRecord {
  const headers = [...headerList, [placeHeader, `${offset} ${timestamp}`] as const];
  return { topic, partition, key, value, headers };
}

/** Undefined where it was not written by {@link waitingRecord}. */
export function placeOf({ headerList }: Pick<ConsumedRecord, 'headerList'>): Place | undefined {
  const [name, value] = headerList.at(-1) ?? [];
  if (name !== placeHeader) return undefined;
  const [, offset, timestamp] = /^(\d{1,16}) (-?\d{1,16})$/.exec(value?.toString('latin1') ?? '') ?? [];
  return offset === undefined ? undefined : { offset: Number(offset), timestamp: Number(timestamp) };
}

/** The record as it was in `events`, whose work is that of the one that waited. */
export function restored(
  topic: string,
  { key, value, headerList, partition }: ConsumedRecord,
  { offset, timestamp }: Place,
  work: Work,
): TrackedRecord {
  const content = { topic, partition, offset, timestamp, key, value, headerList: headerList.slice(0, -1) };
  return trackedRecord(work, content);
}
