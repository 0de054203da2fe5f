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

export class MessageIds {
  readonly #window: DeduplicationWindow;
  readonly #now: () => number;
  readonly #partitions = new Map<number, Table[]>();
  readonly #salt = randomBytes(16).toString('base64');

  constructor({ now = () => performance.now(), ...window }: MessageIdsOptions = {}) {
    this.#now = now;
    this.#window = { windowMs: 600_000, minIds: 100_000, maxIds: 500_000, ...window };
  }

  /** Entries that are remembered now. */
  get size(): number {
    return sizeOf([...this.#partitions.values()].flat());
  }

  /** Says how the event of a record uses its id, and remembers it. */
  use({ partition, offset }: RecordPlace, sourceId: string, messageId: string, contentHash: string): IdUse {
    let tables = this.#partitions.get(partition);
    if (!tables) this.#partitions.set(partition, (tables = []));
    const [a, b] = hashOf(`${this.#salt}${sourceId}\0${messageId}`);
    const [print, c, d] = hashOf(this.#salt + contentHash);
    const id: Key = [a, b];
    const first = find(tables, id);
    const isFurther = first !== undefined && first.print !== print;
    const key: Key = isFurther ? [(a ^ c) >>> 0, (b ^ d) >>> 0] : id;
    const known = isFurther ? find(tables, key) : first;
    if (known && known.offset < offset) return 'repeat';
    (known?.table ?? this.#newestOf(tables)).set(key, print, offset);
    if (!isFurther || first.offset >= offset) return 'first';
    // The first content has to be known as long as the further ones, which are not looked for without it.
    this.#newestOf(tables).set(id, first.print, first.offset);
    return 'reused';
  }

  /** Forgets all ids of the partition. */
  forget(partition: number): void {
    this.#partitions.delete(partition);
  }

  /** The newest table; a new one where the newest has its share of the window. */
  #newestOf(tables: Table[]): Table {
    const { windowMs, minIds, maxIds } = this.#window;
    const newest = tables.at(-1);
    const isDue =
      newest === undefined ||
      newest.size * tablesPerWindow * 2 >= maxIds ||
      (newest.size * tablesPerWindow >= minIds && (this.#now() - newest.since) * tablesPerWindow >= windowMs);
    if (!isDue) return newest;
    const table = new Table(this.#now());
    tables.push(table);
    while (this.#isOldestDispensable(tables)) tables.shift();
    return table;
  }

  #isOldestDispensable([oldest, second, ...others]: readonly Table[]): boolean {
    if (!oldest || !second) return false;
    const { windowMs, minIds, maxIds } = this.#window;
    const kept = sizeOf([second, ...others]);
    return kept + oldest.size >= maxIds || (kept >= minIds && this.#now() - second.since >= windowMs);
  }
}

function sizeOf(tables: readonly Table[]): number {
  return tables.reduce((sum, { size }) => sum + size, 0);
}

function find(tables: readonly Table[], key: Key) {
  for (const table of tables) {
    const found = table.find(key);
    if (found) return { table, ...found };
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

const initialSlots = 1024;
const maxLoad = 0.6;
const wordsPerSlot = 3;
const empty = -1;

/** Contents and offsets by key: a hash table with open addressing and linear probing, in typed arrays. */
class Table {
  /** When the table was created. */
  readonly since: number;
  size = 0;
  #slots = initialSlots;
  #words = new Uint32Array(initialSlots * wordsPerSlot);
  #offsets = new Float64Array(initialSlots).fill(empty);

  constructor(since: number) {
    this.since = since;
  }

  find([a, b]: Key): { readonly print: number; readonly offset: number } | undefined {
    const slot = this.#slotOf(a, b);
    const offset = this.#offsets[slot] ?? empty;
    return offset === empty ? undefined : { print: this.#words[slot * wordsPerSlot + 2] ?? 0, offset };
  }

  /** @param print 32 bits of the hash of the content */
  set([a, b]: Key, print: number, offset: number): void {
    if (this.size >= this.#slots * maxLoad) this.#grow();
    this.#put(a, b, print, offset);
  }

  /** The slot of the key, or the empty slot where it belongs. */
  #slotOf(a: number, b: number): number {
    const mask = this.#slots - 1;
    let slot = a & mask;
    for (; this.#offsets[slot] !== empty; slot = (slot + 1) & mask) {
      const at = slot * wordsPerSlot;
      if (this.#words[at] === a && this.#words[at + 1] === b) break;
    }
    return slot;
  }

  #put(a: number, b: number, print: number, offset: number): void {
    const slot = this.#slotOf(a, b);
    if (this.#offsets[slot] === empty) this.size += 1;
    this.#words[slot * wordsPerSlot] = a;
    this.#words[slot * wordsPerSlot + 1] = b;
    this.#words[slot * wordsPerSlot + 2] = print;
    this.#offsets[slot] = offset;
  }

  #grow(): void {
    const [words, offsets] = [this.#words, this.#offsets];
    this.#slots *= 2;
    this.#words = new Uint32Array(this.#slots * wordsPerSlot);
    this.#offsets = new Float64Array(this.#slots).fill(empty);
    this.size = 0;
    offsets.forEach((offset, slot) => {
      if (offset === empty) return;
      const [a = 0, b = 0, print = 0] = words.subarray(slot * wordsPerSlot, (slot + 1) * wordsPerSlot);
      this.#put(a, b, print, offset);
    });
  }
}
