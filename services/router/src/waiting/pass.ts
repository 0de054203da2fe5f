/**
 * A pass over the waiting records: reads them again, in the order of the topic, and routes those that can be routed. A key
 * whose first record cannot be routed yet is skipped as a whole.
 */
import type { ConsumedRecord } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { InFlight } from './in-flight.ts';
import type { KeyHash } from './keys.ts';
import type { Entry, WaitingPartition } from './waiting-partition.ts';

export interface PassOptions {
  /** The unfinished records of these partitions of `events.waiting`, in order. */
  readonly unfinished: (partitions: readonly number[]) => AsyncIterable<readonly ConsumedRecord[]>;
  readonly inFlight: Pick<InFlight, 'untilNotFull'>;
  /** Returns whether the record has left the queue. */
  readonly route: (partition: WaitingPartition, record: ConsumedRecord, entry: Entry) => boolean;
  readonly onExpired: (records: number) => void;
  readonly isClosed: () => boolean;
  readonly log: Pick<Log, 'error'>;
}

/** The state of one partition during a pass. */
interface PartitionPass {
  readonly partition: WaitingPartition;
  /** Keys whose first record continues to wait. */
  readonly blocked: Set<KeyHash>;
  /** Offsets of the entries at the start of the pass that it has not read yet. */
  readonly unread: Set<number>;
  /** The last of these offsets. */
  readonly end: number;
  readTo: number;
}

/** @throws TailraceError where Kafka cannot be read; then the pass has to be repeated */
export async function runPass(
  partitions: readonly WaitingPartition[],
  { unfinished, inFlight, route, onExpired, isClosed, log }: PassOptions,
): Promise<void> {
  const passes = new Map(partitions.map((partition) => [partition.number, startPass(partition)]));
  for (const { neededSchemas } of partitions) neededSchemas.clear();
  for await (const records of unfinished([...passes.keys()])) {
    for (const record of records) {
      const pass = passes.get(record.partition);
      if (!pass) continue;
      const { partition, blocked, unread } = pass;
      pass.readTo = record.offset;
      unread.delete(record.offset);
      const entry = partition.entries.get(record.offset);
      if (!entry || (entry.key !== undefined && blocked.has(entry.key))) continue;
      await inFlight.untilNotFull();
      if (isClosed()) return;
      if (entry.work.revoked) continue;
      const hasLeft = !entry.isProcessing && route(partition, record, entry);
      if (!hasLeft && entry.key !== undefined) blocked.add(entry.key);
    }
    // Entries that were added during the pass are left to the next one.
    if ([...passes.values()].every(({ readTo, end }) => readTo >= end)) break;
  }
  for (const pass of passes.values()) {
    const { partition, blocked } = pass;
    if (isClosed() || partition.revoked) continue;
    onExpired(removeExpired(pass, log));
    for (const key of partition.keysOfEntries()) partition.needsPass ||= !blocked.has(key);
  }
}

function startPass(partition: WaitingPartition): PartitionPass {
  const offsets = [...partition.entries.keys()];
  return { partition, blocked: new Set(), unread: new Set(offsets), end: offsets.at(-1) ?? -1, readTo: -1 };
}

/**
 * Removes entries whose records have expired, and returns how many. Without a later record that was read, an expired record cannot be
 * distinguished from one that was not read.
 */
function removeExpired({ partition, unread, readTo }: PartitionPass, log: PassOptions['log']): number {
  let records = 0;
  for (const offset of unread) {
    const entry = offset < readTo ? partition.entries.get(offset) : undefined;
    if (!entry || entry.isProcessing) continue;
    partition.removeExpired(entry);
    entry.work.done();
    records += 1;
  }
  if (records > 0) {
    log.error(
      { partition: partition.number, records },
      'waiting records expired before their schemas were known',
    );
  }
  return records;
}
