/**
 * Resolves the names of receivers, with a cache. A dead name must not delay the look-up of other names:
 *
 * - An answer is fresh for ten seconds. Concurrent callers share one look-up.
 * - The number of concurrent look-ups is limited, with separate limits for names that resolved before
 *   (`lookup-queues.ts`).
 * - After a failure, a name is not looked up for a back-off time, which doubles. Callers get the last failure
 *   meanwhile.
 * - The last good addresses are used for ten minutes where name servers fail or are slow.
 *
 * The cache does not decide which addresses may be dialled. They are checked on every use.
 */
import type { LookupAddress } from 'node:dns';
import { LRUCache } from 'lru-cache';
import { LookupQueues, type LookupQueue } from './lookup-queues.ts';
import { within } from './name-servers.ts';
import { createResolver, LookupFailed, type NameLookup, type ResolverOptions } from './resolve.ts';

export interface NameLookupOptions extends ResolverOptions {
  readonly resolve?: NameLookup;
  /** How long an answer is used without another look-up. */
  readonly freshMs?: number;
  /** How long it is used where no newer answer is available. */
  readonly staleMs?: number;
  /** The last good addresses are used where a newer answer takes longer than this. */
  readonly slowMs?: number;
  /**
   * A look-up that takes longer fails. Below the five seconds of an exchange, so that the reported reason is DNS.
   */
  readonly giveUpMs?: number;
  /** Back-off after the first failure. It doubles with each further failure, up to half a minute. */
  readonly backOffMs?: number;
}

interface Name {
  addresses?: readonly LookupAddress[] | undefined;
  resolvedAt: number;
  /** The error of the last look-up. */
  failure?: Error | undefined;
  /** Consecutive failures. */
  failures: number;
  retryAt: number;
  pending?: Pending | undefined;
}

interface Pending {
  readonly newest: Promise<readonly LookupAddress[]>;
  readonly startedAt: number;
}

/** A name takes 0.4 KB, or 1.5 KB after a failure. The least recently used one is evicted. */
const maxNames = 20_000;
const maxBackOffMs = 30_000;

export function createNameLookup(options: NameLookupOptions = {}): NameLookup {
  const { resolve = createResolver(options), freshMs = 10_000, staleMs = 600_000 } = options;
  const { slowMs = 500, giveUpMs = 4_000, backOffMs = 1_000 } = options;
  const names = new LRUCache<string, Name>({ max: maxNames });
  const queues = new LookupQueues();

  const startLookup = (hostname: string, name: Name): Pending => {
    const { promise: newest, resolve: answer, reject } = Promise.withResolvers<readonly LookupAddress[]>();
    const pending = { newest, startedAt: performance.now() };
    name.pending = pending;
    const fail = (failure: Error): void => {
      // The look-up may have timed out already.
      if (name.pending !== pending) return;
      name.pending = undefined;
      // The name no longer exists. Its former addresses may belong to another owner.
      if ((failure as { code?: string }).code === 'ENOTFOUND') name.addresses = undefined;
      name.failure = failure;
      name.retryAt = performance.now() + Math.min(backOffMs * 2 ** name.failures, maxBackOffMs);
      name.failures += 1;
      reject(failure);
    };
    const started = queues.add(queueOf(name), async () => {
      const giveUp = (): void =>
        fail(new LookupFailed('EAI_AGAIN', `${hostname}: no name server answered within ${giveUpMs} ms`));
      // After a busy event loop the answer may be waiting to be read. It is read before immediates run.
      const timer = setTimeout(() => setImmediate(giveUp), giveUpMs);
      try {
        const addresses = await resolve(hostname);
        // A late answer is cached too.
        Object.assign(name, { addresses, resolvedAt: performance.now() });
        Object.assign(name, { failure: undefined, failures: 0, retryAt: -Infinity });
        if (name.pending === pending) name.pending = undefined;
        answer(addresses);
      } catch (error) {
        fail(error as Error);
      }
      clearTimeout(timer);
    });
    if (!started) {
      name.pending = undefined;
      reject(name.failure ?? new LookupFailed('EAI_AGAIN', `${hostname}: too many look-ups are pending`));
    }
    return pending;
  };

  const nameOf = (hostname: string): Name => {
    const known = names.get(hostname);
    if (known) return known;
    const name = { resolvedAt: -Infinity, failures: 0, retryAt: -Infinity };
    names.set(hostname, name);
    return name;
  };

  return async (hostname) => {
    const name = nameOf(hostname);
    const now = performance.now();
    if (now - name.resolvedAt >= staleMs) name.addresses = undefined;
    const earlier = name.addresses;
    if (earlier && now - name.resolvedAt < freshMs) return earlier;
    if (!name.pending && now < name.retryAt && name.failure) {
      if (earlier) return earlier;
      throw name.failure;
    }
    const { newest, startedAt } = name.pending ?? startLookup(hostname, name);
    if (!earlier) return newest;
    try {
      return (await within(newest, startedAt + slowMs - now)) ?? earlier;
    } catch (error) {
      if (!name.addresses) throw error;
      return earlier;
    }
  };
}

/** A name with usable addresses stays in its queue, even after a failed look-up. */
function queueOf({ addresses, failures }: Name): LookupQueue {
  if (addresses) return 'known';
  return failures > 0 ? 'failed' : 'new';
}
