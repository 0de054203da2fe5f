/** Preloaded into a service whose brokers have names that only this service knows: `TEST_HOSTS` has their addresses as JSON. */
import dns from 'node:dns';

const hosts = JSON.parse(process.env['TEST_HOSTS'] ?? '{}') as Readonly<Record<string, string>>;
const { lookup } = dns;
dns.lookup = ((name: string, ...rest: [never]) => {
  lookup(hosts[name] ?? name, ...rest);
}) as unknown as typeof lookup;
