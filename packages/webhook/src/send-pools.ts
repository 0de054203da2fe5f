/**
 * Connections, grouped by TLS settings, destination and origin. A connection that was made with a destination's
 * client certificate or certificate authorities never carries webhooks of another destination. The number of
 * concurrent requests is not limited here: every request gets a connection immediately.
 */
import { createHash } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { TlsSettings } from '@tailrace/config';
import type { EgressProxy } from '@tailrace/service';
import { LRUCache } from 'lru-cache';
import type { AddressPolicy } from './address.ts';
import type { NameLookup } from './dns/resolve.ts';
import { guardedConnector, type Connector } from './send-connection.ts';
import { ConnectionGroup, SharedLimits } from './send-group.ts';
import { proxiedConnector } from './send-proxy.ts';

export interface PoolsOptions {
  readonly policy: AddressPolicy;
  readonly lookup: NameLookup;
  readonly timeoutMs: number;
  readonly maxConnectionAgeMs: number;
  /** Connections of TLS settings that were unused for this long are closed. */
  readonly unusedGroupMs: number;
  /** PEM of certificate authorities to trust beside those that Node trusts. */
  readonly authorities: readonly string[];
  /** All connections lead through it. */
  readonly proxy?: EgressProxy | undefined;
}

const maxResponseHeaderBytes = 16 * 1024;
/** The memory of all groups: more than a thousand with an authority of their own. */
const maxGroupBytes = 64 * 2 ** 20;
/** A group has a copy of the store of the process, which shares the certificates, and its own certificates and key. */
const groupBytes = { store: 48 * 1024, perCharacter: 4 };
const sweepEveryMs = 60_000;

export function createPools(options: PoolsOptions) {
  const { unusedGroupMs, proxy } = options;
  const shared = new SharedLimits();
  const usual = secureContextOf(options, undefined);
  const openWith = (secureContext: SecureContext): ConnectionGroup => {
    const dial = { ...options, secureContext };
    const connect = proxy ? proxiedConnector(dial, proxy, usual) : guardedConnector(dial);
    return openGroup(options, connect, shared);
  };
  const plain = openWith(usual);
  /** By TLS settings. */
  const others = new LRUCache<string, ConnectionGroup>({
    maxSize: maxGroupBytes,
    dispose: (group) => group.retire(),
  });

  const sweep = setInterval(() => {
    for (const key of others.rkeys()) {
      const group = others.peek(key);
      if (group && performance.now() - group.usedAt < unusedGroupMs) break;
      others.delete(key);
    }
  }, sweepEveryMs);
  sweep.unref();

  return {
    /** @throws the error of OpenSSL where the settings are invalid */
    groupFor(tls: TlsSettings | undefined): ConnectionGroup {
      if (!tls) return plain;
      const key = keyOf(tls);
      let group = others.get(key);
      if (!group) {
        group = openWith(secureContextOf(options, tls));
        others.set(key, group, { size: bytesOf(tls) });
      }
      group.usedAt = performance.now();
      return group;
    },
    /** Closes every connection. Exchanges in flight fail. */
    async close(): Promise<void> {
      clearInterval(sweep);
      await Promise.all([plain, ...others.values()].map((group) => group.destroy()));
    },
  };
}

const keys = new WeakMap<TlsSettings, string>();

/** The key is a digest of the content, so a change elsewhere in a destination closes no connection. */
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

function bytesOf({ ca = '', clientCertificate = '', clientKey = '' }: TlsSettings): number {
  const { store, perCharacter } = groupBytes;
  return store + perCharacter * (ca.length + clientCertificate.length + clientKey.length);
}

function openGroup(
  { maxConnectionAgeMs }: PoolsOptions,
  connect: Connector,
  shared: SharedLimits,
): ConnectionGroup {
  const connectionOptions = {
    connect,
    maxAgeMs: maxConnectionAgeMs,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: maxResponseHeaderBytes,
    // A receiver may ask for a shorter time, or for a longer one up to this.
    keepAliveMaxTimeout: Math.max(1, maxConnectionAgeMs),
    // The exchange has its own timeout.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  return new ConnectionGroup(connectionOptions, shared);
}

/** The handle of OpenSSL, which Node does not document. */
interface OpenedContext extends SecureContext {
  readonly context: { addCACert(pem: string): void };
}

/**
 * The authorities are added to a copy of the store of the process. With the option `ca` of Node they would replace it, and
 * to pass those of the system again costs 1.3 MB and up to 30 ms, in which nothing else runs.
 */
function secureContextOf({ authorities }: PoolsOptions, tls: TlsSettings | undefined): SecureContext {
  const secureContext: OpenedContext = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(tls?.clientKey !== undefined && { cert: tls.clientCertificate, key: tls.clientKey }),
  });
  for (const ca of authorities) secureContext.context.addCACert(ca);
  if (tls?.ca !== undefined) secureContext.context.addCACert(tls.ca);
  return secureContext;
}
