/** Waiting, with what Node and browsers have in common. */

import type { StopSignal } from '../core/transport.ts';

/** Resolves in a later turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown };
    if (setImmediate) setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}

/** Resolves after `ms`, or once `signal` is aborted. */
export function pause(ms: number, signal: StopSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
