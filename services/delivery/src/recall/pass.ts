/**
 * Reads the retry topics once, beside the consumer group, for several recalls. Reading is no faster than the recalls can
 * dispatch. A recall that is blocked for long is left to a pass of its own.
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

/** @throws TailraceError `kafka-unavailable`. The recalls know then how far they were read. */
export async function readTiers(
  { tiers, unfinished }: PassOptions,
  recalls: readonly Recall[],
): Promise<void> {
  const reading = new Map(recalls.map((recall) => [recall.spec.destinationId, recall]));
  for (const topic of tiers) {
    const spans = spansOf(topic, [...reading.values()]);
    if (spans.size === 0) continue;
    for await (const records of unfinished(topic, [...spans.keys()], spans)) {
      for (const record of records) {
        const id = record.headers['destination-id']?.toString() ?? '';
        const recall = reading.get(id);
        if (recall && !(await recall.offer(record))) reading.delete(id);
      }
      if (reading.size === 0) return;
    }
    for (const recall of reading.values()) recall.topicRead(topic);
  }
}

/** Returns, by partition, the offsets that any of the recalls has not read. */
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
