/**
 * Holds records that were read ahead from the retry topics until they are due.
 *
 * Due times are wall-clock times, and the clock may be set. When it is set forward, entries are due earlier, which is
 * correct. When it is set back, the due times of all entries move back with it, so no entry waits longer than intended
 * when it was added.
 */
import { Heap } from './heap.ts';

/** The longest sleep of the timer, so that a change of the clock is noticed. */
const longestSleepMs = 1_000;
/** A clock that was set back by less than this is ignored. */
const leastSetBackMs = 1_000;
/** The least size at which stale entries are removed. */
const leastClearing = 1_000;

interface Entry<T> {
  readonly item: T;
  dueAt: number;
  /** Entries that are due at the same time are released by their order, and then as they were added. */
  readonly order: number;
  readonly nth: number;
}

export interface DelayQueueOptions<T> {
  /** Called for each item when it is due, earliest first. */
  readonly onDue: (item: T) => void;
  /** Of items that are due at the same time, those with a lower number come first. */
  readonly orderOf?: (item: T) => number;
  /** Whether an item is no longer needed. Such items are removed as the queue grows. */
  readonly isStale?: (item: T) => boolean;
  readonly now?: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed?: () => number;
}

export class DelayQueue<T> {
  readonly #options: Required<DelayQueueOptions<T>>;
  /** The wall-clock time at which the monotonic clock shows 0. */
  #epoch: number;
  /** Earliest first. */
  readonly #heap = new Heap<Entry<T>>((a, b) => compare(a, b) < 0);
  #added = 0;
  /** The size at which stale entries are removed next. Searching for them at every call would be too expensive. */
  #clearAt = leastClearing;
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Infinity;

  constructor(options: DelayQueueOptions<T>) {
    const defaults = {
      orderOf: () => 0,
      isStale: () => false,
      now: Date.now,
      elapsed: () => performance.now(),
    };
    this.#options = { ...defaults, ...options };
    this.#epoch = this.#options.now() - this.#options.elapsed();
  }

  get size(): number {
    return this.#heap.size;
  }

  /** `dueAt` in milliseconds since the epoch. */
  add(item: T, dueAt: number): void {
    this.#followClock();
    if (this.#heap.size >= this.#clearAt) this.#clearStale();
    this.#heap.push({ item, dueAt, order: this.#options.orderOf(item), nth: this.#added++ });
    if (dueAt < this.#wakesAt) this.#sleep();
  }

  /** Removes the items for which `isWanted` is true, and returns them, earliest first. */
  remove(isWanted: (item: T) => boolean): T[] {
    const removed = this.#heap.items.filter(({ item }) => isWanted(item));
    if (removed.length === 0) return [];
    const kept = this.#heap.items.filter(({ item }) => !isWanted(item));
    this.#heap.clear();
    for (const entry of kept) this.#heap.push(entry);
    this.#sleep();
    return removed.sort(compare).map(({ item }) => item);
  }

  /** Drops all entries. Their records stay in Kafka and are read again. */
  clear(): void {
    this.#heap.clear();
    clearTimeout(this.#timer);
    this.#wakesAt = Infinity;
  }

  /** Reads the clock, and moves all due times where it was set back. */
  #followClock(): number {
    const now = this.#options.now();
    const epoch = now - this.#options.elapsed();
    const setBackMs = this.#epoch - epoch;
    this.#epoch = epoch;
    if (setBackMs > leastSetBackMs) {
      for (const entry of this.#heap.items) entry.dueAt -= setBackMs;
      this.#wakesAt -= setBackMs;
    }
    return now;
  }

  #clearStale(): void {
    const fresh = this.#heap.items.filter(({ item }) => !this.#options.isStale(item));
    this.#heap.clear();
    for (const entry of fresh) this.#heap.push(entry);
    this.#clearAt = Math.max(leastClearing, fresh.length * 2);
  }

  #sleep(): void {
    clearTimeout(this.#timer);
    const next = this.#heap.first;
    if (!next) {
      this.#wakesAt = Infinity;
      return;
    }
    this.#wakesAt = next.dueAt;
    const delayMs = Math.min(Math.max(0, next.dueAt - this.#options.now()), longestSleepMs);
    this.#timer = setTimeout(() => this.#wake(), delayMs);
  }

  #wake(): void {
    const now = this.#followClock();
    for (let next = this.#heap.first; next && next.dueAt <= now; next = this.#heap.first) {
      this.#heap.takeFirst();
      this.#options.onDue(next.item);
    }
    this.#sleep();
  }
}

function compare<T>(a: Entry<T>, b: Entry<T>): number {
  return a.dueAt - b.dueAt || a.order - b.order || a.nth - b.nth;
}
