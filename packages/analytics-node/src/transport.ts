/** The interface of the transports: HTTP and Kafka. */
import type { Call } from './encode.ts';

export interface Transport {
  /** Limits of one batch. */
  readonly limits: BatchLimits;
  /** One attempt. It never rejects, and ends early once `signal` is aborted. */
  readonly send: (calls: readonly Call[], signal: AbortSignal) => Promise<Outcome>;
  readonly close: () => void;
}

export interface BatchLimits {
  /** Limit of the JSON of all calls, with a comma for each. */
  readonly bytes: number;
  readonly calls: number;
}

export type Outcome =
  | { readonly kind: 'sent'; readonly status?: number; readonly rejected: readonly Rejection[] }
  /** A retry may succeed, not before `afterMs`. */
  | { readonly kind: 'failed'; readonly status?: number; readonly reason: string; readonly afterMs: number }
  /** A retry will not succeed. */
  | { readonly kind: 'refused'; readonly status?: number; readonly reason: string };

/** A rejected call of a batch that was accepted otherwise. */
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
