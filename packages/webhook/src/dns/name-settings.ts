/**
 * The name resolution settings of the machine: hosts file, name servers, search domains, and whether there are
 * further sources of names. Changed files are read again.
 */
import { readFileSync, statSync } from 'node:fs';
import type { LookupAddress } from 'node:dns';
import { isIP, isIPv4 } from 'node:net';
import { hostname as ownName, networkInterfaces } from 'node:os';

interface NameFiles {
  readonly hosts: string;
  readonly resolvConf: string;
  readonly nsswitch: string;
}

export interface NameSettings {
  readonly hosts: ReadonlyMap<string, readonly LookupAddress[]>;
  /** Addresses, optionally with a port, in the order of resolv.conf. Empty where it has none. */
  readonly servers: readonly string[];
  readonly search: readonly string[];
  /** A name with fewer dots is tried with the search domains first. */
  readonly ndots: number;
  /** The system has sources of names besides the hosts file and name servers. */
  readonly otherSources: boolean;
  /** The address families that this machine can use, preferred first. */
  readonly families: readonly Family[];
}

export type Family = 4 | 6;

const systemFiles: NameFiles = {
  hosts: '/etc/hosts',
  resolvConf: '/etc/resolv.conf',
  nsswitch: '/etc/nsswitch.conf',
};

/** Limits of glibc, which ignores more. */
const maxServers = 3;
const maxNdots = 15;

/** Returns a function that gives the current settings. It checks the files every five seconds at most. */
export function followNameSettings(files = systemFiles, checkEveryMs = 5_000): () => NameSettings {
  let settings: NameSettings | undefined;
  let readVersion = '';
  let checkedAt = -Infinity;
  return () => {
    const now = performance.now();
    if (settings && now - checkedAt < checkEveryMs) return settings;
    checkedAt = now;
    const families = usableFamilies();
    const version = [...Object.values(files).map(versionOf), ...families].join();
    if (!settings || version !== readVersion) {
      readVersion = version;
      settings = {
        hosts: parseHosts(read(files.hosts)),
        ...parseResolvConf(read(files.resolvConf)),
        otherSources: process.platform !== 'linux' || hasOtherSources(read(files.nsswitch)),
        families,
      };
    }
    return settings;
  };
}

export function parseHosts(text: string): ReadonlyMap<string, readonly LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const [address = '', ...names] of linesOf(text)) {
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const list = hosts.get(key) ?? [];
      if (!list.some((known) => known.address === address)) list.push({ address, family });
      hosts.set(key, list);
    }
  }
  return hosts;
}

export function parseResolvConf(text: string): Pick<NameSettings, 'servers' | 'search' | 'ndots'> {
  const servers: string[] = [];
  const [, ...ownDomain] = ownName().split('.');
  let search = ownDomain.length > 0 ? [ownDomain.join('.')] : [];
  let ndots = 1;
  for (const [keyword = '', ...values] of linesOf(text)) {
    const [value = ''] = values;
    if (keyword === 'nameserver' && isIP(value) !== 0 && servers.length < maxServers) servers.push(value);
    // The last `search` or `domain` line wins.
    else if (keyword === 'search') search = values;
    else if (keyword === 'domain') search = [value];
    else if (keyword === 'options') {
      for (const option of values) {
        const [, dots] = /^ndots:(\d+)$/.exec(option) ?? [];
        if (dots !== undefined) ndots = Math.min(Number(dots), maxNdots);
      }
    }
  }
  return { servers, search: search.map((domain) => domain.replace(/\.$/, '')), ndots };
}

/** The default of the C library, without the file or without its `hosts` line. */
const defaultSources = 'files dns';
/**
 * Sources that this package covers. Those of systemd are the hosts file and a local name server, which is in
 * resolv.conf.
 */
const coveredSources = new Set(['files', 'dns', 'resolve', 'myhostname']);

export function hasOtherSources(nsswitch: string): boolean {
  const line = [...linesOf(nsswitch)].find(([keyword]) => keyword === 'hosts:');
  const sources = line?.slice(1) ?? defaultSources.split(' ');
  return sources.some(
    (source) => !source.startsWith('[') && !source.endsWith(']') && !coveredSources.has(source),
  );
}

/** The families to query, as in getaddrinfo: those with an address that is not loopback or link-local. */
function usableFamilies(): readonly Family[] {
  const addresses = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => address);
  const has4 = addresses.some((address) => isIPv4(address));
  const has6 = addresses.some((address) => !isIPv4(address));
  if (has4 !== has6) return has4 ? [4] : [6];
  // IPv6 is preferred to IPv4 only with a public IPv6 address (RFC 6724).
  return addresses.some((address) => /^[23]/.test(address) && !isIPv4(address)) ? [6, 4] : [4, 6];
}

function* linesOf(text: string): Generator<string[]> {
  for (const line of text.split('\n')) {
    const words = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (words[0] !== '') yield words;
  }
}

function versionOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? `${stat.ino}:${stat.mtimeMs}:${stat.size}` : '';
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Without the file, the defaults apply.
    return '';
  }
}
