/**
 * Connections to receivers. What is dialled is checked here, and a connection is told apart from the next one by
 * what has happened on it: whether it is old, whether it has served before, whether the receiver reads what it answers.
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

export interface ConnectionOptions extends Client.Options {
  readonly connect: buildConnector.connector;
  /** A connection that is older is used no more. */
  readonly maxAgeMs: number;
}

/** What there is to know about the connection that carries an exchange, and what it is to be told. */
export interface Carrier {
  /** Exchanges that have ended well on it. */
  readonly served: number;
  /** Bytes of answers, so far. */
  readonly receivedBytes: number;
  /** The answer has begun; what is left of it matters to nobody. */
  answered(): void;
  /** An exchange has ended well. */
  ended(): void;
  /** It has ended otherwise. */
  failed(): void;
}

/** An exchange that is told which connection carries it, before it starts. */
export interface CarriedExchange extends Dispatcher.DispatchHandler {
  carriedBy(carrier: Carrier): void;
}

/** Told what becomes of a connection. */
export interface Keeper {
  answered(connection: Connection): void;
  /** It can carry another exchange. */
  free(connection: Connection): void;
  /** It has ended, or carries no other exchange. */
  over(connection: Connection): void;
}

/** The client's client: one exchange at a time. */
export class Connection extends Client {
  readonly #line: Line;
  readonly #keeper: Keeper;
  readonly #maxAgeMs: number;
  #carries = false;
  #isLast = false;

  constructor(origin: URL | string, { connect, maxAgeMs, ...options }: ConnectionOptions, keeper: Keeper) {
    const line = new Line();
    super(origin, {
      ...options,
      connect: (target, callback) => {
        connect(target, (...[error, socket]) => {
          if (error) {
            callback(error, null);
            return;
          }
          line.begin(socket);
          callback(null, socket);
        });
      },
    });
    this.#line = line;
    this.#keeper = keeper;
    this.#maxAgeMs = maxAgeMs;
    this.on('disconnect', () => {
      // An exchange that is under way says itself what becomes of it; one that has just come has the client dial again.
      if (!this.#carries) keeper.over(this);
    });
  }

  override dispatch(options: Dispatcher.DispatchOptions, exchange: CarriedExchange): boolean {
    this.#carries = true;
    // The receiver is told that this is the last request, so nothing is lost when the connection ends.
    this.#isLast = options.reset === true || this.#line.olderThan(this.#maxAgeMs);
    exchange.carriedBy(this);
    return super.dispatch(this.#isLast ? { ...options, reset: true } : options, exchange);
  }

  get served(): number {
    return this.#line.served;
  }

  get receivedBytes(): number {
    return this.#line.receivedBytes;
  }

  answered(): void {
    this.#keeper.answered(this);
  }

  ended(): void {
    this.#carries = false;
    this.#line.ended();
    if (this.#isLast) this.#keeper.over(this);
    else this.#keeper.free(this);
  }

  failed(): void {
    this.#carries = false;
    this.#keeper.over(this);
  }

  /** Ends it when it carries nothing more. */
  end(): void {
    this.#keeper.over(this);
  }

  /** Ends it in the middle of what it carries. */
  cut(): void {
    this.#line.cut();
  }
}

class Line {
  served = 0;
  #socket: Socket | undefined;
  #begunAt = 0;

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
    // A receiver that answers what it does not read would have one request after the other kept in memory.
    if (this.#socket && this.#socket.writableLength > 0) this.cut();
  }

  cut(): void {
    this.#socket?.destroy();
  }
}

/** Dials only what the policy allows: an address in the URL is checked here, a name's in its look-up. */
export function guardedConnector(options: DialOptions): buildConnector.connector {
  const { policy, timeoutMs, secureContext } = options;
  const connect = buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    lookup: guardedLookup(options),
    secureContext,
    // Where it is left out, NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment accepts every certificate.
    rejectUnauthorized: true,
  });
  return (target, callback) => {
    const address = target.hostname.replace(/^\[|\]$/g, '');
    if (isIP(address) !== 0 && !policy.allows(address)) {
      callback(new AddressNotAllowed(`${address} is not an address that webhooks may reach`), null);
      return;
    }
    connect({ ...target, hostname: address }, callback);
  };
}

class AddressNotAllowed extends Error {
  readonly code = 'ADDRESS_NOT_ALLOWED';
}

function guardedLookup({ policy, lookup }: DialOptions): LookupFunction {
  return (hostname, { all = false }, callback) => {
    lookup(hostname).then(
      (addresses) => {
        const allowed = addresses.filter(({ address }) => policy.allows(address));
        const [first] = allowed;
        if (!first) {
          callback(new AddressNotAllowed(`${hostname} has no address that webhooks may reach`), []);
        } else if (all) {
          callback(null, allowed);
        } else {
          callback(null, first.address, first.family);
        }
      },
      (error: unknown) => {
        callback(error as NodeJS.ErrnoException, []);
      },
    );
  };
}
