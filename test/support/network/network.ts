/**
 * A network of parties on loopback. Each party reaches each other one at an address of its own, where a proxy passes the bytes on. What
 * one party sends to another can be cut, slow or lossy. As in a real network, nothing is lost for good: connections stay open, and what
 * was sent during a cut arrives after it.
 */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { pace } from '../steadily.ts';

export type Weather = 'clear' | 'cut' | 'slow' | 'lossy';

const slowMs = 200;
/** A lost packet is sent again after a while, and all later ones wait for it. */
const lossRate = 0.05;
const sentAgainMs = 400;

/** What one party sends to another. */
class Wire {
  #weather: Weather = 'clear';
  #clear = Promise.withResolvers<undefined>();

  set weather(weather: Weather) {
    if (this.#weather === 'cut') this.#clear.resolve(undefined);
    if (weather === 'cut') this.#clear = Promise.withResolvers<undefined>();
    this.#weather = weather;
  }

  /** Resolves when what is sent now arrives; undefined where it does immediately. */
  journey(): Promise<unknown> | undefined {
    switch (this.#weather) {
      case 'clear':
        return undefined;
      case 'cut':
        return this.#clear.promise;
      case 'slow':
        return pace(slowMs);
      case 'lossy':
        return Math.random() < lossRate ? pace(sentAgainMs) : undefined;
    }
  }
}

export class Network implements AsyncDisposable {
  /** In the order of their numbers, from 1 on. */
  readonly #parties: readonly string[];
  readonly #wires = new Map<string, Wire>();
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();

  constructor(parties: readonly string[]) {
    if (parties.length > 250) throw new RangeError('a network has at most 250 parties');
    this.#parties = parties;
  }

  /** Applies to what `from` sends to `to` from now on. */
  set(from: string, to: string, weather: Weather): void {
    this.#wire(from, to).weather = weather;
  }

  /** Where `from` reaches `to`. */
  address(from: string, to: string): string {
    return `127.0.${this.#numberOf(from)}.${this.#numberOf(to)}`;
  }

  /** From now on `from` reaches this port of `to`, which listens on 127.0.0.1. */
  async open(from: string, to: string, port: number): Promise<void> {
    const [there, back] = [this.#wire(from, to), this.#wire(to, from)];
    const server = createServer((client) => {
      const upstream = connect(port, '127.0.0.1');
      this.#pass(client, upstream, there);
      this.#pass(upstream, client, back);
    });
    this.#servers.push(server);
    server.listen(port, this.address(from, to));
    await once(server, 'listening');
  }

  /** Passes on what comes from `source`, and its end. */
  #pass(source: Socket, target: Socket, wire: Wire): void {
    this.#sockets.add(source);
    let last = Promise.resolve();
    let waiting = 0;
    const send = (act: () => void): void => {
      const [before, journey] = [last, wire.journey()];
      if (waiting === 0 && !journey) {
        act();
        return;
      }
      waiting += 1;
      last = (async () => {
        await before;
        await journey;
        act();
        waiting -= 1;
      })();
    };
    source.setNoDelay(true);
    source.on('data', (chunk) => {
      send(() => target.write(chunk));
    });
    // An error is followed by `close`.
    source.on('error', () => undefined);
    source.on('close', () => {
      this.#sockets.delete(source);
      send(() => {
        target.destroySoon();
      });
    });
  }

  #wire(from: string, to: string): Wire {
    const name = `${from}>${to}`;
    const wire = this.#wires.get(name) ?? new Wire();
    this.#wires.set(name, wire);
    return wire;
  }

  #numberOf(party: string): number {
    const place = this.#parties.indexOf(party);
    if (place < 0) throw new RangeError(`the network has no party ${party}`);
    return place + 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.#servers.map(async (server) => {
      server.close();
      await once(server, 'close');
    });
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }
}
