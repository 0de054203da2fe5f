/** The record of `attempts`: what one attempt did, as JSON. It is for looking at, never for deciding. */

/** What one URL answered in one attempt. */
export interface UrlAttempt {
  /** Scheme, host, port and path; a query may hold secrets and is left out. */
  readonly url: string;
  /** HTTP status, where there was an answer. */
  readonly status?: number | undefined;
  /** Why it did not succeed; absent on success. */
  readonly reason?: string | undefined;
  /** What the network or TLS said, where the reason came from there. */
  readonly detail?: string | undefined;
  readonly latencyMs: number;
}

export interface AttemptRecord {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly sourceId: string;
  readonly destinationId: string;
  readonly type: string;
  /** The name of a track call's event. */
  readonly event?: string | undefined;
  /** The user that the event is about: the userId, else the anonymousId. */
  readonly userKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** ISO 8601, UTC with milliseconds. */
  readonly startedAt: string;
  readonly latencyMs: number;
  readonly outcome: 'delivered' | 'retry' | 'dead';
  /** Why it is retried or dead; absent where it was delivered. */
  readonly reason?: string | undefined;
  /** When the next attempt is due; only with outcome `retry`. */
  readonly nextDueAt?: string | undefined;
  readonly urls: readonly UrlAttempt[];
}
