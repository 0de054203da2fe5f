/** Everything an attempt can end in, as closed unions: a branch that is forgotten does not compile. */

/** Failures that may pass: the URL is tried again. */
export type RetryReason =
  | 'timeout'
  | 'server-error'
  | 'request-timeout'
  | 'too-many-requests'
  | 'connection-refused'
  | 'connection-reset'
  | 'connection-failed'
  | 'dns-failure'
  | 'unreachable'
  | 'certificate-expired'
  /** Nothing was sent: the host's circuit breaker is open. */
  | 'circuit-open';

/** Failures that will not pass by themselves: the URL is closed for this delivery. */
export type PermanentReason =
  | 'redirect'
  | 'client-error'
  | 'unexpected-status'
  | 'self-signed-certificate'
  | 'untrusted-certificate'
  | 'misnamed-certificate'
  | 'address-not-allowed';

/** Why a delivery is a dead letter. */
export type DeadReason =
  | PermanentReason
  | 'attempts-exhausted'
  | 'circuit-open'
  | 'window-exceeded'
  | 'no-open-url'
  | 'destination-deleted'
  | 'destination-disabled'
  | 'malformed-record';

/** What one URL answered. */
export type Answer =
  | { readonly kind: 'success'; readonly status: number }
  | {
      readonly kind: 'retryable';
      readonly reason: RetryReason;
      readonly status?: number;
      /** What the receiver asked for with Retry-After, from now. */
      readonly retryAfterMs?: number;
      readonly detail?: string;
    }
  | {
      readonly kind: 'permanent';
      readonly reason: PermanentReason;
      readonly status?: number;
      readonly detail?: string;
    };

/** What becomes of the delivery. */
export type Outcome =
  | { readonly kind: 'delivered' }
  | {
      readonly kind: 'retry';
      readonly reason: RetryReason;
      /** The tier to wait in, by its delay. */
      readonly tierMs: number;
      /** The next attempt is due between these two, in milliseconds since the epoch. */
      readonly earliestDueAt: number;
      readonly latestDueAt: number;
    }
  | { readonly kind: 'dead'; readonly reason: DeadReason };
