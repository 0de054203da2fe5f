/** What becomes of a delivery, as closed unions: a branch that is forgotten does not compile. */
import type { PermanentReason, RetryReason } from '@tailrace/webhook';

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
  | 'malformed-record';

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
