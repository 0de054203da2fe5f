/**
 * Reads the tiers once, beside the group, for several recalls. A tier is read no faster than the recalls have room; one that
 * has none for long is left to a pass of its own.
 */
import type { ConsumedRecord, Span } from '@tailrace/kafka';
import type { Recall } from './recall.ts';

export interface PassOptions {
  /** In the order in which they are read. */
  readonly tiers: readonly string[];
  readonly unfinished: (
    topic: string,
    partitions: readonly number[],
    spans: ReadonlyMap<number, Span>,
  ) => AsyncIterable<readonly ConsumedRecord[]>;
}

/** @throws TailraceError `kafka-unavailable`: then the recalls know how far they are */
export async function readTiers(
  { tiers, unfinished }: PassOptions,
  recalls: readonly Recall[],
): Promise<void> {
  const taking = new Map(recalls.map((recall) => [recall.order.destinationId, recall]));
  for (const topic of tiers) {
    const spans = spansOf(topic, [...taking.values()]);
    if (spans.size === 0) continue;
    for await (const records of unfinished(topic, [...spans.keys()], spans)) {
      for (const record of records) {
        const id = record.headers['destination-id']?.toString() ?? '';
        const recall = taking.get(id);
        if (recall && !(await recall.offer(record))) taking.delete(id);
      }
      if (taking.size === 0) return;
    }
    for (const recall of taking.values()) recall.wasRead(topic);
  }
}

/** By partition, what any of them has not read. */
function spansOf(topic: string, recalls: readonly Recall[]): Map<number, Span> {
  const spans = new Map<number, Span>();
  for (const recall of recalls) {
    for (const { number, parts } of recall.partitions) {
      const part = parts.find((part) => part.topic === topic);
      if (!part || part.isRead) continue;
      const { from, to } = spans.get(number) ?? { from: part.readTo, to: part.end };
      spans.set(number, { from: Math.min(from, part.readTo), to: Math.max(to, part.end) });
    }
  }
  return spans;
}
