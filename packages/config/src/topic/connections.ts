/** The destinations of each source. A change costs as much as the lists that it changes, however many others there are. */
import type { Destination } from '../rules/schema.ts';

/** Ordered by id. */
export interface Connected {
  readonly enabled: readonly Destination[];
  readonly disabled: readonly Destination[];
}

export const notConnected: Connected = { enabled: Object.freeze([]), disabled: Object.freeze([]) };

export class Connections {
  readonly #bySource = new Map<string, Map<string, Destination>>();
  /** Made at the first look-up after a change. */
  readonly #lists = new Map<string, Connected>();

  /** @param after undefined if it is deleted */
  replace(before: Destination | undefined, after: Destination | undefined): void {
    for (const sourceId of before?.sources ?? []) {
      const connected = this.#bySource.get(sourceId);
      connected?.delete(before?.id ?? '');
      if (connected?.size === 0) this.#bySource.delete(sourceId);
      this.#lists.delete(sourceId);
    }
    if (!after) return;
    for (const sourceId of after.sources) {
      const connected = this.#bySource.get(sourceId) ?? new Map<string, Destination>();
      this.#bySource.set(sourceId, connected.set(after.id, after));
      this.#lists.delete(sourceId);
    }
  }

  /** The very same lists until one of these destinations changes. */
  of(sourceId: string): Connected {
    const known = this.#lists.get(sourceId);
    if (known) return known;
    const connected = this.#bySource.get(sourceId);
    if (!connected) return notConnected;
    const sorted = sortedById(connected);
    const made = {
      enabled: sorted.filter(({ enabled }) => enabled),
      disabled: sorted.filter(({ enabled }) => !enabled),
    };
    this.#lists.set(sourceId, made);
    return made;
  }
}

export function sortedById<Entry extends { readonly id: string }>(byId: ReadonlyMap<string, Entry>): Entry[] {
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}
