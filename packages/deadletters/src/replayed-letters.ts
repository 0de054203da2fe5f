/**
 * The set of replayed dead letters, read from `deliveries.replay`. Each record of this topic names its dead letter,
 * so publishing a replay and recording it is one write, and no crash can separate them.
 *
 * A dead letter is identified by its position in `deliveries.dead` and by 32 bits of its delivery id; the id detects
 * a topic that was deleted and created again. The set takes 4 bytes per dead letter, in blocks of 1,024 positions
 * that exist only where something was replayed.
 */
import { crc32 } from 'node:zlib';
import type { ConsumedRecord } from '@tailrace/kafka';
import { parsePosition, replayedFromHeader, type RecordPosition } from '@tailrace/records';

const blockLength = 1_024;
const unused = 0;

/** A record of `deliveries.dead`. */
export type LetterPlace = RecordPosition & Pick<ConsumedRecord, 'headers'>;

export class ReplayedLetters {
  readonly #blocks = new Map<string, Uint32Array>();

  /** Adds the dead letter that a record of `deliveries.replay` names. */
  add({ headers }: Pick<ConsumedRecord, 'headers'>): void {
    const position = parsePosition(headers[replayedFromHeader]?.toString());
    if (position) this.addLetter({ ...position, headers });
  }

  /** Adds this record of `deliveries.dead`. */
  addLetter(record: LetterPlace): void {
    const key = blockKey(record);
    let block = this.#blocks.get(key);
    if (!block) this.#blocks.set(key, (block = new Uint32Array(blockLength)));
    block[record.offset % blockLength] = fingerprint(record.headers['delivery-id']);
  }

  /** Whether this record of `deliveries.dead` was replayed. */
  has(record: LetterPlace): boolean {
    const found = this.#blocks.get(blockKey(record))?.[record.offset % blockLength] ?? unused;
    return found !== unused && found === fingerprint(record.headers['delivery-id']);
  }
}

function blockKey({ partition, offset }: RecordPosition): string {
  return `${partition}/${Math.floor(offset / blockLength)}`;
}

function fingerprint(deliveryId: Buffer | undefined): number {
  return crc32(deliveryId ?? '') || 1;
}
