/** Results of an attempt as closed unions: a `switch` that misses a case does not compile. */
import type { Answer, PermanentReason, RetryReason as RequestRetryReason, Target } from '@tailrace/webhook';

/** Why a URL is tried again: a failed request, or no request because its circuit breaker is open. */
export type RetryReason = RequestRetryReason | 'circuit-open';

/** The result for one URL of an attempt: the answer to a request, or `circuit-open` where none was sent. */
export type UrlAnswer =
  | Answer
  | {
      readonly kind: 'retryable';
      readonly reason: 'circuit-open';
      readonly status?: undefined;
      readonly retryAfterMs?: undefined;
      readonly detail?: undefined;
    };

export interface UrlResult {
  readonly target: Target;
  readonly answer: UrlAnswer;
  readonly latencyMs: number;
}

/** Why a delivery is a dead letter. */
export type DeadReason =
  | PermanentReason
  | 'attempts-exhausted'
  | 'circuit-open'
  | 'window-exceeded'
  | 'no-open-url'
  | 'destination-deleted'
  | 'destination-disabled'
  | 'drained'
  | 'user-deleted'
  | 'malformed-record';

/** How an attempt ended for the delivery. */
export type Outcome =
  | { readonly kind: 'delivered' }
  | {
      readonly kind: 'retry';
      readonly reason: RetryReason;
      /** The delay of the retry topic. */
      readonly tierMs: number;
      /** The next attempt is due between these two, in milliseconds since the epoch. */
      readonly earliestDueAt: number;
      readonly latestDueAt: number;
    }
  | { readonly kind: 'dead'; readonly reason: DeadReason };
