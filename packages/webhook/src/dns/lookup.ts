/**
 * The addresses of receivers' names, so that no name, however dead, stands in the way of another:
 *
 * - An answer serves for ten seconds, and all who ask meanwhile share one look-up.
 * - How many look-ups run at a time is bounded, apart for names that have resolved before (`lookup-turns.ts`).
 * - A name that failed is left alone for a while, longer each time; what it failed with is the answer meanwhile.
 * - Addresses that were good go on being used for ten minutes where a name server fails or dawdles.
 *
 * Nothing here says what may be dialled: that is checked each time, on the addresses as they are given out.
 */
import type { LookupAddress } from 'node:dns';
import { LookupTurns, type LookupLane } from './lookup-queues.ts';
import { within } from './name-servers.ts';
import { createResolver, LookupFailed, type NameLookup, type ResolverOptions } from './resolve.ts';

export interface NameLookupOptions extends ResolverOptions {
  readonly resolve?: NameLookup;
  /** How long an answer serves without another look-up. */
  readonly freshMs?: number;
  /** How long it serves where there is no newer one to be had. */
  readonly staleMs?: number;
  /** Addresses that were good are used where the newer ones take longer. */
  readonly slowMs?: number;
  /** A look-up that takes longer has failed; below the five seconds of an exchange, so that it is known why. */
  readonly giveUpMs?: number;
  /** For how long a name is left alone after its first failure; doubled with each further one, up to half a minute. */
  readonly backOffMs?: number;
}

interface Name {
  addresses?: readonly LookupAddress[] | undefined;
  resolvedAt: number;
  /** What it failed with the last time. */
  failure?: Error | undefined;
  /** In a row. */
  failures: number;
  askAgainAt: number;
  pending?: Pending | undefined;
}

interface Pending {
  readonly newest: Promise<readonly LookupAddress[]>;
  readonly startedAt: number;
}

/** With 0.4 KB each, or 1.5 KB where it failed; the least recently used one is forgotten. */
const maxNames = 20_000;
const maxBackOffMs = 30_000;

export function createNameLookup(options: NameLookupOptions = {}): NameLookup {
  const { resolve = createResolver(options), freshMs = 10_000, staleMs = 600_000 } = options;
  const { slowMs = 500, giveUpMs = 4_000, backOffMs = 1_000 } = options;
  /** The least recently used first. */
  const names = new Map<string, Name>();
  const turns = new LookupTurns();

  const ask = (hostname: string, name: Name): Pending => {
    const { promise: newest, resolve: answer, reject } = Promise.withResolvers<readonly LookupAddress[]>();
    const pending = { newest, startedAt: performance.now() };
    name.pending = pending;
    const fail = (failure: Error): void => {
      // It may have been given up before.
      if (name.pending !== pending) return;
      name.pending = undefined;
      // The name is gone: its former addresses are somebody else's, or will be.
      if ((failure as { code?: string }).code === 'ENOTFOUND') name.addresses = undefined;
      name.failure = failure;
      name.askAgainAt = performance.now() + Math.min(backOffMs * 2 ** name.failures, maxBackOffMs);
      name.failures += 1;
      reject(failure);
    };
    const started = turns.take(laneOf(name), async () => {
      const giveUp = (): void => {
        fail(new LookupFailed('EAI_AGAIN', `${hostname}: no answer of a name server within ${giveUpMs} ms`));
      };
      // Where this process was busy for so long, the answer may have come: it is read before the immediates.
      const timer = setTimeout(() => setImmediate(giveUp), giveUpMs);
      try {
        const addresses = await resolve(hostname);
        // Also where it comes too late for those who waited.
        Object.assign(name, { addresses, resolvedAt: performance.now() });
        Object.assign(name, { failure: undefined, failures: 0, askAgainAt: -Infinity });
        if (name.pending === pending) name.pending = undefined;
        answer(addresses);
      } catch (error) {
        fail(error as Error);
      }
      clearTimeout(timer);
    });
    if (!started) {
      name.pending = undefined;
      reject(
        name.failure ?? new LookupFailed('EAI_AGAIN', `${hostname}: too many names are being looked up`),
      );
    }
    return pending;
  };

  const nameOf = (hostname: string): Name => {
    const name = names.get(hostname) ?? { resolvedAt: -Infinity, failures: 0, askAgainAt: -Infinity };
    names.delete(hostname);
    names.set(hostname, name);
    const [leastUsed] = names.keys();
    if (names.size > maxNames && leastUsed !== undefined) names.delete(leastUsed);
    return name;
  };

  return async (hostname) => {
    const name = nameOf(hostname);
    const now = performance.now();
    if (now - name.resolvedAt >= staleMs) name.addresses = undefined;
    const earlier = name.addresses;
    if (earlier && now - name.resolvedAt < freshMs) return earlier;
    if (!name.pending && now < name.askAgainAt && name.failure) {
      if (earlier) return earlier;
      throw name.failure;
    }
    const { newest, startedAt } = name.pending ?? ask(hostname, name);
    if (!earlier) return newest;
    try {
      return (await within(newest, startedAt + slowMs - now)) ?? earlier;
    } catch (error) {
      if (!name.addresses) throw error;
      return earlier;
    }
  };
}

/** One whose addresses still serve keeps its lane, though the last look-up failed. */
function laneOf({ addresses, failures }: Name): LookupLane {
  if (addresses) return 'known';
  return failures > 0 ? 'failed' : 'new';
}
