/** The agent of the connection: TLS options, and proxies as Node's own settings have them. */
import { Agent, globalAgent, type AgentOptions } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { invalidOption } from '../core/errors.ts';
import type { ConnectionOptions } from './connection-options.ts';

/** One connection, so no scheduling option is needed. Idle connections do not keep the process alive. */
const connection = { keepAlive: true, maxSockets: 1 };

export interface UsedAgent {
  readonly agent: Agent;
  /** Ends all connections of an attempt that has taken too long, also those that its request does not have yet. */
  readonly abandon: (reason: Error) => void;
  readonly close: () => void;
}

/**
 * Knows its connections, also those to a proxy that has not opened its tunnel. Node gives these to no request, so ending
 * the request does not end them, and nothing else would where the proxy or the server behind it is silent.
 */
class TunnelAgent extends SecureAgent {
  readonly #connections = new Set<Duplex>();

  override createConnection(...parameters: Parameters<SecureAgent['createConnection']>) {
    const socket = super.createConnection(...parameters);
    if (socket) {
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
      // A request listens to its own connection, but nothing does to the one below a tunnel.
      socket.on('error', () => undefined);
    }
    return socket;
  }

  abandon(reason: Error): void {
    for (const socket of this.#connections) socket.destroy(reason);
  }
}

/** @throws AnalyticsError `invalid-options` */
export function agentOf({ agent, tls, proxy }: ConnectionOptions, url: URL): UsedAgent {
  if (agent !== undefined) {
    if (tls ?? proxy)
      throw invalidOption('agent', 'cannot be combined with tls or proxy: set them in the agent');
    return { agent: agent as Agent, abandon: () => undefined, close: () => undefined };
  }
  const proxyEnv = proxy === undefined ? proxyOfNode() : proxyOf(proxy);
  const options = { ...connection, ...(proxyEnv && { proxyEnv }) };
  if (url.protocol === 'http:') {
    if (tls) throw invalidOption('tls', 'needs an endpoint that begins with https://');
    const plain = new Agent(options);
    return {
      agent: plain,
      abandon: () => undefined,
      close: () => plain.destroy(),
    };
  }
  // The types of node:tls do not take undefined or read-only lists.
  const untyped: object | undefined = tls;
  const secure = new TunnelAgent({ ...options, ...untyped });
  return {
    agent: secure,
    abandon: (reason) => secure.abandon(reason),
    close: () => secure.destroy(),
  };
}

/** The environment of the proxy where Node is configured to use it. */
function proxyOfNode(): AgentOptions['proxyEnv'] {
  return (globalAgent as { options?: AgentOptions }).options?.proxyEnv;
}

function proxyOf(proxy: string): AgentOptions['proxyEnv'] {
  const isUrl = URL.canParse(proxy) && /^https?:$/.test(new URL(proxy).protocol);
  if (!isUrl) throw invalidOption('proxy', 'must be a URL that begins with http:// or https://');
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isSupported = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);
  if (!isSupported)
    throw invalidOption('proxy', 'needs Node 22.21, 24.5 or later; with another, set an agent');
  return { HTTP_PROXY: proxy, HTTPS_PROXY: proxy };
}
