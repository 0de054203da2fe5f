/**
 * Reads the unfinished records of owned partitions outside of the group, from their watermark to their current end. For a
 * consumer that must know its pending work before it decides about new records.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Partition } from './partition/partition.ts';
import type { ConsumedRecord } from '../record.ts';
import type { Scan, ScanOptions } from '../read/scan.ts';

/** Offsets of a partition from `from` (inclusive) to `to` (exclusive). */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Unfinished {
  /** As `Consumption.unfinished`. */
  read(
    topic: string,
    partitions: readonly number[],
    spans?: ReadonlyMap<number, Span>,
  ): AsyncIterable<readonly ConsumedRecord[]>;
  /** Ends all scans. */
  close(): Promise<void>;
}

const locatePauseMs = 50;

export function createUnfinished(
  find: (topic: string, partition: number) => Partition | undefined,
  openScan: (options: ScanOptions) => Promise<Scan>,
): Unfinished {
  const scans = new Set<Scan>();
  let closed = false;

  /** Waits until their start offsets are known. Partitions that are revoked meanwhile are left out. */
  const ownedPartitions = async (topic: string, numbers: readonly number[]): Promise<Partition[]> => {
    for (;;) {
      const found = numbers.flatMap((number) => find(topic, number) ?? []);
      if (closed || found.every(({ located }) => located)) return found;
      await wait(locatePauseMs);
    }
  };

  return {
    async *read(topic, numbers, spans) {
      const partitions = await ownedPartitions(topic, numbers);
      const starts = new Map(
        Array.from(partitions, ({ partition, committable }) => [
          partition,
          Math.max(committable, spans?.get(partition)?.from ?? 0),
        ]),
      );
      const ends = spans && new Map(Array.from(spans, ([partition, { to }]) => [partition, to]));
      const isFinished = new Map(
        partitions.map((partition) => [partition.partition, partition.finishedNow()]),
      );
      if (closed || starts.size === 0) return;
      const scan = await openScan({ topic, starts, ends });
      scans.add(scan);
      try {
        for await (const records of scan) {
          yield records.filter(({ partition, offset }) => !isFinished.get(partition)?.(offset));
        }
      } finally {
        scans.delete(scan);
      }
    },
    async close() {
      closed = true;
      await Promise.all([...scans].map((scan) => scan.close()));
    },
  };
}
