/**
 * Batches that cannot be decoded, or that would take too much memory decoded. A reader skips them. Each is logged, and
 * reported to the service for a metric.
 */
import type { KafkaLog } from './log.ts';
import type { Unreadable } from './wire/record-batch.ts';

export interface UnreadableBatch extends Unreadable {
  readonly topic: string;
  readonly partition: number;
}

export type ReportUnreadable = (batch: UnreadableBatch) => void;

export function createUnreadableReporter(log: KafkaLog, onUnreadable?: ReportUnreadable): ReportUnreadable {
  return (batch) => {
    const { topic, partition, firstOffset, lastOffset, reason, detail } = batch;
    log.error({ topic, partition, firstOffset, lastOffset, reason, detail }, 'unreadable batch skipped');
    onUnreadable?.(batch);
  };
}
