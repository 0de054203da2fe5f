/**
 * Remembers the messageIds of earlier events, so that a call that its SDK sent twice is routed once (docs/specification.md,
 * rules 3.2 to 3.4).
 *
 * For each partition, the ids of the last ten minutes and at least the last 100,000 ids are kept, with the offset at which each
 * was first seen. An id is a repeat only where an earlier offset of the partition has it: a record that is read again after a
 * rebalance is not a repeat of itself. A repeated call has the key of the first one, so it is in the same partition.
 *
 * An id takes 20 bytes in a table that is at most 60 % full. Of each id, 96 bits of a SHA-1 are kept. A collision would drop an
 * event that is not a repeat; with 53 bits, the most that a faster hash gives, this would happen every few months at 3,000 events
 * a second. Ids are never deleted one by one: they are added to the newest of a few tables, and the oldest table is dropped as a
 * whole once the others cover the window.
 *
 * After a restart or a rebalance, rebuild.ts reads the ids back from the topic.
 */
import { hash } from 'node:crypto';

export interface MessageIds {
  /** Whether an earlier record of the partition has this id; if not, the id is remembered. */
  isRepeat(partition: number, offset: number, sourceId: string, messageId: string): boolean;
  /** Forgets all ids of the partition. */
  forget(partition: number): void;
  /** Ids that are remembered now. */
  readonly size: number;
}

/** How many ids of each partition are remembered. */
export interface DeduplicationWindow {
  readonly windowMs: number;
  /** Remembered regardless of their age. */
  readonly minIds: number;
  /** Above this number the window becomes shorter, which bounds memory: 25 MB for 500,000. */
  readonly maxIds: number;
}

export interface MessageIdsOptions extends Partial<DeduplicationWindow> {
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

/** Each table covers a part of the window, so a tenth to a quarter more than the window is remembered. */
const tablesPerWindow = 4;

export function createMessageIds({
  windowMs = 600_000,
  minIds = 100_000,
  maxIds = 500_000,
  now = () => performance.now(),
}: MessageIdsOptions = {}): MessageIds {
  const partitions = new Map<number, Table[]>();

  /** The newest table; a new one where the newest has its share of the window. */
  const newestOf = (tables: Table[]): Table => {
    const newest = tables.at(-1);
    const isDue =
      newest === undefined ||
      newest.size * tablesPerWindow * 2 >= maxIds ||
      (newest.size * tablesPerWindow >= minIds && (now() - newest.since) * tablesPerWindow >= windowMs);
    if (!isDue) return newest;
    const table = createTable(now());
    tables.push(table);
    while (isOldestDispensable(tables)) tables.shift();
    return table;
  };

  const isOldestDispensable = (tables: readonly Table[]): boolean => {
    const [, second] = tables;
    if (!second) return false;
    const total = sizeOf(tables);
    const others = total - (tables[0]?.size ?? 0);
    return total >= maxIds || (others >= minIds && now() - second.since >= windowMs);
  };

  return {
    isRepeat(partition, offset, sourceId, messageId) {
      let tables = partitions.get(partition);
      if (!tables) partitions.set(partition, (tables = []));
      const print = fingerprint(sourceId, messageId);
      for (const table of tables) {
        const firstSeen = table.find(print);
        if (firstSeen === undefined) continue;
        if (firstSeen < offset) return true;
        table.set(print, offset);
        return false;
      }
      newestOf(tables).set(print, offset);
      return false;
    },
    forget(partition) {
      partitions.delete(partition);
    },
    get size() {
      return sizeOf([...partitions.values()].flat());
    },
  };
}

function sizeOf(tables: readonly Table[]): number {
  return tables.reduce((sum, { size }) => sum + size, 0);
}

/** Three words of the hash. */
type Fingerprint = readonly [number, number, number];

function fingerprint(sourceId: string, messageId: string): Fingerprint {
  // A string with one character per byte takes a third of the time of a Buffer.
  const digest = hash('sha1', `${sourceId}\0${messageId}`, 'binary');
  const word = (at: number): number =>
    (digest.charCodeAt(at) |
      (digest.charCodeAt(at + 1) << 8) |
      (digest.charCodeAt(at + 2) << 16) |
      (digest.charCodeAt(at + 3) << 24)) >>>
    0;
  return [word(0), word(4), word(8)];
}

/** Offsets by fingerprint: a hash table with open addressing and linear probing, in typed arrays. */
interface Table {
  /** When the table was created. */
  readonly since: number;
  readonly size: number;
  find(print: Fingerprint): number | undefined;
  set(print: Fingerprint, offset: number): void;
}

const initialSlots = 1024;
const maxLoad = 0.6;
const wordsPerSlot = 3;
const empty = -1;

function createTable(since: number): Table {
  let slots = initialSlots;
  let words = new Uint32Array(slots * wordsPerSlot);
  let offsets = new Float64Array(slots).fill(empty);
  let size = 0;

  /** The slot of the fingerprint, or the empty slot where it belongs. */
  const slotOf = (a: number, b: number, c: number): number => {
    let slot = a & (slots - 1);
    for (; offsets[slot] !== empty; slot = (slot + 1) & (slots - 1)) {
      const at = slot * wordsPerSlot;
      if (words[at] === a && words[at + 1] === b && words[at + 2] === c) break;
    }
    return slot;
  };

  const put = (a: number, b: number, c: number, offset: number): void => {
    const slot = slotOf(a, b, c);
    if (offsets[slot] === empty) size += 1;
    words[slot * wordsPerSlot] = a;
    words[slot * wordsPerSlot + 1] = b;
    words[slot * wordsPerSlot + 2] = c;
    offsets[slot] = offset;
  };

  const grow = (): void => {
    const before = { words, offsets };
    slots *= 2;
    words = new Uint32Array(slots * wordsPerSlot);
    offsets = new Float64Array(slots).fill(empty);
    size = 0;
    before.offsets.forEach((offset, slot) => {
      if (offset === empty) return;
      const [a = 0, b = 0, c = 0] = before.words.subarray(slot * wordsPerSlot, (slot + 1) * wordsPerSlot);
      put(a, b, c, offset);
    });
  };

  return {
    since,
    get size() {
      return size;
    },
    find([a, b, c]) {
      const offset = offsets[slotOf(a, b, c)];
      return offset === empty ? undefined : offset;
    },
    set([a, b, c], offset) {
      if (size >= slots * maxLoad) grow();
      put(a, b, c, offset);
    },
  };
}
