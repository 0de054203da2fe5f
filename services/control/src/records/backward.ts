/**
 * Reads a partition from its end towards its beginning, in slices. A request reads a bounded number of records; where these do not
 * fill a page, or not before its deadline, the answer has an offset before which the next request continues.
 */
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import { scanUntil, searchTimedOut, unlessAborted } from './deadline.ts';

export interface Backward {
  readonly topic: string;
  readonly partition: number;
  readonly limit: number;
  /** Default: the end of the partition. */
  readonly before?: number | undefined;
  /** The offset of the first record that is read. Default: that of the partition. */
  readonly first?: number | undefined;
  /** Aborted at the deadline: the page then has what was read. */
  readonly signal: AbortSignal;
}

export interface BackwardPage<Found> {
  /** Newest first. */
  readonly found: readonly Found[];
  /** The offset to continue before; undefined at the end of the list. */
  readonly before: number | undefined;
  /** Of the oldest record that was read, in milliseconds since the epoch. */
  readonly oldest: number | undefined;
}

/** The first slice is short, because most requests are for the latest page. */
const slices = [500, 2_000, 5_000, 10_000];
/** The records of one request. */
export const mostRead = slices.reduce((sum, size) => sum + size, 0);

/**
 * @param read undefined for a record that is not wanted
 * @throws TailraceError `kafka-unavailable` where not even one slice was read before the deadline
 */
export async function readBackward<Found>(
  kafka: Pick<Kafka, 'offsets' | 'scan'>,
  { topic, partition, limit, before, first = 0, signal }: Backward,
  read: (record: ConsumedRecord) => Found | undefined,
): Promise<BackwardPage<Found>> {
  const { low = 0, high = 0 } = (await unlessAborted(signal, kafka.offsets(topic))).get(partition) ?? {};
  const found: { readonly item: Found; readonly offset: number }[] = [];
  const begin = Math.max(low, first);
  let end = Math.min(before ?? high, high);
  let oldest: number | undefined;
  for (const size of slices) {
    if (end <= begin || found.length > limit) break;
    const start = Math.max(begin, end - size);
    const slice: typeof found = [];
    let since: number | undefined;
    const starts = new Map([[partition, start]]);
    const ends = new Map([[partition, end]]);
    for await (const records of scanUntil(signal, kafka, { topic, starts, ends })) {
      for (const record of records) {
        since ??= record.timestamp;
        const item = read(record);
        if (item !== undefined) slice.push({ item, offset: record.offset });
      }
    }
    // The newest records of this slice may be missing.
    if (signal.aborted) {
      if (size === slices[0]) throw searchTimedOut();
      break;
    }
    found.push(...slice.reverse());
    oldest = since ?? oldest;
    end = start;
  }
  const shown = found.slice(0, limit).map(({ item }) => item);
  const next = found[limit];
  if (next) return { found: shown, before: next.offset + 1, oldest };
  return { found: shown, before: end > begin ? end : undefined, oldest };
}
