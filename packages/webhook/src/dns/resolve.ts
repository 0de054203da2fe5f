/**
 * One look-up of a name with the results of getaddrinfo, but without its limit of two concurrent look-ups: the
 * hosts file, then name servers by c-ares, with the search domains of resolv.conf. The C library is called only
 * where the machine has further sources of names, and only for names that were not found otherwise.
 */
import { ADDRCONFIG, promises as dns, TIMEOUT, type LookupAddress } from 'node:dns';
import { NameServers, type Reply } from './name-servers.ts';
import { followNameSettings, type NameSettings } from './name-settings.ts';

/**
 * Resolves all addresses of a name.
 *
 * @throws Error with the code ENOTFOUND where the name does not exist, or EAI_AGAIN where this is not known
 */
export type NameLookup = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface ResolverOptions {
  /** Defaults to the settings of this machine. */
  readonly settings?: () => NameSettings;
  /** The look-up of the operating system. */
  readonly lookupBySystem?: NameLookup;
}

export class LookupFailed extends Error {
  readonly code: 'ENOTFOUND' | 'EAI_AGAIN';

  constructor(code: LookupFailed['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Concurrent look-ups by the operating system, which runs two of them at a time. */
const maxSystemLookups = 16;

export function createResolver(options: ResolverOptions = {}): NameLookup {
  const { lookupBySystem = (hostname: string) => dns.lookup(hostname, { all: true, hints: ADDRCONFIG }) } =
    options;
  const settingsNow = options.settings ?? followNameSettings();
  let servers: NameServers | undefined;
  let systemLookups = 0;

  return async (hostname) => {
    const settings = settingsNow();
    const name = hostname.toLowerCase().replace(/\.$/, '');
    const local = settings.hosts.get(name) ?? loopbackOf(name);
    if (local) return local;

    if (servers?.list.join() !== settings.servers.join()) servers = new NameServers(settings.servers);
    const reply = await search(servers, hostname, settings);
    if (reply.kind === 'found') return reply.addresses;
    if (reply.kind === 'failed') {
      throw new LookupFailed('EAI_AGAIN', `${hostname}: the name servers failed with ${reply.code}`);
    }
    if (settings.otherSources && systemLookups < maxSystemLookups) {
      systemLookups += 1;
      try {
        return await lookupBySystem(hostname);
      } finally {
        systemLookups -= 1;
      }
    }
    throw new LookupFailed('ENOTFOUND', `${hostname} was not found`);
  };
}

/** RFC 6761: these names never leave the machine. */
function loopbackOf(name: string): readonly LookupAddress[] | undefined {
  if (name !== 'localhost' && !name.endsWith('.localhost')) return undefined;
  return [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
}

/** The full names to try for a name, in the order of resolv.conf(5). */
function candidatesOf(
  hostname: string,
  { search, ndots }: Pick<NameSettings, 'search' | 'ndots'>,
): readonly string[] {
  if (hostname.endsWith('.')) return [hostname.slice(0, -1)];
  const longer = search.map((domain) => (domain === '' ? hostname : `${hostname}.${domain}`));
  const dots = hostname.split('.').length - 1;
  return [...new Set(dots >= ndots ? [hostname, ...longer] : [...longer, hostname])];
}

async function search(servers: NameServers, hostname: string, settings: NameSettings): Promise<Reply> {
  const [asItIs] = candidatesOf(hostname, { search: [], ndots: 0 });
  let result: Reply = { kind: 'missing' };
  let isHanging = false;
  for (const candidate of candidatesOf(hostname, settings)) {
    // As in the C library: after a timeout, further search domains are skipped, but the name as written is tried.
    if (isHanging && candidate !== asItIs) continue;
    const reply = await servers.query(candidate, settings.families);
    if (reply.kind === 'found') return reply;
    if (reply.kind === 'failed') {
      result = reply;
      isHanging ||= reply.code === TIMEOUT;
    }
  }
  return result;
}
