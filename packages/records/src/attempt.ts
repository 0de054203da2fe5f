/** The record of `attempts`: one attempt and its outcome, as JSON, without a key. No delivery depends on it; `disableAfter` does. */
import type { UrlExchange } from './exchange.ts';

/** The result of one URL in one attempt. */
export interface UrlAttempt {
  /** Scheme, host, port and path; a query may hold secrets and is left out. */
  readonly url: string;
  /** HTTP status; absent where there was no response. */
  readonly status?: number | undefined;
  /** Why the request failed; absent on success. */
  readonly reason?: string | undefined;
  /** The error of the network or of TLS; absent for other failures. */
  readonly detail?: string | undefined;
  readonly latencyMs: number;
  /** Of a failed request; in a header of the record, see exchange.ts. */
  readonly exchange?: UrlExchange | undefined;
}

export interface AttemptRecord {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly sourceId: string;
  readonly destinationId: string;
  readonly type: string;
  /** The event name of a track call, up to 200 characters. */
  readonly event?: string | undefined;
  /** The userId, else the anonymousId. */
  readonly userKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** ISO 8601, UTC with milliseconds. */
  readonly startedAt: string;
  readonly latencyMs: number;
  readonly outcome: 'delivered' | 'retry' | 'dead';
  /** Why the delivery is retried or dead; absent where it was delivered. */
  readonly reason?: string | undefined;
  /** When the next attempt is due; only with outcome `retry`. */
  readonly nextDueAt?: string | undefined;
  /** When the first of the circuit breakers of its URLs opened that are open after the attempt; absent where none is. */
  readonly breakerOpenSince?: string | undefined;
  readonly urls: readonly UrlAttempt[];
}

/** Whether the attempt shows how its receiver is. While the egress proxy is down or refuses its credentials, attempts show nothing of it. */
export function isAboutReceiver({ reason }: { readonly reason?: string | null | undefined }): boolean {
  return reason !== 'proxy-unreachable' && reason !== 'proxy-unauthorized';
}
