/** Fetched records as the rest of Tailrace uses them. */
import { lastOfEach, type ConsumedRecord } from './record.ts';
import type { FetchedRecord } from './wire/record-batch.ts';

export function toRecord(topic: string, partition: number, fetched: FetchedRecord): ConsumedRecord {
  const { offset, timestamp, key, value, headers: headerList } = fetched;
  return { topic, partition, offset, timestamp, key, value, headers: lastOfEach(headerList), headerList };
}
