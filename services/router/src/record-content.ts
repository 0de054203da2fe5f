/** A record with other content than the one that was received; finishing it finishes the work of that one. */
import {
  lastOfEach,
  type ConsumedRecord,
  type RecordHeader,
  type TrackedRecord,
  type Work,
} from '@tailrace/kafka';

export function trackedRecord(work: Work, content: Omit<ConsumedRecord, 'headers'>): TrackedRecord {
  return {
    ...content,
    work,
    headers: lastOfEach(content.headerList),
    get revoked() {
      return work.revoked;
    },
    done() {
      work.done();
    },
  };
}

/**
 * The record with a copy of its bytes, and their number: those of a received record are a slice of the whole fetch response and
 * keep it in memory.
 */
export function withOwnBytes(record: TrackedRecord): {
  readonly record: TrackedRecord;
  readonly bytes: number;
} {
  // Not the place of its work: that of a record which has waited for its schema is in another topic.
  const { topic, partition, offset, timestamp, work, key, value, headerList } = record;
  const lengths = headerList.map(([, header]) => header?.length ?? 0);
  const bytes = lengths.reduce((sum, length) => sum + length, (key?.length ?? 0) + (value?.length ?? 0));
  // Not of the pool that small buffers share, of which one record would keep 8 KB.
  const all = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  const own = (part: Buffer | null): Buffer | null => {
    if (part === null) return null;
    const start = at;
    at += part.copy(all, start);
    return all.subarray(start, at);
  };
  const content = {
    topic,
    partition,
    offset,
    timestamp,
    key: own(key),
    value: own(value),
    headerList: headerList.map(([name, header]): RecordHeader => [name, own(header)]),
  };
  return { record: trackedRecord(work, content), bytes };
}
