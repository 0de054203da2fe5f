/**
 * Which records of the retry topics are finished although the group has not read them: those that the ledger marks, and those
 * of recalls that run here.
 */
import type { ConsumedRecord } from '@tailrace/kafka';
import type { Ledger } from './ledger.ts';
import type { Recall } from './recall.ts';

export class Recalled {
  readonly ledger: Ledger;
  /** The running recalls, by destination. */
  readonly running = new Map<string, Recall>();

  constructor(ledger: Ledger) {
    this.ledger = ledger;
  }

  /** Filters records of a retry topic that were read beside the group: leaves out the finished ones. */
  async *notFinished(
    tier: AsyncIterable<readonly ConsumedRecord[]>,
  ): AsyncIterable<readonly ConsumedRecord[]> {
    const isFinished = (record: ConsumedRecord): boolean => {
      const sequence = record.headers['sequence'];
      const id = record.headers['destination-id']?.toString() ?? '';
      const place = sequence && Number(sequence.toString());
      return (
        this.ledger.isFinished(id, record, place) ||
        (this.running.get(id)?.progress.isFinished(record, place) ?? false)
      );
    };
    for await (const records of tier) yield records.filter((record) => !isFinished(record));
  }
}
