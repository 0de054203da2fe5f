/** Removes what the history is no longer to hold, in portions, as long as its store is open. */
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { isTailraceError } from '@tailrace/errors';
import type { Kafka } from '@tailrace/kafka';
import type { Retention } from './retention.ts';

export interface PruneDependencies {
  readonly kafka: Pick<Kafka, 'offsets'>;
  /** The topic `deliveries.dead`. */
  readonly topic: string;
  readonly retention: Retention;
  readonly signal: AbortSignal;
}

const everyMs = 10_000;
/** Expired dead letters are looked up in every sixth turn. */
const expiredEvery = 6;

/** Resolves when it is stopped. Rejects with the failure of the store. */
export async function pruneRegularly(dependencies: PruneDependencies): Promise<void> {
  const { retention, signal } = dependencies;
  const isStopped = (): boolean => signal.aborted;
  for (let turn = 0; !isStopped(); turn += 1) {
    while (!isStopped() && retention.prune()) await nextTurn();
    if (turn % expiredEvery === 0) await pruneExpired(dependencies);
    await wait(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Removes dead letters whose records have expired. Kafka may be unavailable; they are then removed later. */
async function pruneExpired({ kafka, topic, retention, signal }: PruneDependencies): Promise<void> {
  const offsets = await kafka.offsets(topic).catch((error: unknown) => {
    if (!isTailraceError(error)) throw error;
    return new Map<number, { readonly low: number }>();
  });
  const lows = new Map(Array.from(offsets, ([partition, { low }]) => [partition, low]));
  while (!signal.aborted && retention.pruneExpired(lows)) await nextTurn();
}
