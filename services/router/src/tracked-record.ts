/** A record with other content than the one that was received; finishing it finishes the work of that one. */
import { lastOfEach, type ConsumedRecord, type TrackedRecord, type Work } from '@tailrace/kafka';

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
