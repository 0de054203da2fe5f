/** The records of a fetched batch, as the readers of this package use them. */
import { lastOfEach, type ConsumedRecord } from './record.ts';
import type { FetchedRecord } from './wire/record-batch.ts';

/** The messages of a batch, whose type in the library differs from what patches/reading/fetch-response.ts creates. */
export function fetchedRecords(batch: { readonly messages: readonly unknown[] }): readonly FetchedRecord[] {
  return batch.messages as readonly FetchedRecord[];
}

export function toRecord(topic: string, partition: number, fetched: FetchedRecord): ConsumedRecord {
  const { offset, timestamp, key, value, headers: headerList } = fetched;
  return { topic, partition, offset, timestamp, key, value, headers: lastOfEach(headerList), headerList };
}
