/** Reads the ordered deliveries that wait in the retry topics of some partitions. */
import type { ConsumedRecord } from '@tailrace/kafka';
import { decodeDelivery, type Delivery } from '@tailrace/records';
import { BacklogBuilder, type Backlog } from './backlog.ts';

export interface BacklogSource {
  /** The unfinished records of these partitions, for each retry topic. */
  readonly unfinished: (partitions: readonly number[]) => readonly AsyncIterable<readonly ConsumedRecord[]>[];
  /** When a delivery that waits in a retry topic is expected, in milliseconds since the epoch. */
  readonly until: (delivery: Delivery, record: ConsumedRecord) => number;
}

/** @throws TailraceError (from the promise) `kafka-unavailable` */
export async function readBacklogs(
  { unfinished, until }: BacklogSource,
  partitions: readonly number[],
): Promise<Map<number, Backlog>> {
  const backlogs = new Map(partitions.map((number) => [number, new BacklogBuilder()]));
  const add = (record: ConsumedRecord): void => {
    if (record.headers['sequence'] === undefined) return;
    const delivery = decodeDelivery(record);
    if (typeof delivery === 'string' || delivery.sequence === undefined) return;
    backlogs.get(record.partition)?.add(hashKey(delivery.key), delivery.sequence, until(delivery, record));
  };
  const read = async (tier: AsyncIterable<readonly ConsumedRecord[]>): Promise<void> => {
    for await (const records of tier) records.forEach(add);
  };
  await Promise.all(unfinished(partitions).map(read));
  return new Map(Array.from(backlogs, ([number, backlog]) => [number, backlog.build()]));
}

/** Returns a hash of 53 bits, so that it is improbable that two of a million users share a chain. */
export function hashKey(key: string): number {
  let high = 0x811c9dc5;
  let low = 0x9e3779b9;
  for (let place = 0; place < key.length; place += 1) {
    const code = key.charCodeAt(place);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x85ebca6b);
    low ^= low >>> 15;
  }
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}
