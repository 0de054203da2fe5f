/** The interface of the transports, and the limits of a batch. */
import type { Call } from './encode.ts';

export interface Transport {
  /** Limits of one batch. */
  readonly limits: BatchLimits;
  /** The timeout of an attempt in milliseconds, or Infinity. */
  readonly timeoutMs: number;
  /** One attempt. It never rejects, and ends early once `signal` is aborted. */
  readonly send: (calls: readonly Call[], signal: StopSignal) => Promise<Outcome>;
  readonly close: () => void;
}

/** What the transports of node:http and fetch need. */
export interface HttpSettings {
  readonly writeKey: string;
  /** Timeout of a whole exchange. */
  readonly timeoutMs: number;
  /** Context of every batch as JSON. The server merges it into each call. */
  readonly context: string;
}

/** The part of an AbortSignal that is used. Not every user's compiler has the type. */
export interface StopSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

export interface BatchLimits {
  /** Limit of the JSON of all calls, with a comma for each. */
  readonly bytes: number;
  readonly calls: number;
}

export type Outcome =
  | { readonly kind: 'sent'; readonly status?: number; readonly rejected: readonly Rejection[] }
  /** A retry may succeed, not before `afterMs`. Where it was `slow`, a smaller batch may. */
  | {
      readonly kind: 'failed';
      readonly status?: number;
      readonly reason: string;
      readonly afterMs?: number;
      readonly slow?: boolean;
      /** A 5xx without `Retry-After`: the server may fail for one of the calls. */
      readonly serverError?: boolean;
    }
  /** A retry will not succeed. Where the batch was `divisible`, a part of it may. */
  | {
      readonly kind: 'refused';
      readonly status?: number;
      readonly reason: string;
      readonly divisible?: boolean;
      /** The calls that the server named. */
      readonly rejected?: readonly Rejection[];
    };

/** A rejected call of a batch. */
export interface Rejection {
  /** The index in the batch, from 0. */
  readonly index: number;
  readonly reason: string;
}

/** The largest body, before compression (docs/specification.md, rule 2.2). */
export const maxBatchBytes = 500 * 1024;
export const maxBatchCalls = 2_500;

/** Sent as `context.library`. A test checks it against package.json. */
export const library = { name: 'analytics-node', version: '0.1.0' } as const;
