/** The handle on the receivers' process, and the check of what arrived there. */
import { createHmac } from 'node:crypto';
import { numberOf } from './calls.ts';
import { startChild } from './children.ts';

/** What arrived of one run. `receivedAt` is on the shared clock, by index of the call; NaN where it is missing. */
export interface Arrivals {
  readonly receivedAt: Float64Array;
  /** Arrivals of a call beyond its first, and of calls of earlier runs. */
  repeated: number;
  /** Requests that hold no number of a call that was sent. */
  unexpected: number;
  readonly samples: Sample[];
}

export interface Sample {
  readonly number: number;
  readonly body: Uint8Array;
  /** The header X-Signature. */
  readonly signature: string;
}

/** What an endpoint does with each request. Only what is answered with 204 counts as arrived. */
export type Behaviour =
  /** 204, at once. */
  | { readonly kind: 'answers' }
  /** 500, at once or after so long. */
  | { readonly kind: 'fails'; readonly afterMs?: number }
  /** 500 until the bench says that it has recovered, then 204. */
  | { readonly kind: 'is down' }
  /** Takes the request and never answers. */
  | { readonly kind: 'is silent' }
  /** 204 after so long, to any number of requests at a time. */
  | { readonly kind: 'is slow'; readonly eachMs: number }
  /** Takes the request and sends one header line after the other, without an end. */
  | { readonly kind: 'trickles' }
  /** Speaks TLS with a certificate that nobody trusts. */
  | { readonly kind: 'is self-signed' }
  /** One origin with several behaviours: that of the URL's path. */
  | { readonly kind: 'by path'; readonly paths: Readonly<Record<string, Behaviour>> }
  /** Resets the connection when the request is there. */
  | { readonly kind: 'resets' }
  /** Works on one request at a time, in the order in which they came, so long on each. */
  | { readonly kind: 'is serial'; readonly eachMs: number }
  /** 204 to so many requests in each second, 429 to those beyond. */
  | { readonly kind: 'throttles'; readonly perSecond: number }
  /** 503 to the first request for one call in so many, and asks in turn for one of these waits. */
  | { readonly kind: 'fails once'; readonly oneIn: number; readonly retryAfterSeconds: readonly number[] };

export type ToReceiver =
  | { readonly kind: 'listen'; readonly behaviours: readonly Behaviour[] }
  | {
      readonly kind: 'expect';
      readonly first: number;
      readonly count: number;
      readonly arriving: number;
    }
  | { readonly kind: 'recover' }
  | { readonly kind: 'hand over' };

export type FromReceiver =
  | { readonly kind: 'listening'; readonly ports: readonly number[] }
  | { readonly kind: 'expecting' }
  /** At this time of the shared clock. */
  | { readonly kind: 'recovered'; readonly at: number }
  /** Every call of the run that is to arrive has arrived. */
  | { readonly kind: 'complete'; readonly first: number }
  | { readonly kind: 'arrivals'; readonly arrivals: Arrivals };

export interface Receiver extends AsyncDisposable {
  readonly pid: number;
  /** Opens an endpoint for each behaviour, on a port of its own, and gives their URLs. */
  listen<const Wanted extends readonly Behaviour[]>(
    behaviours: Wanted,
  ): Promise<{ [Place in keyof Wanted]: string }>;
  /** Begins a run of `count` calls, numbered from `first`, of which `arriving` (by default all) are to arrive. */
  expect(run: { readonly first: number; readonly count: number; readonly arriving?: number }): Promise<void>;
  /** Resolves when all calls that are to arrive have, or after `timeoutMs` if some have not. */
  complete(timeoutMs: number): Promise<void>;
  /** Ends the trouble of every endpoint that is down; gives when, on the shared clock. */
  recover(): Promise<number>;
  /** What has arrived of the run until now. */
  handOver(): Promise<Arrivals>;
}

const answersWithinMs = 10_000;

export function startReceiver(): Receiver {
  const child = startChild<ToReceiver, FromReceiver>('receiver-process.ts');
  let current = NaN;
  return {
    pid: child.pid,
    async listen<const Wanted extends readonly Behaviour[]>(behaviours: Wanted) {
      child.send({ kind: 'listen', behaviours });
      const { ports } = await child.receive('listening', answersWithinMs);
      const schemeOf = (place: number): string =>
        behaviours[place]?.kind === 'is self-signed' ? 'https' : 'http';
      return ports.map((port, place) => `${schemeOf(place)}://127.0.0.1:${port}/hook`) as {
        [Place in keyof Wanted]: string;
      };
    },
    async expect({ first, count, arriving = count }) {
      current = first;
      child.send({ kind: 'expect', first, count, arriving });
      await child.receive('expecting', answersWithinMs);
    },
    async complete(timeoutMs) {
      const deadline = performance.now() + timeoutMs;
      try {
        // An earlier run may have become complete when nobody waited for it any more.
        while ((await child.receive('complete', deadline - performance.now())).first !== current);
      } catch {
        // What is missing is found, and counted, among the arrivals.
      }
    },
    async recover() {
      child.send({ kind: 'recover' });
      return (await child.receive('recovered', answersWithinMs)).at;
    },
    async handOver() {
      child.send({ kind: 'hand over' });
      return (await child.receive('arrivals', answersWithinMs)).arrivals;
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

/**
 * One sentence for each sample that is not the call that was sent, signed with `secret`. The digest is made
 * here, with no code of the project's.
 */
export function faultsOf(samples: readonly Sample[], secret: string): string[] {
  return samples.flatMap(({ number, body, signature }) => {
    const right = createHmac('sha1', secret).update(body).digest('hex');
    const { version, type, event } = JSON.parse(Buffer.from(body).toString()) as Record<string, unknown>;
    return [
      ...(signature === right ? [] : [`call ${number} is signed ${signature} and not ${right}`]),
      ...(version === 1 &&
      type === 'track' &&
      event === 'Order Completed' &&
      numberOf(Buffer.from(body)) === number
        ? []
        : [`call ${number} arrived as ${Buffer.from(body).toString()}`]),
    ];
  });
}
