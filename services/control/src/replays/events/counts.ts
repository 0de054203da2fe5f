/** Counts events by day, type and name, in a bounded number of rows. */
import type { EventCount } from './selection.ts';

/** Of a replay. */
const keptRows = 100;

export class EventCounts {
  readonly #mostRows: number;
  readonly #counts = new Map<string, EventCount>();
  #events = 0;

  /** @param mostRows names beyond are counted without their name */
  constructor(mostRows: number) {
    this.#mostRows = mostRows;
  }

  /** Of all rows. */
  get events(): number {
    return this.#events;
  }

  /** The largest ones first. */
  get rows(): readonly EventCount[] {
    return [...this.#counts.values()].sort((a, b) => b.events - a.events).slice(0, keptRows);
  }

  add({ day, type, event, events }: EventCount): void {
    this.#events += events;
    const keyOf = (name?: string): string => JSON.stringify([day, type, name]);
    const isKept = this.#counts.size < this.#mostRows || this.#counts.has(keyOf(event));
    const name = isKept ? event : undefined;
    const key = keyOf(name);
    const count = this.#counts.get(key);
    if (count) count.events += events;
    else this.#counts.set(key, { day, type, event: name, events });
  }
}
