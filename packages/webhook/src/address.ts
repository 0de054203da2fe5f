/**
 * Decides which addresses a webhook may reach. README.md has the sources of the list. The check is made on the
 * address that is dialled, after every notation (decimal, octal, IPv4 in IPv6, a name) was resolved, so no notation
 * and no answer of a name server bypasses it.
 *
 * Rejects every range that IANA's special-purpose registries (RFC 6890 and its updates) do not list as globally
 * reachable, multicast, IPv6 ranges that embed an IPv4 address, because a gateway chooses the real destination, and
 * public addresses that a cloud uses internally. The allow-list opens networks of the operator.
 */
import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net';
import type { Cidr } from '@tailrace/service';

/** Networks that no webhook may reach, unless the operator allows them. The network policies of the chart are made from these. */
export const refusedNetworks = {
  ipv4: [
    '0.0.0.0/8', // this host, this network
    '10.0.0.0/8', // private
    '100.64.0.0/10', // carrier-grade NAT
    '127.0.0.0/8', // loopback
    '161.26.0.0/16', // IBM Cloud internal: name servers, mirrors, storage
    '166.8.0.0/14', // IBM Cloud internal: private endpoints of its services
    '168.63.129.16/32', // Azure: agent server, name server and health probes
    '169.254.0.0/16', // link-local, including the metadata services of clouds
    '172.16.0.0/12', // private
    '192.0.0.0/24', // protocol assignments
    '192.0.2.0/24', // documentation
    '192.88.99.0/24', // 6to4 relays, retired
    '192.168.0.0/16', // private
    '198.18.0.0/15', // benchmarking
    '198.51.100.0/24', // documentation
    '203.0.113.0/24', // documentation
    '224.0.0.0/4', // multicast
    '240.0.0.0/4', // reserved, and broadcast
  ],
  /** Inside of global unicast; IPv6 addresses outside of it are not reachable. */
  ipv6: [
    '2001::/23', // protocol assignments, including Teredo
    '2001:db8::/32', // documentation
    '2002::/16', // 6to4, embeds an IPv4 address
    '3fff::/20', // documentation
  ],
} as const;
export const ipv6GlobalUnicast = '2000::/3';

const refused = blockList([...refusedNetworks.ipv4, ...refusedNetworks.ipv6]);
const globalUnicast = blockList([ipv6GlobalUnicast]);

export type AddressPolicy = ReturnType<typeof createAddressPolicy>;

export function createAddressPolicy(allowed: readonly Cidr[]) {
  const allowList = new BlockList();
  for (const { address, prefix, family } of allowed) allowList.addSubnet(address, prefix, family);
  return {
    /** @param address IPv4 or IPv6, as a socket or a resolver reports it */
    allows(address: string): boolean {
      const plain = unmapped(address);
      const family = isIPv4(plain) ? 'ipv4' : 'ipv6';
      if (isIP(plain) === 0) return false;
      if (allowList.check(plain, family)) return true;
      if (refused.check(plain, family)) return false;
      return family === 'ipv4' || globalUnicast.check(plain, 'ipv6');
    },
  };
}

function blockList(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = '', prefix] = cidr.split('/');
    list.addSubnet(network, Number(prefix), isIPv4(network) ? 'ipv4' : 'ipv6');
  }
  return list;
}

/** The IPv4 address inside an IPv4-mapped IPv6 address. Any other address is returned without its zone. */
function unmapped(address: string): string {
  if (isIP(address) !== 6) return address;
  const { address: canonical } = new SocketAddress({ address, family: 'ipv6' });
  return canonical.replace(/^::ffff:(?=[\d.]+$)/, '');
}
