/** A growing list that a test can await: requests at a receiver, records of a topic, lines of a log. */
import { limitMs, realTimers } from './limit.ts';

export interface Collected<T> {
  readonly items: readonly T[];
  readonly add: (item: T) => void;
  /**
   * Resolves with all items as soon as there are `wanted` of them, or as soon as `wanted(items)` holds.
   * Rejects after the limit of all tests with a message that shows the items.
   */
  readonly waitFor: (wanted: Wanted<T>) => Promise<readonly T[]>;
  /** Resolves with the first item that satisfies `predicate`. */
  readonly find: (predicate: (item: T) => boolean) => Promise<T>;
  /** Makes every waiting and every later wait reject with `reason`, unless its condition already holds. */
  readonly fail: (reason: Error) => void;
}

export type Wanted<T> = number | ((items: readonly T[]) => boolean);

/** `what` names the list in messages; `show` renders one item for them. */
export function collect<T>(
  what: string,
  show: (item: T) => string,
  { giveUpAfterMs = limitMs }: { readonly giveUpAfterMs?: number } = {},
): Collected<T> {
  const items: T[] = [];
  const checks = new Set<() => void>();
  let failure: Error | undefined;

  const describe = (): string => {
    const shown = items.slice(-20).map((item) => `\n  ${show(item)}`);
    return `${what} holds ${items.length}${items.length > 20 ? ', the last 20 being' : ''}${shown.join('')}`;
  };

  /** Runs `look` now and at every addition, until it returns something. */
  const until = <R>(look: () => R | undefined): Promise<R> => {
    const at = new Error('timed out');
    return new Promise<R>((resolve, reject) => {
      const settle = (act: () => void): void => {
        realTimers.clearTimeout(timer);
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
      const timer = realTimers.setTimeout(() => {
        giveUp(`not within ${giveUpAfterMs} ms`);
      }, giveUpAfterMs);
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
    waitFor(wanted) {
      const holds = typeof wanted === 'number' ? () => items.length >= wanted : () => wanted(items);
      return until(() => (holds() ? items : undefined));
    },
    async find(predicate) {
      const [item] = await until(() => {
        const found = items.find(predicate);
        return found === undefined ? undefined : ([found] as const);
      });
      return item;
    },
    fail(reason) {
      failure = reason;
      for (const check of [...checks]) check();
    },
  };
}
