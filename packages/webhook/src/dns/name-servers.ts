/**
 * Queries to name servers, by c-ares: over UDP, and over TCP where an answer is too long. The next server is tried
 * where one does not answer. Servers that did not answer recently are tried last.
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

/** The result of a query for one name. */
export type Reply =
  | { readonly kind: 'found'; readonly addresses: readonly LookupAddress[] }
  /** The name does not exist, or has no address. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'failed'; readonly code: string };

/**
 * The timeout unit of c-ares. The first try gets five times the usual response time of a server, at least 250 ms,
 * and each further try twice as long. So hanging questions are not all repeated in one burst.
 */
const clockMs = 100;
const longestTryMs = 2_000;
/** How long addresses of one family wait for those of the other (RFC 8305). */
const otherFamilyMs = 50;

export class NameServers {
  readonly list: readonly string[];
  readonly #all: dns.Resolver;
  /** One resolver for each server, where there are several. */
  readonly #each: readonly dns.Resolver[];

  constructor(list: readonly string[]) {
    this.list = list;
    this.#all = resolverOf(list);
    this.#each = list.length > 1 ? list.map((server) => resolverOf([server])) : [];
  }

  /** Queries exactly this name, without search domains. */
  async query(name: string, families: readonly Family[]): Promise<Reply> {
    const replies = families.map((family) => this.#queryFamily(name, family));
    const everything = Promise.all(replies);
    const first = await Promise.race(replies);
    // Many servers do not answer queries for IPv6 addresses. One family is enough then.
    const known = first.kind === 'found' ? await within(everything, otherFamilyMs) : await everything;
    return merged(known ?? [first]);
  }

  async #queryFamily(name: string, family: Family): Promise<Reply> {
    const reply = await query(this.#all, name, family);
    if (reply.kind !== 'failed' || !nextServerMayKnow.has(reply.code)) return reply;
    // c-ares accepts such an answer as final. The C library asks the next server, as is done here.
    const others = await Promise.all(this.#each.map((resolver) => query(resolver, name, family)));
    return (
      others.find(({ kind }) => kind === 'found') ?? others.find(({ kind }) => kind === 'missing') ?? reply
    );
  }
}

const nextServerMayKnow = new Set<string>([SERVFAIL, REFUSED, NOTIMP]);

function resolverOf(servers: readonly string[]): dns.Resolver {
  // Five to eight seconds for all servers together, longer than a look-up may take. The timeout is in `lookup.ts`.
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

/** The value of `promise`, or undefined after `ms`. */
export async function within<Value>(promise: Promise<Value>, ms: number): Promise<Value | undefined> {
  const late = new AbortController();
  try {
    return await Promise.race([promise, sleep(ms, undefined, { signal: late.signal })]);
  } finally {
    late.abort();
  }
}
