/** The handle on the receiver's process, and the check of what arrived there. */
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

export type ToReceiver =
  | { readonly kind: 'expect'; readonly first: number; readonly count: number }
  | { readonly kind: 'hand over' };

export type FromReceiver =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'expecting' }
  /** Every call of the run has arrived. */
  | { readonly kind: 'complete' }
  | { readonly kind: 'arrivals'; readonly arrivals: Arrivals };

export interface Receiver extends AsyncDisposable {
  readonly pid: number;
  readonly url: string;
  /** Begins a run of `count` calls, numbered from `first`. */
  expect(run: { readonly first: number; readonly count: number }): Promise<void>;
  /** Resolves when all calls of the run have arrived, or after `timeoutMs` if some have not. */
  complete(timeoutMs: number): Promise<void>;
  /** What has arrived of the run until now. */
  handOver(): Promise<Arrivals>;
}

const answersWithinMs = 10_000;

export async function startReceiver(): Promise<Receiver> {
  const child = startChild<ToReceiver, FromReceiver>('receiver-process.ts');
  const { port } = await child.receive('listening', answersWithinMs);
  return {
    pid: child.pid,
    url: `http://127.0.0.1:${port}/hook`,
    async expect(run) {
      child.send({ kind: 'expect', ...run });
      await child.receive('expecting', answersWithinMs);
    },
    async complete(timeoutMs) {
      // What is missing then is found, and counted, among the arrivals.
      await child.receive('complete', timeoutMs).catch(() => undefined);
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
