/** Reads of topics for a request end after 20 seconds, as the client of Kafka itself tries for minutes, and when nobody waits for them. */
import type { EventEmitter } from 'node:events';
import { TailraceError } from '@tailrace/errors';
import type { ConsumedRecord, Kafka, ScanOptions } from '@tailrace/kafka';

export const searchTimeoutMs = 20_000;

/**
 * @param closing ends the read too
 * @param reply to which the answer would be sent; the client may have left
 */
export function searchDeadline(closing: AbortSignal, { raw }: { readonly raw: EventEmitter }): AbortSignal {
  const left = new AbortController();
  raw.once('close', () => left.abort());
  return AbortSignal.any([closing, left.signal, AbortSignal.timeout(searchTimeoutMs)]);
}

export function searchTimedOut(): TailraceError {
  return new TailraceError(
    'kafka-unavailable',
    `Kafka did not answer within ${searchTimeoutMs / 1_000} seconds.`,
  );
}

/** @throws what `toError` makes of the signal's reason, once it is aborted */
export async function unlessAborted<T>(
  signal: AbortSignal,
  work: Promise<T>,
  toError: (reason: unknown) => Error = searchTimedOut,
): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(toError(signal.reason));
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** The records of a scan, which ends early once the signal is aborted. */
export async function* scanUntil(
  signal: AbortSignal,
  kafka: Pick<Kafka, 'scan'>,
  options: ScanOptions,
): AsyncGenerator<readonly ConsumedRecord[], void> {
  const opening = kafka.scan(options);
  const aborted = Promise.withResolvers<undefined>();
  const onAbort = (): void => {
    aborted.resolve(undefined);
    opening.then((scan) => scan.close()).catch(() => undefined);
  };
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    const scan = await Promise.race([opening, aborted.promise]);
    if (!scan) return;
    for await (const records of scan) {
      yield records;
      if (signal.aborted) return;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
