/**
 * Remembers which messageIds were seen, so that a call that its SDK sent twice is routed once.
 *
 * For each partition the ids of the last ten minutes, and at least the last 100,000, are remembered with the offset at
 * which each was first seen. An id is a repeat only where an earlier offset of the partition holds it: a record
 * that is read again after a rebalance is not a repeat of itself. A repeated call has the key of the first, and so
 * comes in the same partition.
 *
 * An id takes 20 bytes in a table that is at most 60 % full. What is kept of it is 96 bits of a SHA-1: an id that is
 * taken for another's repeat is an event lost, which 53 bits, the most that a faster hash gives, would make happen
 * every few months at 3,000 events a second. Tables are never cleaned: ids go into the newest of a few, and the
 * oldest is let go as a whole once the others cover the window.
 *
 * All of this is memory; what a restart or a rebalance takes from it, rebuild.ts reads from the topic.
 */
import { hash } from 'node:crypto';

export interface Dedupe {
  /** Whether an earlier record of the partition brought this id; if not, it is remembered. */
  isRepeat(partition: number, offset: number, sourceId: string, messageId: string): boolean;
  /** Remembers nothing of the partition any more. */
  forget(partition: number): void;
  /** Ids that are remembered now. */
  readonly size: number;
}

/** How much is remembered of each partition. */
export interface DedupeWindow {
  readonly windowMs: number;
  /** Remembered however long ago. */
  readonly leastIds: number;
  /** Beyond this many the window gets shorter, so that memory is bounded: 25 MB for 500,000. */
  readonly mostIds: number;
}

export interface DedupeOptions extends Partial<DedupeWindow> {
  /** A clock that never goes back, in milliseconds. */
  readonly now?: () => number;
}

/** Of the window, in each table; so a tenth to a quarter more is remembered than is promised. */
const tablesPerWindow = 4;

export function createDedupe({
  windowMs = 600_000,
  leastIds = 100_000,
  mostIds = 500_000,
  now = () => performance.now(),
}: DedupeOptions = {}): Dedupe {
  const partitions = new Map<number, Table[]>();

  /** The newest table, after a new one was begun where it was time for one. */
  const newestOf = (tables: Table[]): Table => {
    const newest = tables.at(-1);
    const isDue =
      newest === undefined ||
      newest.size * tablesPerWindow * 2 >= mostIds ||
      (newest.size * tablesPerWindow >= leastIds && (now() - newest.since) * tablesPerWindow >= windowMs);
    if (!isDue) return newest;
    const table = createTable(now());
    tables.push(table);
    while (isOldestSpare(tables)) tables.shift();
    return table;
  };

  const isOldestSpare = (tables: readonly Table[]): boolean => {
    const [, second] = tables;
    if (!second) return false;
    const all = sizeOf(tables);
    const others = all - (tables[0]?.size ?? 0);
    return all >= mostIds || (others >= leastIds && now() - second.since >= windowMs);
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

/** Three words of a hash. */
type Fingerprint = readonly [number, number, number];

function fingerprint(sourceId: string, messageId: string): Fingerprint {
  // One character a byte takes a third of the time of a Buffer.
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
  /** When it was begun. */
  readonly since: number;
  readonly size: number;
  find(print: Fingerprint): number | undefined;
  set(print: Fingerprint, offset: number): void;
}

const initialSlots = 1024;
const fullestLoad = 0.6;
const wordsPerSlot = 3;
const empty = -1;

function createTable(since: number): Table {
  let slots = initialSlots;
  let words = new Uint32Array(slots * wordsPerSlot);
  let offsets = new Float64Array(slots).fill(empty);
  let size = 0;

  /** The slot that holds the fingerprint, or the empty one where it belongs. */
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
      if (size >= slots * fullestLoad) grow();
      put(a, b, c, offset);
    },
  };
}
