/** A growing list that a test can await: requests at a receiver, records of a topic, lines of a log. */

export interface Collected<T> {
  readonly items: readonly T[];
  readonly add: (item: T) => void;
  /**
   * Resolves with all items as soon as there are `wanted` of them, or as soon as `wanted(items)` holds.
   * Rejects after `timeoutMs` with a message that shows the items.
   */
  readonly waitFor: (wanted: Wanted<T>, timeoutMs?: number) => Promise<readonly T[]>;
  /** Resolves with the first item that satisfies `predicate`. */
  readonly find: (predicate: (item: T) => boolean, timeoutMs?: number) => Promise<T>;
  /** Makes every waiting and every later wait reject with `reason`, unless its condition already holds. */
  readonly fail: (reason: Error) => void;
}

export type Wanted<T> = number | ((items: readonly T[]) => boolean);

/** A busy machine is many times slower than an idle one. */
const defaultTimeoutMs = 60_000;

/** `what` names the list in messages; `show` renders one item for them. */
export function collect<T>(what: string, show: (item: T) => string): Collected<T> {
  const items: T[] = [];
  const checks = new Set<() => void>();
  let failure: Error | undefined;

  const describe = (): string => {
    const shown = items.slice(-20).map((item) => `\n  ${show(item)}`);
    return `${what} holds ${items.length}${items.length > 20 ? ', the last 20 being' : ''}${shown.join('')}`;
  };

  /** Runs `look` now and at every addition, until it returns something. */
  const until = <R>(look: () => R | undefined, timeoutMs: number): Promise<R> => {
    const at = new Error('timed out');
    return new Promise<R>((resolve, reject) => {
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        checks.delete(check);
        act();
      };
      const giveUp = (why: string): void => {
        settle(() => {
          at.message = `${why}: ${describe()}`;
          reject(at);
        });
      };
      const check = (): void => {
        const found = look();
        if (found !== undefined)
          settle(() => {
            resolve(found);
          });
        else if (failure) giveUp(failure.message);
      };
      const timer = setTimeout(() => {
        giveUp(`not within ${timeoutMs} ms`);
      }, timeoutMs);
      checks.add(check);
      check();
    });
  };

  return {
    items,
    add(item) {
      items.push(item);
      for (const check of [...checks]) check();
    },
    waitFor(wanted, timeoutMs = defaultTimeoutMs) {
      const holds = typeof wanted === 'number' ? () => items.length >= wanted : () => wanted(items);
      return until(() => (holds() ? items : undefined), timeoutMs);
    },
    async find(predicate, timeoutMs = defaultTimeoutMs) {
      const [item] = await until(() => {
        const found = items.find(predicate);
        return found === undefined ? undefined : ([found] as const);
      }, timeoutMs);
      return item;
    },
    fail(reason) {
      failure = reason;
      for (const check of [...checks]) check();
    },
  };
}
