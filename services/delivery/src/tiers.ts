/**
 * Punctual waiting. A retry tier is a topic, read in order, so a record can only be on time if those before it
 * are due no later: `DueTimes` keeps due times from decreasing along each partition of a tier, which the single
 * owner of a partition can do. `WaitingRoom` holds the records read ahead until they are due.
 */
import { Heap } from './heap.ts';

/** Where a fresh due time falls in its allowed range, at random: the first half, to leave room for those behind it. */
const freshShare = 0.5;
/** How far each further record of a burst goes into the room that is left: a thousand spread over all of it. */
const burstShare = 0.02;

/** What is known of due times of a tier beside those that were assigned here, in milliseconds since the epoch. */
export interface DueTimeBounds {
  /** An owner before may have assigned times up to this one. */
  readonly least: number;
  /** None is later, unless the clock was set back. */
  readonly most: number;
}

const unbounded: DueTimeBounds = { least: 0, most: Infinity };

/** Assigns due times, spread at random and never decreasing along a partition of a tier. */
export class DueTimes {
  readonly #last = new Map<string, number>();
  readonly #random: () => number;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** A time in [earliest, latest], not before the one given last for this topic and partition where that fits. */
  assign(topic: string, partition: number, earliest: number, latest: number, bounds?: DueTimeBounds): number {
    const last = this.last(topic, partition, bounds);
    const from = Math.min(Math.max(earliest, last), latest);
    const share = last > earliest ? burstShare : freshShare;
    const dueAt = Math.round(from + (latest - from) * share * this.#random());
    this.#last.set(keyOf(topic, partition), Math.max(last, dueAt));
    return dueAt;
  }

  /** The latest that was given for this topic and partition, or may have been, in milliseconds since the epoch. */
  last(topic: string, partition: number, { least, most } = unbounded): number {
    return Math.min(Math.max(this.#last.get(keyOf(topic, partition)) ?? 0, least), most);
  }

  /** The first time in [earliest, latest] that is not before the one given last, where that fits. */
  next(topic: string, partition: number, earliest: number, latest: number, bounds?: DueTimeBounds): number {
    const last = this.last(topic, partition, bounds);
    const dueAt = Math.round(Math.min(Math.max(earliest, last), latest));
    this.#last.set(keyOf(topic, partition), Math.max(last, dueAt));
    return dueAt;
  }
}

function keyOf(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}

/** The most a timer sleeps, so that a clock that jumps is noticed. */
const longestSleepMs = 1_000;
/** A clock that was set back by less is not worth the trouble. */
const leastSetBackMs = 1_000;

const leastClearing = 1_000;

interface Guest<T> {
  readonly item: T;
  dueAt: number;
  /** Of those that are due at the same time, the one that came first is handed out first. */
  readonly nth: number;
}

/** Holds items until they are due, then hands each to `onDue`, earliest first. */
export interface WaitingRoomOptions<T> {
  readonly onDue: (item: T) => void;
  /** Whether nobody waits for the item any more; such items are cleared away as more come in. */
  readonly isStale?: (item: T) => boolean;
  readonly now?: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly elapsed?: () => number;
}

/**
 * Due times are of a clock that may be set. Set forward, it makes items due earlier: it is right now, and was slow before.
 * Set back, it moves what is held back with it: nothing waits longer than it should have when it came in.
 */
export class WaitingRoom<T> {
  readonly #onDue: (item: T) => void;
  readonly #isStale: (item: T) => boolean;
  readonly #now: () => number;
  readonly #elapsed: () => number;
  /** What the clock that may be set shows when the other one shows 0. */
  #epoch: number;
  /** Earliest first. */
  readonly #heap = new Heap<Guest<T>>((a, b) => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.nth < b.nth));
  #held = 0;
  /** The size at which to look for stale items next: they cost nothing until there may be many. */
  #clearAt = leastClearing;
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Infinity;

  constructor({
    onDue,
    isStale = () => false,
    now = Date.now,
    elapsed = () => performance.now(),
  }: WaitingRoomOptions<T>) {
    this.#onDue = onDue;
    this.#isStale = isStale;
    this.#now = now;
    this.#elapsed = elapsed;
    this.#epoch = now() - elapsed();
  }

  get size(): number {
    return this.#heap.size;
  }

  hold(item: T, dueAt: number): void {
    this.#followClock();
    if (this.#heap.size >= this.#clearAt) this.#clearStale();
    this.#heap.push({ item, dueAt, nth: this.#held++ });
    if (dueAt < this.#wakesAt) this.#sleep();
  }

  /** Looks at the clock, and moves everything that is held where it was set back. */
  #followClock(): number {
    const now = this.#now();
    const epoch = now - this.#elapsed();
    const setBackMs = this.#epoch - epoch;
    this.#epoch = epoch;
    if (setBackMs > leastSetBackMs) {
      for (const guest of this.#heap.items) guest.dueAt -= setBackMs;
      this.#wakesAt -= setBackMs;
    }
    return now;
  }

  #clearStale(): void {
    const fresh = this.#heap.items.filter(({ item }) => !this.#isStale(item));
    this.#heap.clear();
    for (const guest of fresh) this.#heap.push(guest);
    this.#clearAt = Math.max(leastClearing, fresh.length * 2);
  }

  /** Takes out what `isWanted` is true for, the earliest first. */
  takeOut(isWanted: (item: T) => boolean): T[] {
    const taken = this.#heap.items.filter(({ item }) => isWanted(item));
    if (taken.length === 0) return [];
    const kept = this.#heap.items.filter(({ item }) => !isWanted(item));
    this.#heap.clear();
    for (const guest of kept) this.#heap.push(guest);
    this.#sleep();
    return taken.sort((a, b) => a.dueAt - b.dueAt || a.nth - b.nth).map(({ item }) => item);
  }

  /** Forgets everything; what was held stays in its topic. */
  clear(): void {
    this.#heap.clear();
    clearTimeout(this.#timer);
    this.#wakesAt = Infinity;
  }

  #sleep(): void {
    clearTimeout(this.#timer);
    const next = this.#heap.first;
    if (!next) {
      this.#wakesAt = Infinity;
      return;
    }
    this.#wakesAt = next.dueAt;
    const delayMs = Math.min(Math.max(0, next.dueAt - this.#now()), longestSleepMs);
    this.#timer = setTimeout(() => {
      this.#wake();
    }, delayMs);
  }

  #wake(): void {
    const now = this.#followClock();
    for (let next = this.#heap.first; next && next.dueAt <= now; next = this.#heap.first) {
      this.#heap.takeFirst();
      this.#onDue(next.item);
    }
    this.#sleep();
  }
}
