/**
 * Pools of connections, one for each origin and each TLS settings: a connection that was made with one destination's
 * client certificate, or in trust of its authorities, never carries the webhooks of another.
 */
import { createHash } from 'node:crypto';
import { createSecureContext, getCACertificates } from 'node:tls';
import type { TlsSettings } from '@tailrace/config';
import { Agent, Pool, type Dispatcher } from 'undici';
import type { AddressPolicy } from './address.ts';
import type { NameLookup } from './resolve-name.ts';
import {
  Connection,
  guardedConnector,
  type CarriedExchange,
  type ConnectionOptions,
} from './send-connection.ts';

export interface PoolsOptions {
  readonly policy: AddressPolicy;
  readonly lookup: NameLookup;
  readonly timeoutMs: number;
  readonly connectionsPerOrigin: number;
  readonly maxConnectionAgeMs: number;
  /** TLS settings that nobody has used for so long are given up, with their connections. */
  readonly unusedRouteMs: number;
  /** PEM of certificate authorities to trust beside those that Node trusts. */
  readonly authorities: readonly string[];
}

export interface Route {
  /** On any connection of the pool; waits for one where all are busy. */
  dispatch(options: Dispatcher.DispatchOptions, exchange: CarriedExchange): void;
  /** On a connection of its own, which ends with it. */
  dispatchAlone(options: Dispatcher.DispatchOptions, exchange: CarriedExchange): void;
}

export interface Pools {
  /** @throws Error of OpenSSL where it cannot use the settings */
  routeFor(tls: TlsSettings | undefined): Route;
  /** Ends every connection; exchanges on them fail. */
  close(): Promise<void>;
}

interface OpenRoute extends Route {
  usedAt: number;
  /** Ends its connections as they become free. */
  retire(): void;
  destroy(): Promise<void>;
}

const maxResponseHeaderBytes = 16 * 1024;
/** One with authorities of its own costs 1.4 MB and 30 ms, since they come on top of the system's. */
const maxRoutes = 64;
const sweepEveryMs = 60_000;

export function createPools(options: PoolsOptions): Pools {
  const { unusedRouteMs } = options;
  const plain = openRoute(options, undefined);
  /** By TLS settings; the least recently used first. */
  const others = new Map<string, OpenRoute>();

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
      const route = others.get(key) ?? openRoute(options, tls);
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

function openRoute(options: PoolsOptions, tls: TlsSettings | undefined): OpenRoute {
  const connectionOptions: ConnectionOptions = {
    connect: guardedConnector({ ...options, secureContext: secureContextOf(options, tls) }),
    maxAgeMs: options.maxConnectionAgeMs,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: maxResponseHeaderBytes,
    // A receiver may ask for less, or for more up to this.
    keepAliveMaxTimeout: Math.max(1, options.maxConnectionAgeMs),
    // One clock rules the exchange, its own.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const agent = new Agent({
    factory: (origin) =>
      new Pool(origin, {
        connections: options.connectionsPerOrigin,
        factory: (url) => new Connection(url, connectionOptions),
      }),
  });
  const alone = new Set<Connection>();
  return {
    usedAt: performance.now(),
    dispatch(request, exchange) {
      agent.dispatch(request, exchange);
    },
    dispatchAlone(request, exchange) {
      const connection = new Connection(String(request.origin), connectionOptions);
      alone.add(connection);
      connection.dispatch({ ...request, reset: true }, exchange);
      void connection.close().then(() => alone.delete(connection));
    },
    retire() {
      void agent.close();
    },
    async destroy() {
      await Promise.all([agent, ...alone].map((dispatcher) => dispatcher.destroy()));
    },
  };
}

function secureContextOf({ authorities }: PoolsOptions, tls: TlsSettings | undefined) {
  const ca = tls?.ca === undefined ? authorities : [...authorities, tls.ca];
  return createSecureContext({
    minVersion: 'TLSv1.2',
    ...(ca.length > 0 && { ca: [...getCACertificates('default'), ...ca] }),
    ...(tls?.clientKey !== undefined && { cert: tls.clientCertificate, key: tls.clientKey }),
  });
}
