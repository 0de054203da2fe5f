/** The replicas to look at: `router=tailrace-router:9465` is every address of that name. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** The replicas of one service, by the name and port of their probes. */
export interface Target {
  /** The name of the service in the report. */
  readonly service: string;
  readonly host: string;
  readonly port: number;
}

/** One process: the origin of its probes. */
export interface Replica {
  readonly service: string;
  readonly url: string;
}

export type Resolved =
  | { readonly outcome: 'found'; readonly replicas: readonly Replica[] }
  /** The name has no address: no pod is behind it, or it is misspelled. */
  | { readonly outcome: 'none' }
  | { readonly outcome: 'failed'; readonly reason: string };

const lookUpTimeoutMs = 5_000;
const form = /^(?:([A-Za-z][\w-]{0,62})=)?(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9][\w.-]{0,252}):(\d{1,5})$/;

/** Without a name, the service is named after the first label of the host. Undefined if the text is not a target. */
export function parseTarget(text: string): Target | undefined {
  const [, name, bracketed = '', digits = ''] = form.exec(text.trim()) ?? [];
  const host = bracketed.replace(/^\[(.*)\]$/, '$1');
  const port = Number(digits);
  if (host === '' || port < 1 || port > 65_535) return undefined;
  const label = isIP(host) > 0 ? host : (host.split('.')[0] ?? host);
  return { service: name ?? label, host, port };
}

/** All addresses of the name. With both families, a pod has an address in each, so only IPv4 is used. */
export async function resolve({ service, host, port }: Target, resolveName = lookUpAll): Promise<Resolved> {
  const timeout = new AbortController();
  const late = wait(lookUpTimeoutMs, undefined, { signal: timeout.signal }).then(() => {
    throw new Error(`no answer from DNS within ${lookUpTimeoutMs / 1_000} s`);
  });
  try {
    const found = await Promise.race([resolveName(host), late]);
    const ipv4 = found.filter(({ family }) => family === 4);
    const addresses = new Set((ipv4.length > 0 ? ipv4 : found).map(({ address }) => address));
    if (addresses.size === 0) return { outcome: 'none' };
    const replicas = [...addresses].sort(byNumbers).map((address) => ({
      service,
      url: `http://${isIP(address) === 6 ? `[${address}]` : address}:${port}`,
    }));
    return { outcome: 'found', replicas };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOTFOUND' || code === 'ENODATA') return { outcome: 'none' };
    return { outcome: 'failed', reason: code === undefined ? message : `DNS answers ${code}` };
  } finally {
    timeout.abort();
    late.catch(() => undefined);
  }
}

function lookUpAll(host: string) {
  return lookup(host, { all: true });
}

function byNumbers(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
