/** The place in `events` of a record of `events.waiting`, in its last header: `<offset> <time>`. */
import type { ConsumedRecord } from '@tailrace/kafka';

/** Always the last header, so that a producer's header of the same name is not taken for it. */
export const waitingHeader = 'tailrace-place';

/** The offset of a record in `events`, and its time there. The partition is the same. */
export interface WaitingPlace {
  readonly offset: number;
  readonly timestamp: number;
}

/** Undefined where the router has not written the record. */
export function waitingPlaceOf({ headerList }: Pick<ConsumedRecord, 'headerList'>): WaitingPlace | undefined {
  const [name, value] = headerList.at(-1) ?? [];
  if (name !== waitingHeader) return undefined;
  const [, offset, timestamp] = /^(\d{1,16}) (-?\d{1,16})$/.exec(value?.toString('latin1') ?? '') ?? [];
  return offset === undefined ? undefined : { offset: Number(offset), timestamp: Number(timestamp) };
}
