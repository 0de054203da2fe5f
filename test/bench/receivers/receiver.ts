/** The handle on the receivers' process, and the check of the requests that arrived. */
import { createHmac } from 'node:crypto';
import { numberOf } from '../load/calls.ts';
import { startChild } from '../processes/children.ts';

/** The arrivals of one run. `receivedAt` is on the shared clock, by index of the call; NaN if it is missing. */
export interface Arrivals {
  readonly receivedAt: Float64Array;
  /** Arrivals of a call after its first, and of calls of earlier runs. */
  repeated: number;
  /** Requests without the number of a call that was sent. */
  unexpected: number;
  readonly samples: Sample[];
}

export interface Sample {
  readonly number: number;
  readonly body: Uint8Array;
  /** The header X-Signature. */
  readonly signature: string;
}

/** The behaviour of an endpoint. Only requests answered with 204 count as arrived. */
export type Behaviour =
  /** 204, immediately. */
  | { readonly kind: 'answers' }
  /** 500, immediately or after a delay. */
  | { readonly kind: 'fails'; readonly afterMs?: number }
  /** 500 until the bench lets it recover, then 204. */
  | { readonly kind: 'is down' }
  /** Reads the request and never answers. */
  | { readonly kind: 'is silent' }
  /** 204 after a delay, to any number of requests at a time. */
  | { readonly kind: 'is slow'; readonly eachMs: number }
  /** Reads the request and sends header lines without end. */
  | { readonly kind: 'trickles' }
  /** Uses TLS with an untrusted certificate. */
  | { readonly kind: 'is self-signed' }
  /** One origin with several behaviours, selected by the path of the URL. */
  | { readonly kind: 'by path'; readonly paths: Readonly<Record<string, Behaviour>> }
  /** Resets the connection when the request has arrived. */
  | { readonly kind: 'resets' }
  /** Handles one request at a time, in order of arrival, with a delay for each. */
  | { readonly kind: 'is serial'; readonly eachMs: number }
  /** 204 to a number of requests in each second, 429 to the rest. */
  | { readonly kind: 'throttles'; readonly perSecond: number }
  /** 503 to the first request of every nth call, with these waits in turn as Retry-After. */
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
  /** The time on the shared clock. */
  | { readonly kind: 'recovered'; readonly at: number }
  /** All expected calls of the run have arrived. */
  | { readonly kind: 'complete'; readonly first: number }
  | { readonly kind: 'arrivals'; readonly arrivals: Arrivals };

export interface Receiver extends AsyncDisposable {
  readonly pid: number;
  /** Opens an endpoint for each behaviour on its own port, and returns their URLs. */
  listen<const Wanted extends readonly Behaviour[]>(
    behaviours: Wanted,
  ): Promise<{ [Place in keyof Wanted]: string }>;
  /** Starts a run of `count` calls, numbered from `first`, of which `arriving` (default: all) are expected. */
  expect(run: { readonly first: number; readonly count: number; readonly arriving?: number }): Promise<void>;
  /** Resolves when all expected calls have arrived, or after `timeoutMs`. */
  complete(timeoutMs: number): Promise<void>;
  /** Lets every endpoint that is down recover; returns the time on the shared clock. */
  recover(): Promise<number>;
  /** The arrivals of the run until now. */
  handOver(): Promise<Arrivals>;
}

const answersWithinMs = 10_000;

export function startReceiver(): Receiver {
  const child = startChild<ToReceiver, FromReceiver>('receivers/receiver-process.ts');
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
        // An earlier run may have been completed after its wait had ended.
        while ((await child.receive('complete', deadline - performance.now())).first !== current);
      } catch {
        // Missing calls are counted from the arrivals.
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
 * One sentence for each sample that is not the call that was sent, signed with `secret`. The digest is computed here,
 * independently of the project's code.
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
