/**
 * Which dead letters have been replayed. There are no books beside the replays: each record of
 * `deliveries.replay` says which dead letter it is of, so that to publish it is to book it, and no crash comes
 * between the two.
 *
 * A dead letter is known by its place in `deliveries.dead`. Its delivery id is compared as well, by 32 bits of
 * it, so that a topic that was deleted and made anew is not taken for the old one. That is 4 bytes for each
 * dead letter, in blocks that exist where something was replayed.
 */
import { crc32 } from 'node:zlib';
import type { ConsumedRecord } from '@tailrace/kafka';
import { replayedFromHeader } from '@tailrace/topics';

export interface RecordPosition {
  readonly partition: number;
  readonly offset: number;
}

const blockLength = 1_024;
const unused = 0;

export class ReplayedLetters {
  readonly #blocks = new Map<string, Uint32Array>();

  /** Takes note of a record of `deliveries.replay`. */
  enter({ headers }: Pick<ConsumedRecord, 'headers'>): void {
    const place = parsePosition(headers[replayedFromHeader]?.toString());
    if (!place) return;
    const key = blockKey(place);
    let block = this.#blocks.get(key);
    if (!block) this.#blocks.set(key, (block = new Uint32Array(blockLength)));
    block[place.offset % blockLength] = fingerprint(headers['delivery-id']);
  }

  /** Whether this record of `deliveries.dead` has been replayed. */
  has(record: RecordPosition & Pick<ConsumedRecord, 'headers'>): boolean {
    const found = this.#blocks.get(blockKey(record))?.[record.offset % blockLength] ?? unused;
    return found !== unused && found === fingerprint(record.headers['delivery-id']);
  }
}

export function formatPosition({ partition, offset }: RecordPosition): string {
  return `${partition}/${offset}`;
}

export function parsePosition(text = ''): RecordPosition | undefined {
  const match = /^(\d{1,9})\/(\d{1,15})$/.exec(text);
  return match ? { partition: Number(match[1]), offset: Number(match[2]) } : undefined;
}

function blockKey({ partition, offset }: RecordPosition): string {
  return `${partition}/${Math.floor(offset / blockLength)}`;
}

function fingerprint(deliveryId: Buffer | undefined): number {
  return crc32(deliveryId ?? '') || 1;
}
