/**
 * Lets large pieces of work take turns, so that calls of other sources do not wait behind all of them. The sources with
 * waiting work take turns too.
 */

export interface Turns {
  /**
   * Runs `use` when it is the turn of the source. Resolves or rejects as it does. Work that `continues` goes before new work
   * of its source: where all pieces advanced equally, none would finish before its sender gives up.
   */
  take<T>(sourceId: string, use: () => Promise<T>, continues?: boolean): Promise<T>;
}

/** @param places the number of turns at the same time */
export function createTurns(places: number): Turns {
  let free = places;
  /** The waiting turns of each source, the source that waits longest first. */
  const waiting = new Map<string, (() => void)[]>();

  const next = (): void => {
    const [first] = waiting;
    if (!first) {
      free++;
      return;
    }
    const [sourceId, [begin, ...rest]] = first;
    waiting.delete(sourceId);
    // Behind the other sources.
    if (rest.length > 0) waiting.set(sourceId, rest);
    begin?.();
  };

  const begin = (sourceId: string, continues: boolean): Promise<void> => {
    if (free > 0) {
      free--;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const turns = waiting.get(sourceId);
      if (turns && continues) turns.unshift(resolve);
      else if (turns) turns.push(resolve);
      else waiting.set(sourceId, [resolve]);
    });
  };

  return {
    async take(sourceId, use, continues = false) {
      await begin(sourceId, continues);
      try {
        return await use();
      } finally {
        next();
      }
    },
  };
}
