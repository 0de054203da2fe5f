/** The address of a client. `X-Forwarded-*` is believed only where it comes from a proxy of TAILRACE_TRUSTED_PROXIES. */
import { BlockList, isIP } from 'node:net';
import type { ControlSettings } from '../settings.ts';

/** For the option `trustProxy` of fastify. */
export function trustProxies(networks: ControlSettings['trustedProxies']): (address: string) => boolean {
  const trusted = new BlockList();
  for (const { address, prefix, family } of networks) trusted.addSubnet(address, prefix, family);
  return (address) => {
    const version = isIP(address);
    return version !== 0 && trusted.check(address, version === 6 ? 'ipv6' : 'ipv4');
  };
}

/** Undefined for a text that is not an IP address, as a proxy may pass one on. */
export function addressOf({ ip }: { readonly ip: string }): string | undefined {
  const address = ip.replace(/^::ffff:/i, '');
  return isIP(address) === 0 ? undefined : address;
}
