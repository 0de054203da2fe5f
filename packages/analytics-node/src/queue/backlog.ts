/**
 * Counts queued calls until they are settled, which means sent or reported, and wakes the callers that wait for that
 * or for capacity.
 */
import { storedBytes } from './call-store.ts';
import { maxCallBytes, type Call } from '../core/encode.ts';
import type { QueueLimits } from '../core/options.ts';
import { nextTurn } from './timing.ts';

interface BacklogLimits extends QueueLimits {
  /** The free bytes of the file queue, or Infinity. */
  readonly freeBytes: () => number;
}

interface Waiter {
  /** The number of the first call that it does not wait for. */
  readonly end: number;
  /** The calls before it that are not settled. */
  left: number;
  readonly resolve: () => void;
}

export type Backlog = ReturnType<typeof createBacklog>;

export function createBacklog({ maxQueueSize, maxQueueBytes, freeBytes }: BacklogLimits) {
  let added = 0;
  let settled = 0;
  let heldBytes = 0;
  let flushes: Waiter[] = [];
  let waitingForCapacity: (() => void)[] = [];
  /** Capacity that `whenFree` promised in this turn of the event loop, and that may still be unused. */
  let promised = 0;

  const hasCapacity = (count: number, bytes: number): boolean =>
    added - settled + count <= maxQueueSize &&
    heldBytes + bytes <= maxQueueBytes &&
    bytes + count * storedBytes <= freeBytes();

  const promiseCapacity = (): void => {
    if (promised++ > 0) return;
    void nextTurn().then(() => {
      promised = 0;
    });
  };

  return {
    /** Running totals of calls. The difference is in the queue, in flight or aside. */
    get added() {
      return added;
    },
    get settled() {
      return settled;
    },
    hasCapacity,
    /** Gives the call its number. */
    add(call: Call): void {
      if (promised > 0) promised--;
      heldBytes += call.bytes;
      call.number = added++;
    },
    settle(calls: readonly Call[]): void {
      settled += calls.length;
      for (const { bytes } of calls) heldBytes -= bytes;
      for (const flush of flushes) flush.left -= calls.filter(({ number }) => number < flush.end).length;
      const reached = flushes.filter(({ left }) => left === 0);
      flushes = flushes.filter(({ left }) => left > 0);
      for (const { resolve } of reached) resolve();
      const waiting = waitingForCapacity;
      waitingForCapacity = [];
      for (const resolve of waiting) resolve();
    },
    /** Resolves once all calls that were added before are settled. */
    async whenSettled(): Promise<void> {
      if (settled === added) return;
      await new Promise<void>((resolve) => flushes.push({ end: added, left: added - settled, resolve }));
    },
    /** Resolves once there is capacity for a call of the maximum size, or `isStopped`. `wake` is called before each wait. */
    async whenFree(isStopped: () => boolean, wake: () => void): Promise<void> {
      // Several callers may wait, each with a call of the maximum size. Capacity is promised to one caller only.
      while (!hasCapacity(promised + 1, (promised + 1) * maxCallBytes) && !isStopped()) {
        wake();
        await new Promise<void>((resolve) => waitingForCapacity.push(resolve));
      }
      promiseCapacity();
    },
  };
}
