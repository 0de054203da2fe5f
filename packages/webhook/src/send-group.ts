/**
 * The connections with one set of TLS settings, by destination and origin. A request uses the free connection that
 * was used last, or dials a new one, so it never waits for another request. Idle connections end by their
 * keep-alive timeout. A pool is removed with its last connection, so no sweep is needed.
 */
import type { Dispatcher } from 'undici';
import {
  Connection,
  type CarriedExchange,
  type ConnectionOptions,
  type ConnectionOwner,
} from './send-connection.ts';

/** For one destination and origin. A receiver that never ends its responses must not accumulate connections. */
const maxUnreadInPool = 16;

/** Limits on all connections of a sender together. */
export class SharedLimits {
  /** Idle connections that are kept alive. */
  readonly idle = new Bounded(1_000, (connection) => connection.end());
  /** Connections whose response has a status, but was not read to its end. */
  readonly unread = new Bounded(512, (connection) => connection.cut());
}

/** A set of connections. Where one is added beyond `max`, the oldest is evicted. */
class Bounded {
  readonly #connections = new Set<Connection>();
  readonly #max: number;
  readonly #evict: (connection: Connection) => void;

  constructor(max: number, evict: (connection: Connection) => void) {
    this.#max = max;
    this.#evict = evict;
  }

  add(connection: Connection): void {
    this.#connections.add(connection);
    if (this.#connections.size <= this.#max) return;
    const [first] = this.#connections;
    if (!first) return;
    this.#connections.delete(first);
    this.#evict(first);
  }

  delete(connection: Connection): void {
    this.#connections.delete(connection);
  }
}

export class ConnectionGroup {
  usedAt = performance.now();
  readonly #options: ConnectionOptions;
  readonly #shared: SharedLimits;
  /** By destination and origin. */
  readonly #pools = new Map<string, Pool>();
  #retired = false;
  #destroyed = false;

  constructor(options: ConnectionOptions, shared: SharedLimits) {
    this.#options = options;
    this.#shared = shared;
  }

  /** The number of pairs of destination and origin that have connections. */
  get size(): number {
    return this.#pools.size;
  }

  dispatch(destinationId: string, request: Dispatcher.DispatchOptions, exchange: CarriedExchange): void {
    const pool = this.#poolFor(destinationId, String(request.origin));
    this.#send(pool.reuse() ?? pool.open(), request, exchange);
  }

  /** Dispatches on a new connection, which closes after this request. */
  dispatchAlone(destinationId: string, request: Dispatcher.DispatchOptions, exchange: CarriedExchange): void {
    const pool = this.#poolFor(destinationId, String(request.origin));
    this.#send(pool.open(), { ...request, reset: true }, exchange);
  }

  /** Ends its connections as they become free. */
  retire(): void {
    this.#retired = true;
    for (const pool of this.#pools.values()) pool.retire();
  }

  async destroy(): Promise<void> {
    this.#destroyed = true;
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }

  #send(connection: Connection, request: Dispatcher.DispatchOptions, exchange: CarriedExchange): void {
    if (this.#destroyed) void connection.destroy();
    connection.dispatch(this.#retired ? { ...request, reset: true } : request, exchange);
  }

  #poolFor(destinationId: string, origin: string): Pool {
    const key = `${destinationId} ${origin}`;
    let pool = this.#pools.get(key);
    if (!pool) {
      pool = new Pool(origin, this.#options, this.#shared, () => this.#pools.delete(key));
      this.#pools.set(key, pool);
    }
    return pool;
  }
}

class Pool implements ConnectionOwner {
  readonly #origin: string;
  readonly #options: ConnectionOptions;
  readonly #shared: SharedLimits;
  readonly #onEmpty: () => void;
  readonly #all = new Set<Connection>();
  /** The most recently used connection is last. */
  readonly #free: Connection[] = [];
  readonly #unread = new Bounded(maxUnreadInPool, (connection) => connection.cut());
  #retired = false;

  constructor(origin: string, options: ConnectionOptions, shared: SharedLimits, onEmpty: () => void) {
    this.#origin = origin;
    this.#options = options;
    this.#shared = shared;
    this.#onEmpty = onEmpty;
  }

  reuse(): Connection | undefined {
    const connection = this.#free.pop();
    if (connection) this.#shared.idle.delete(connection);
    return connection;
  }

  open(): Connection {
    const connection = new Connection(this.#origin, this.#options, this);
    this.#all.add(connection);
    return connection;
  }

  /** Ends its connections as they become free. */
  retire(): void {
    this.#retired = true;
    for (const connection of [...this.#free]) connection.end();
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.#all].map((connection) => connection.destroy()));
  }

  answered(connection: Connection): void {
    this.#unread.add(connection);
    this.#shared.unread.add(connection);
  }

  free(connection: Connection): void {
    if (this.#retired) {
      this.over(connection);
      return;
    }
    this.#read(connection);
    this.#free.push(connection);
    this.#shared.idle.add(connection);
  }

  over(connection: Connection): void {
    if (!this.#all.delete(connection)) return;
    this.#read(connection);
    const place = this.#free.indexOf(connection);
    if (place >= 0) this.#free.splice(place, 1);
    this.#shared.idle.delete(connection);
    if (!connection.destroyed) void connection.close();
    if (this.#all.size === 0) this.#onEmpty();
  }

  #read(connection: Connection): void {
    this.#unread.delete(connection);
    this.#shared.unread.delete(connection);
  }
}
