/**
 * The cause that held a delivery back before its first attempt, as far as it lies with the receiver or its settings. Where there
 * are several, the first of this list counts: a paused destination, a circuit breaker, a rate limit (configured, or asked for with 429 or Retry-After), the order of
 * the user, and a lane in which earlier deliveries were in flight or deferred. `none` is left for what Tailrace itself takes.
 */
import type { LabelsOf } from '@tailrace/metrics';
import type { Delivery } from '@tailrace/topics';

export type HeldBy = LabelsOf<'tailrace_delivery_first_attempt_delay_seconds'>['held_by'];

/** The causes that hold a task in a lane. */
export type LaneHold = Extract<HeldBy, 'rate' | 'lane' | 'none'>;

const strongestFirst: readonly HeldBy[] = ['paused', 'breaker', 'rate', 'order', 'lane', 'none'];

/** For deliveries that a replica of an earlier release has written to a retry topic. */
const byReason: ReadonlyMap<string, HeldBy> = new Map([
  ['circuit-open', 'breaker'],
  ['behind', 'order'],
  ['lane-full', 'lane'],
]);

type Held = Pick<Delivery, 'attempt' | 'heldBy' | 'reason'>;

/** The header of a record may have any value. */
export function heldByOf({ heldBy, reason = '' }: Held): HeldBy {
  return strongestFirst.find((known) => known === heldBy) ?? byReason.get(reason) ?? 'none';
}

/** Returns the cause that counts where `by` holds the delivery back too. Undefined once an attempt was made. */
export function alsoHeldBy(delivery: Held, by: HeldBy): HeldBy | undefined {
  if (delivery.attempt > 0) return undefined;
  const before = heldByOf(delivery);
  return strongestFirst.find((hold) => hold === by || hold === before);
}
