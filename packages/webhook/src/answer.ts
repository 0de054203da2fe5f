/** Everything one URL can answer, as closed unions: a branch that is forgotten does not compile. */

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
