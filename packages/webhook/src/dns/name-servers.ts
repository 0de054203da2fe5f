/**
 * Questions to name servers, by c-ares: over UDP, and TCP where an answer is too long; the next server where one is
 * silent, and those last that were silent lately.
 */
import {
  CONNREFUSED,
  NODATA,
  NOTFOUND,
  NOTIMP,
  promises as dns,
  REFUSED,
  SERVFAIL,
  type LookupAddress,
} from 'node:dns';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Family } from './name-settings.ts';

/** What is known of a name. */
export type Reply =
  | { readonly kind: 'found'; readonly addresses: readonly LookupAddress[] }
  /** No such name, or none with an address. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'failed'; readonly code: string };

/**
 * How often c-ares looks at the time. It gives the first try five times what a server's answers take, at least 250 ms, and
 * each further one twice as long, so a question is not sent again in one burst with all others that hang.
 */
const clockMs = 100;
const longestTryMs = 2_000;
/** For how long addresses of one family wait for those of the other (RFC 8305). */
const otherFamilyMs = 50;

export class NameServers {
  readonly list: readonly string[];
  readonly #all: dns.Resolver;
  /** Each of them, where there are several. */
  readonly #each: readonly dns.Resolver[];

  constructor(list: readonly string[]) {
    this.list = list;
    this.#all = resolverOf(list);
    this.#each = list.length > 1 ? list.map((server) => resolverOf([server])) : [];
  }

  /** The addresses of exactly this name. */
  async ask(name: string, families: readonly Family[]): Promise<Reply> {
    const replies = families.map((family) => this.#askFor(name, family));
    const everything = Promise.all(replies);
    const first = await Promise.race(replies);
    // What one family brings is enough where a server is silent about the other; many are about IPv6.
    const known = first.kind === 'found' ? await within(everything, otherFamilyMs) : await everything;
    return merged(known ?? [first]);
  }

  async #askFor(name: string, family: Family): Promise<Reply> {
    const reply = await query(this.#all, name, family);
    if (reply.kind !== 'failed' || !nextServerMayKnow.has(reply.code)) return reply;
    // c-ares takes such an answer for the last word; the C library asks the next server.
    const others = await Promise.all(this.#each.map((resolver) => query(resolver, name, family)));
    return (
      others.find(({ kind }) => kind === 'found') ?? others.find(({ kind }) => kind === 'missing') ?? reply
    );
  }
}

const nextServerMayKnow = new Set<string>([SERVFAIL, REFUSED, NOTIMP]);

function resolverOf(servers: readonly string[]): dns.Resolver {
  // Five to eight seconds at all of them together, longer than a look-up may take: `lookup.ts` says when it has failed.
  const tries = Math.max(3, 6 - servers.length);
  const resolver = new dns.Resolver({ timeout: clockMs, tries, maxTimeout: longestTryMs });
  if (servers.length > 0) resolver.setServers(servers);
  return resolver;
}

async function query(resolver: dns.Resolver, name: string, family: Family): Promise<Reply> {
  try {
    const addresses = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
    return { kind: 'found', addresses: addresses.map((address) => ({ address, family })) };
  } catch (error) {
    const { code = CONNREFUSED } = error as { code?: string };
    return code === NOTFOUND || code === NODATA ? { kind: 'missing' } : { kind: 'failed', code };
  }
}

function merged(replies: readonly Reply[]): Reply {
  const addresses = replies.flatMap((reply) => (reply.kind === 'found' ? reply.addresses : []));
  if (addresses.length > 0) return { kind: 'found', addresses };
  return replies.find(({ kind }) => kind === 'failed') ?? { kind: 'missing' };
}

/** What comes within the time, or undefined. */
export async function within<Value>(promise: Promise<Value>, ms: number): Promise<Value | undefined> {
  const late = new AbortController();
  try {
    return await Promise.race([promise, sleep(ms, undefined, { signal: late.signal })]);
  } finally {
    late.abort();
  }
}
