import { aborted } from 'node:util';

/** Resolves with `work`, or rejects with the reason of `signal`, the first to settle. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const abort = aborted(signal, work).then((): never => {
    throw signal.reason as Error;
  });
  return Promise.race([work, abort]);
}
