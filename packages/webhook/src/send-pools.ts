/**
 * Connections by TLS settings, destination and origin: one that was made with a destination's client certificate, or in
 * trust of its authorities, never carries the webhooks of another, and no destination waits for another's connection.
 * How many requests there are at a time is for the caller to bound; here each of them has a connection immediately.
 */
import { createHash } from 'node:crypto';
import { createSecureContext, getCACertificates } from 'node:tls';
import type { TlsSettings } from '@tailrace/config';
import type { AddressPolicy } from './address.ts';
import type { NameLookup } from './dns/resolve.ts';
import { guardedConnector } from './send-connection.ts';
import { Route, SharedLimits } from './send-route.ts';

export interface PoolsOptions {
  readonly policy: AddressPolicy;
  readonly lookup: NameLookup;
  readonly timeoutMs: number;
  readonly maxConnectionAgeMs: number;
  /** TLS settings that nobody has used for so long are given up, with their connections. */
  readonly unusedRouteMs: number;
  /** PEM of certificate authorities to trust beside those that Node trusts. */
  readonly authorities: readonly string[];
}

export interface Pools {
  /** @throws Error of OpenSSL where it cannot use the settings */
  routeFor(tls: TlsSettings | undefined): Route;
  /** Ends every connection; exchanges on them fail. */
  close(): Promise<void>;
}

const maxResponseHeaderBytes = 16 * 1024;
/** One with authorities of its own costs 1.4 MB and 30 ms, since they come on top of the system's. */
const maxRoutes = 64;
const sweepEveryMs = 60_000;

export function createPools(options: PoolsOptions): Pools {
  const { unusedRouteMs } = options;
  const shared = new SharedLimits();
  const plain = openRoute(options, undefined, shared);
  /** By TLS settings; the least recently used first. */
  const others = new Map<string, Route>();

  const sweep = setInterval(() => {
    for (const [key, route] of others) {
      if (performance.now() - route.usedAt < unusedRouteMs) break;
      others.delete(key);
      route.retire();
    }
  }, sweepEveryMs);
  sweep.unref();

  return {
    routeFor(tls) {
      if (!tls) return plain;
      const key = keyOf(tls);
      const route = others.get(key) ?? openRoute(options, tls, shared);
      others.delete(key);
      others.set(key, route);
      route.usedAt = performance.now();
      const [leastUsed] = others;
      if (others.size > maxRoutes && leastUsed) {
        others.delete(leastUsed[0]);
        leastUsed[1].retire();
      }
      return route;
    },
    async close() {
      clearInterval(sweep);
      await Promise.all([plain, ...others.values()].map((route) => route.destroy()));
    },
  };
}

const keys = new WeakMap<TlsSettings, string>();

/** The same for settings that say the same, so that a change elsewhere in a destination ends no connection. */
function keyOf(tls: TlsSettings): string {
  let key = keys.get(tls);
  if (key === undefined) {
    const { ca, clientCertificate, clientKey } = tls;
    key = createHash('sha256')
      .update(JSON.stringify([ca, clientCertificate, clientKey]))
      .digest('base64');
    keys.set(tls, key);
  }
  return key;
}

function openRoute(options: PoolsOptions, tls: TlsSettings | undefined, shared: SharedLimits): Route {
  const { maxConnectionAgeMs } = options;
  const connectionOptions = {
    connect: guardedConnector({ ...options, secureContext: secureContextOf(options, tls) }),
    maxAgeMs: maxConnectionAgeMs,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: maxResponseHeaderBytes,
    // A receiver may ask for less, or for more up to this.
    keepAliveMaxTimeout: Math.max(1, maxConnectionAgeMs),
    // One clock rules the exchange, its own.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  return new Route(connectionOptions, shared);
}

function secureContextOf({ authorities }: PoolsOptions, tls: TlsSettings | undefined) {
  const ca = tls?.ca === undefined ? authorities : [...authorities, tls.ca];
  return createSecureContext({
    minVersion: 'TLSv1.2',
    ...(ca.length > 0 && { ca: [...getCACertificates('default'), ...ca] }),
    ...(tls?.clientKey !== undefined && { cert: tls.clientCertificate, key: tls.clientKey }),
  });
}
