/**
 * Connections to receivers. The address policy is applied here, when a connection is dialled. A connection also
 * records its age, how it was made, how many exchanges it has served, and whether the receiver reads its requests.
 */
import { isIP, type LookupFunction, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { buildConnector, Client, type Dispatcher } from 'undici';
import type { AddressPolicy } from './address.ts';
import type { NameLookup } from './dns/resolve.ts';

export interface DialOptions {
  readonly policy: AddressPolicy;
  readonly lookup: NameLookup;
  readonly timeoutMs: number;
  readonly secureContext: SecureContext;
}

/** As that of undici, and follows the steps in `dial`. */
export type Connector = (
  options: buildConnector.Options,
  callback: buildConnector.Callback,
  dial: Dial,
) => void;

export interface ConnectionOptions extends Omit<Client.Options, 'connect'> {
  readonly connect: Connector;
  /** A connection that is older carries no further exchange. */
  readonly maxAgeMs: number;
}

/** How the connection of an exchange was made, as far as it got. The times are absent where an earlier exchange has used it. */
export interface Dialled {
  /** With the port. Of several addresses of a name, the last one. */
  readonly address?: string;
  /** That of the egress proxy, where the connection leads through it. Only the proxy knows the one of the receiver. */
  readonly proxy?: string;
  readonly dnsMs?: number;
  readonly connectMs?: number;
  readonly tlsMs?: number;
}

/** The connection that carries an exchange: its state, and the events that the exchange reports to it. */
export interface Carrier {
  readonly dialled: Dialled;
  /** While the connection is made through a proxy: to be connected to it, or for its tunnel. */
  readonly waitsFor: 'proxy' | 'tunnel' | undefined;
  /** Completed exchanges. */
  readonly served: number;
  /** Response bytes received so far. */
  readonly receivedBytes: number;
  /** The final response has started. The exchange does not need its remaining bytes. */
  answered(): void;
  /** The exchange is complete. */
  ended(): void;
  /** The exchange failed. */
  failed(): void;
}

/** An exchange that learns which connection carries it, before it starts. */
export interface CarriedExchange extends Dispatcher.DispatchHandler {
  assigned(carrier: Carrier): void;
}

/** Receives the state changes of a connection. */
export interface ConnectionOwner {
  answered(connection: Connection): void;
  /** The connection can carry another exchange. */
  free(connection: Connection): void;
  /** The connection has ended, or will carry no further exchange. */
  over(connection: Connection): void;
}

/** An undici client with one connection, which carries one exchange at a time. */
export class Connection extends Client {
  readonly #socketState: SocketState;
  readonly #owner: ConnectionOwner;
  readonly #maxAgeMs: number;
  #carries = false;
  #isLast = false;

  constructor(
    origin: URL | string,
    { connect, maxAgeMs, ...options }: ConnectionOptions,
    owner: ConnectionOwner,
  ) {
    const socketState = new SocketState();
    super(origin, {
      ...options,
      connect: (target, callback) => {
        connect(
          target,
          (...[error, socket]) => {
            if (error) {
              callback(error, null);
              return;
            }
            socketState.begin(socket);
            callback(null, socket);
          },
          socketState.dialling(),
        );
      },
    });
    this.#socketState = socketState;
    this.#owner = owner;
    this.#maxAgeMs = maxAgeMs;
    this.on('disconnect', () => {
      // An exchange in flight reports its own end. For one that has just been dispatched, undici dials again.
      if (!this.#carries) owner.over(this);
    });
  }

  override dispatch(options: Dispatcher.DispatchOptions, exchange: CarriedExchange): boolean {
    this.#carries = true;
    // `reset` sends `Connection: close`, so the receiver knows that this is the last request.
    this.#isLast = options.reset === true || this.#socketState.olderThan(this.#maxAgeMs);
    exchange.assigned(this);
    return super.dispatch(this.#isLast ? { ...options, reset: true } : options, exchange);
  }

  get served(): number {
    return this.#socketState.served;
  }

  get receivedBytes(): number {
    return this.#socketState.receivedBytes;
  }

  get dialled(): Dialled {
    return this.#socketState.dialled;
  }

  get waitsFor(): Carrier['waitsFor'] {
    return this.#socketState.waitsFor;
  }

  answered(): void {
    this.#owner.answered(this);
  }

  ended(): void {
    this.#carries = false;
    this.#socketState.ended();
    if (this.#isLast) this.#owner.over(this);
    else this.#owner.free(this);
  }

  failed(): void {
    this.#carries = false;
    this.#owner.over(this);
  }

  /** Closes the connection after the exchange in flight. */
  end(): void {
    this.#owner.over(this);
  }

  /** Destroys the connection, with the exchange in flight. */
  cut(): void {
    this.#socketState.cut();
  }
}

class SocketState {
  served = 0;
  #socket: Socket | undefined;
  #dial: Dial | undefined;
  #begunAt = 0;

  dialling(): Dial {
    this.served = 0;
    return (this.#dial = new Dial());
  }

  get dialled(): Dialled {
    return this.#dial?.result(this.served === 0) ?? {};
  }

  get waitsFor(): Carrier['waitsFor'] {
    return this.#dial?.waitsFor;
  }

  begin(socket: Socket): void {
    this.#socket = socket;
    this.#begunAt = performance.now();
    this.served = 0;
  }

  get receivedBytes(): number {
    return this.#socket?.bytesRead ?? 0;
  }

  olderThan(ageMs: number): boolean {
    return this.#socket?.destroyed === false && performance.now() - this.#begunAt > ageMs;
  }

  ended(): void {
    this.served += 1;
    // A receiver that answers without reading the request would let unsent requests accumulate in memory.
    if (this.#socket && this.#socket.writableLength > 0) this.cut();
  }

  cut(): void {
    this.#socket?.destroy();
  }
}

/** The steps of a connection while it is made, in milliseconds of the monotonic clock. */
class Dial {
  waitsFor: Carrier['waitsFor'];
  readonly #begunAt = performance.now();
  #isProxied = false;
  #address: string | undefined;
  #foundAt: number | undefined;
  #connectedAt: number | undefined;
  #securedAt: number | undefined;

  follow(socket: Socket): void {
    this.#followAttempts(socket);
    socket.once('connect', () => {
      this.connected();
    });
    this.followHandshake(socket);
  }

  /** The connection to the receiver is made later, in the tunnel of this one. */
  followToProxy(socket: Socket): void {
    this.#isProxied = true;
    this.waitsFor = 'proxy';
    this.#followAttempts(socket);
  }

  connected(): void {
    this.#connectedAt = performance.now();
    this.waitsFor = undefined;
  }

  followHandshake(socket: Socket): void {
    socket.once('secureConnect', () => {
      this.#securedAt = performance.now();
    });
  }

  #followAttempts(socket: Socket): void {
    socket.on('connectionAttempt', (ip, port, family) => {
      this.#address = family === 6 ? `[${ip}]:${port}` : `${ip}:${port}`;
      this.#foundAt ??= performance.now();
    });
  }

  result(withTimes: boolean): Dialled {
    if (this.#address === undefined) return {};
    const address = this.#isProxied ? { proxy: this.#address } : { address: this.#address };
    if (!withTimes) return address;
    const dnsMs = between(this.#begunAt, this.#foundAt);
    const connectMs = between(this.#foundAt, this.#connectedAt);
    const tlsMs = between(this.#connectedAt, this.#securedAt);
    return {
      ...address,
      ...(dnsMs !== undefined && { dnsMs }),
      ...(connectMs !== undefined && { connectMs }),
      ...(tlsMs !== undefined && { tlsMs }),
    };
  }
}

function between(from: number | undefined, to: number | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : rounded(to - from);
}

export function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/**
 * Dials only addresses that the policy allows. An address in the URL is checked here, those of a name in its
 * look-up.
 */
export function guardedConnector(options: DialOptions): Connector {
  const connect = connectorOf({ ...options, lookup: guardedLookup(options) });
  return (target, callback, dial) => {
    const hostname = withoutBrackets(target.hostname);
    const refusal = refusalOf(hostname, options.policy);
    if (refusal) callback(refusal, null);
    else dial.follow(connect({ ...target, hostname }, callback));
  };
}

export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

type UndiciConnector = ReturnType<typeof buildConnector>;

/** A connector of undici. It returns the socket, which its type does not say. */
export function connectorOf({
  lookup,
  timeoutMs,
  secureContext,
}: Pick<DialOptions, 'timeoutMs' | 'secureContext'> & { readonly lookup: LookupFunction }) {
  return buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    lookup,
    secureContext,
    // Without this, NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would accept every certificate.
    rejectUnauthorized: true,
  }) as (...arguments_: Parameters<UndiciConnector>) => Socket;
}

/** Undefined for a name, and for an address that webhooks may reach. */
export function refusalOf(hostname: string, policy: AddressPolicy): Error | undefined {
  if (isIP(hostname) === 0 || policy.allows(hostname)) return undefined;
  return new AddressNotAllowed(`${hostname} is not an address that webhooks may reach`);
}

class AddressNotAllowed extends Error {
  readonly code = 'ADDRESS_NOT_ALLOWED';
}

function guardedLookup({ policy, lookup }: DialOptions): LookupFunction {
  return lookupWith(async (hostname) => {
    const allowed = (await lookup(hostname)).filter(({ address }) => policy.allows(address));
    if (allowed.length > 0) return allowed;
    throw new AddressNotAllowed(`${hostname} has no address that webhooks may reach`);
  });
}

/** As node:net calls it. */
export function lookupWith(lookup: NameLookup): LookupFunction {
  return (hostname, { all = false }, callback) => {
    lookup(hostname).then(
      (addresses) => {
        const [first = { address: '', family: 4 }] = addresses;
        if (all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, []),
    );
  };
}
