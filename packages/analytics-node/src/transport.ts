/** Where batches go: over HTTP, or into Kafka. */
import type { Call } from './encode.ts';

export interface Transport {
  /** Bytes and number of what one batch may hold. */
  readonly limits: BatchLimits;
  /** One attempt, which never rejects. It ends early once `signal` is aborted. */
  readonly send: (calls: readonly Call[], signal: AbortSignal) => Promise<Outcome>;
  readonly close: () => void;
}

export interface BatchLimits {
  /** Of the calls' JSON and a comma for each. */
  readonly bytes: number;
  readonly calls: number;
}

export type Outcome =
  | { readonly kind: 'sent'; readonly status?: number; readonly rejected: readonly Rejection[] }
  /** May pass: try again, not before `afterMs`. */
  | { readonly kind: 'failed'; readonly status?: number; readonly reason: string; readonly afterMs: number }
  /** Will not pass. */
  | { readonly kind: 'refused'; readonly status?: number; readonly reason: string };

/** A call that was set aside, of a batch that was taken otherwise. */
export interface Rejection {
  /** Its place in the batch, from 0. */
  readonly index: number;
  readonly reason: string;
}

/** The largest body, before compression (docs/specification.md, rule 2.2). */
export const maxBatchBytes = 500 * 1024;
export const maxBatchCalls = 2_500;
