/**
 * Remembers the messageIds of earlier events with a hash of their content. So a call that its SDK sent twice is routed once, and a
 * call that only has the messageId of another one is routed too (docs/specification.md, rules 3.2 to 3.4).
 *
 * For each partition, the ids of the last ten minutes and at least the last 100,000 ids are kept, with the offset at which each
 * was first seen. An id is a repeat only where an earlier offset of the partition has it: a record that is read again after a
 * rebalance is not a repeat of itself. A repeated call has the key of the first one, so it is in the same partition.
 *
 * An entry takes 20 bytes in a table that is at most 60 % full. It has 64 bits of a SHA-1 of the id, and 32 bits of one of the
 * content. Of two ids that collide, the second counts as reused, and its event is not lost. Both hashes have a random salt, so nobody
 * can look for contents that are taken for one another, or for ids that share a slot.
 *
 * Each further content of an id has an entry of its own, under bits of the id and of the content. So one id with many contents takes
 * the memory and the time of many ids. Entries are never deleted one by one: they are added to the newest of a few tables, and
 * the oldest table is dropped as a whole once the others cover the window.
 *
 * After a restart or a rebalance, rebuild.ts reads the ids back from the topic.
 */
import { hash, randomBytes } from 'node:crypto';

/** How an event uses its messageId. */
export type IdUse =
  /** No earlier record of the partition has the id. */
  | 'first'
  /** An earlier record has the id and the content. */
  | 'repeat'
  /** Earlier records have the id, and other contents. */
  | 'reused';

export interface MessageIds {
  /** Says how the event of a record uses its id, and remembers it. */
  use(record: RecordPlace, sourceId: string, messageId: string, contentHash: string): IdUse;
  /** Forgets all ids of the partition. */
  forget(partition: number): void;
  /** Entries that are remembered now. */
  readonly size: number;
}

export interface RecordPlace {
  readonly partition: number;
  readonly offset: number;
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
  const salt = randomBytes(16).toString('base64');

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
    use({ partition, offset }, sourceId, messageId, contentHash) {
      let tables = partitions.get(partition);
      if (!tables) partitions.set(partition, (tables = []));
      const [a, b] = hashOf(`${salt}${sourceId}\0${messageId}`);
      const [print, c, d] = hashOf(salt + contentHash);
      const id: Key = [a, b];
      const first = find(tables, id);
      const isFurther = first !== undefined && first.print !== print;
      const key: Key = isFurther ? [(a ^ c) >>> 0, (b ^ d) >>> 0] : id;
      const known = isFurther ? find(tables, key) : first;
      if (known && known.offset < offset) return 'repeat';
      (known?.table ?? newestOf(tables)).set(key, print, offset);
      if (!isFurther || first.offset >= offset) return 'first';
      // The first content has to be known as long as the further ones, which are not looked for without it.
      newestOf(tables).set(id, first.print, first.offset);
      return 'reused';
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

interface Found {
  readonly table: Table;
  readonly print: number;
  readonly offset: number;
}

function find(tables: readonly Table[], key: Key): Found | undefined {
  for (const table of tables) {
    const slot = table.find(key);
    if (slot !== undefined) return { table, ...slot };
  }
  return undefined;
}

/** Three words of the hash. */
function hashOf(text: string): readonly [number, number, number] {
  // A string with one character per byte takes a third of the time of a Buffer.
  const digest = hash('sha1', text, 'binary');
  const word = (at: number): number =>
    (digest.charCodeAt(at) |
      (digest.charCodeAt(at + 1) << 8) |
      (digest.charCodeAt(at + 2) << 16) |
      (digest.charCodeAt(at + 3) << 24)) >>>
    0;
  return [word(0), word(4), word(8)];
}

type Key = readonly [number, number];

/** Contents and offsets by key: a hash table with open addressing and linear probing, in typed arrays. */
interface Table {
  /** When the table was created. */
  readonly since: number;
  readonly size: number;
  find(key: Key): { readonly print: number; readonly offset: number } | undefined;
  /** @param print 32 bits of the hash of the content */
  set(key: Key, print: number, offset: number): void;
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

  /** The slot of the key, or the empty slot where it belongs. */
  const slotOf = (a: number, b: number): number => {
    let slot = a & (slots - 1);
    for (; offsets[slot] !== empty; slot = (slot + 1) & (slots - 1)) {
      const at = slot * wordsPerSlot;
      if (words[at] === a && words[at + 1] === b) break;
    }
    return slot;
  };

  const put = (a: number, b: number, print: number, offset: number): void => {
    const slot = slotOf(a, b);
    if (offsets[slot] === empty) size += 1;
    words[slot * wordsPerSlot] = a;
    words[slot * wordsPerSlot + 1] = b;
    words[slot * wordsPerSlot + 2] = print;
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
      const [a = 0, b = 0, print = 0] = before.words.subarray(slot * wordsPerSlot, (slot + 1) * wordsPerSlot);
      put(a, b, print, offset);
    });
  };

  return {
    since,
    get size() {
      return size;
    },
    find([a, b]) {
      const slot = slotOf(a, b);
      const offset = offsets[slot] ?? empty;
      return offset === empty ? undefined : { print: words[slot * wordsPerSlot + 2] ?? 0, offset };
    },
    set([a, b], print, offset) {
      if (size >= slots * maxLoad) grow();
      put(a, b, print, offset);
    },
  };
}
