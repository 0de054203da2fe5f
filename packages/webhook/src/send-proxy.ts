/**
 * Connections through the egress proxy of the operator: a tunnel to the receiver (`CONNECT`), for http and https alike, in which
 * everything is as without a proxy. The proxy looks up the names of receivers.
 */
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { EgressProxy } from '@tailrace/service';
import { Client } from 'undici';
import {
  connectorOf,
  lookupWith,
  refusalOf,
  withoutBrackets,
  type Connector,
  type DialOptions,
} from './send-connection.ts';

const maxAnswerHeaderBytes = 16 * 1024;
const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** @param proxyContext for a proxy with https */
export function proxiedConnector(
  { policy, lookup: lookUp, timeoutMs, secureContext }: DialOptions,
  { url, credentials }: EgressProxy,
  proxyContext: SecureContext,
): Connector {
  const lookup = lookupWith(lookUp);
  const toProxy = connectorOf({ lookup, timeoutMs, secureContext: proxyContext });
  const toReceiver = connectorOf({ lookup, timeoutMs, secureContext });
  const { protocol, hostname, host, port } = new URL(url);
  const proxy = { protocol, hostname: withoutBrackets(hostname), host, port };
  const authorization = credentials && {
    'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`,
  };

  return (target, callback, dial) => {
    const refusal = refusalOf(knownAddress(target.hostname), policy);
    if (refusal) {
      callback(refusal, null);
      return;
    }
    const client = new Client(url, {
      connect: (_options, connected) => {
        const socket = toProxy(proxy, (...result) => {
          if (result[1]) dial.waitsFor = 'tunnel';
          connected(...result);
        });
        dial.followToProxy(socket);
      },
      maxHeaderSize: maxAnswerHeaderBytes,
      // The signal ends it.
      headersTimeout: 0,
    });
    const { host = '', port, protocol } = target;
    const authority = port === '' ? `${host}:${defaultPorts[protocol] ?? ''}` : host;
    const signal = AbortSignal.timeout(timeoutMs);
    const headers = { host: authority, ...authorization };
    const asked = client.connect({ path: authority, headers, signal });
    asked.then(
      ({ socket, statusCode }) => {
        const tunnel = (socket as Socket).on('error', () => undefined);
        if (statusCode < 200 || statusCode > 299) {
          tunnel.destroy();
          // Some proxies answer 401 to wrong credentials.
          const code = [401, 407].includes(statusCode) ? 'PROXY_UNAUTHORIZED' : 'PROXY_REFUSED';
          callback(new ProxyFailure(code, `the proxy answered CONNECT with ${statusCode}`), null);
          return;
        }
        dial.connected();
        if (protocol === 'http:') callback(null, tunnel);
        else dial.followHandshake(toReceiver({ ...target, httpSocket: tunnel }, callback));
      },
      (error: unknown) => {
        void client.destroy();
        const code = signal.aborted ? 'ETIMEDOUT' : 'PROXY_UNREACHABLE';
        callback(new ProxyFailure(code, `the proxy: ${(error as Error).message}`), null);
      },
    );
  };
}

/** Has no `cause`: the error of the network is not that of the receiver. */
class ProxyFailure extends Error {
  readonly code: string;

  constructor(
    code: 'PROXY_REFUSED' | 'PROXY_UNAUTHORIZED' | 'PROXY_UNREACHABLE' | 'ETIMEDOUT',
    message: string,
  ) {
    super(message);
    this.code = code;
  }
}

/** `localhost` is the proxy itself (RFC 6761), whatever its name servers say. */
function knownAddress(hostname: string): string {
  return /(^|\.)localhost\.?$/i.test(hostname) ? '127.0.0.1' : withoutBrackets(hostname);
}
