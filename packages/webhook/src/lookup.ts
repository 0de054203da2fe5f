/**
 * The addresses of receivers' names, from the operating system (getaddrinfo), so that /etc/hosts, search domains
 * and whatever else the machine is set up with are obeyed. libuv makes two such look-ups at a time and no more,
 * and a name whose server is dead takes one for twenty seconds or longer; so here is decided who waits:
 *
 * - An answer serves for ten seconds, and all who ask meanwhile share one look-up.
 * - Of the two, names that are not known to answer quickly have one between them, the new ones first. So no
 *   name server, however slow, stands in the way of names that answer.
 * - Addresses that were good go on being used for ten minutes where a name server fails or dawdles.
 *
 * Nothing here says what may be dialled: that is checked each time, on the addresses as they are given out.
 */
import { ADDRCONFIG, promises as dns, type LookupAddress } from 'node:dns';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * All the addresses of a name.
 *
 * @throws Error with the code of the resolver, such as ENOTFOUND
 */
export type NameLookup = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface NameLookupOptions {
  readonly resolve?: NameLookup;
  /** How long an answer serves without another look-up. */
  readonly freshMs?: number;
  /** How long it serves where there is no newer one to be had. */
  readonly staleMs?: number;
  /** A look-up that takes longer is a slow one. */
  readonly slowMs?: number;
}

interface Name {
  addresses?: readonly LookupAddress[];
  resolvedAt: number;
  /** How the last look-up went; of a new name nothing is known. */
  pace: Pace;
  pending?: Promise<readonly LookupAddress[]>;
}

/** In the order in which they get their turn. */
const paces = ['quick', 'new', 'slow'] as const;
type Pace = (typeof paces)[number];

const maxNames = 10_000;

export function createNameLookup({
  resolve = (hostname) => dns.lookup(hostname, { all: true, hints: ADDRCONFIG }),
  freshMs = 10_000,
  staleMs = 600_000,
  slowMs = 500,
}: NameLookupOptions = {}): NameLookup {
  const names = new Map<string, Name>();
  const turns = createTurns();

  const look = async (hostname: string, name: Name): Promise<readonly LookupAddress[]> => {
    const giveBack = await turns.take(name.pace);
    const startedAt = performance.now();
    try {
      name.addresses = await resolve(hostname);
      name.resolvedAt = performance.now();
      return name.addresses;
    } catch (error) {
      // The name is gone: its former addresses are somebody else's, or will be.
      if ((error as { code?: string }).code === 'ENOTFOUND') delete name.addresses;
      throw error;
    } finally {
      name.pace = performance.now() - startedAt > slowMs ? 'slow' : 'quick';
      delete name.pending;
      giveBack();
    }
  };

  const nameOf = (hostname: string): Name => {
    const known = names.get(hostname);
    if (known) return known;
    const [oldest] = names.keys();
    if (names.size >= maxNames && oldest !== undefined) names.delete(oldest);
    const name: Name = { resolvedAt: -Infinity, pace: 'new' };
    names.set(hostname, name);
    return name;
  };

  return async (hostname) => {
    const name = nameOf(hostname);
    const ageMs = performance.now() - name.resolvedAt;
    const earlier = name.addresses;
    if (earlier && ageMs < freshMs) return earlier;
    const newest = (name.pending ??= look(hostname, name));
    if (!earlier || ageMs >= staleMs) return newest;

    const late = new AbortController();
    try {
      const inTime = sleep(name.pace === 'slow' ? 0 : slowMs, undefined, { signal: late.signal });
      return (await Promise.race([newest, inTime])) ?? earlier;
    } catch (error) {
      if (!name.addresses) throw error;
      return earlier;
    } finally {
      late.abort();
    }
  };
}

interface Turns {
  /** Resolves when it is the caller's turn, with what ends it. */
  take(pace: Pace): Promise<() => void>;
}

/** Two at a time, of which what is not known to be quick has one. */
function createTurns(): Turns {
  const waiting: Record<Pace, (() => void)[]> = { quick: [], new: [], slow: [] };
  let running = 0;
  let runningOthers = 0;

  const startNext = (): void => {
    for (const pace of paces) {
      const others = pace === 'quick' ? 0 : 1;
      while (running < 2 && runningOthers + others < 2) {
        const start = waiting[pace].shift();
        if (!start) break;
        running += 1;
        runningOthers += others;
        start();
      }
    }
  };
  return {
    take: (pace) =>
      new Promise((resolveTurn) => {
        const others = pace === 'quick' ? 0 : 1;
        waiting[pace].push(() => {
          resolveTurn(() => {
            running -= 1;
            runningOthers -= others;
            startNext();
          });
        });
        startNext();
      }),
  };
}
