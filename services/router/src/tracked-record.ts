/** A record of other content than was handed out, whose work is still that of the one that was. */
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
