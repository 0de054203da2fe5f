/** The address of the client of a request. `X-Forwarded-*` is believed only where a proxy of TAILRACE_TRUSTED_PROXIES sent it. */
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net';
import type { Cidr } from '../settings/kinds.ts';

export interface TrustedProxies {
  /** Whether headers are believed that come from this address. */
  trusts(address: string): boolean;
  /**
   * The address of the client, as {@link plainAddress} writes it. Undefined where it is not known: a trusted proxy names it by a
   * text that is not an address, or the connection is closed.
   *
   * Each proxy adds the address of its own peer to the end of X-Forwarded-For. So the list is read from there, up to the first
   * address that is not of a trusted proxy; the client may have written whatever is before it.
   *
   * @param peer the address of the connection, as a socket reports it
   */
  clientOf(peer: string | undefined, headers: IncomingHttpHeaders): string | undefined;
}

export function trustProxies(networks: readonly Cidr[]): TrustedProxies {
  const trusted = new BlockList();
  for (const { address, prefix, family } of networks) trusted.addSubnet(address, prefix, family);
  const isTrusted = (address: string | undefined): address is string =>
    address !== undefined && trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  return {
    trusts: (address) => isTrusted(plainAddress(address)),
    clientOf(peer = '', headers) {
      let client = plainAddress(peer);
      const forwarded = headers['x-forwarded-for'];
      if (typeof forwarded !== 'string' || !isTrusted(client)) return client;
      // Not split as a whole: the client may have written thousands of items before the one that ends the search.
      for (let end = forwarded.length; end > 0;) {
        const comma = forwarded.lastIndexOf(',', end - 1);
        const text = forwarded.slice(comma + 1, end).trim();
        end = comma;
        // An empty item of a list does not count (RFC 9110, section 5.6.1).
        if (text === '') continue;
        client = plainAddress(withoutPort(text));
        if (!isTrusted(client)) break;
      }
      return client;
    },
  };
}

/** An IPv4 address, also where it is mapped to IPv6, or an IPv6 address in its shortest form without its zone. Undefined for other texts. */
export function plainAddress(text: string): string | undefined {
  const family = isIP(text);
  if (family !== 6) return family === 4 ? text : undefined;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  const mapped = address.replace(/^::ffff:/, '');
  return isIPv4(mapped) ? mapped : address;
}

/** Some proxies write the port too: `203.0.113.7:4711`, `[2001:db8::7]:4711`. */
function withoutPort(text: string): string {
  const [, v6, v4] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d{1,5})?$/.exec(text) ?? [];
  return v6 ?? v4 ?? text;
}
