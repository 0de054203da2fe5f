/** A delivery in the pipeline: what may happen to it, and what follows, as closed unions. */
import type { Destination } from '@tailrace/config';
import type { Work } from '@tailrace/kafka';
import type { DeadReason, LabelsOf, RetryReason } from '@tailrace/metrics';
import type { Delivery } from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';
import { targetsOf, type Answer, type Target } from '@tailrace/webhook';

/** A delivery as it was read. */
export interface Received {
  /** The record it was read from, which is finished with `work.done()`. */
  readonly work: Work;
  readonly delivery: Delivery;
}

/** A delivery in the pipeline. */
export interface Job extends Received {
  /** Learns how the delivery ends, because later ones of its user may wait for that. */
  readonly order: UserOrder;
  /** Whether it was recalled, and gives way to live deliveries. */
  readonly background?: boolean;
}

/** The order of the deliveries of one user (stages/order/order.ts). Jobs without a sequence have none, and are ignored. */
interface UserOrder {
  /** Lets a job wait for earlier ones, then for its lane. */
  arrive(job: Job): void;
  /** The job is delivered, or its dead letter is acknowledged. */
  ended(job: Job): void;
  /** The job was written to a retry topic a moment ago, and is expected at `until`. Later ones of its key follow it there. */
  left(job: Job, until: number): void;
  /** The job has left its retry topic without its turn, so later ones do not wait for it. */
  removed(job: Job): void;
}

/** What has happened to a delivery. Times are milliseconds since the epoch. */
export type Event =
  | Attempted
  | Down
  | LaneFull
  /** An earlier one of its user is expected at `until`. */
  | { readonly kind: 'behind'; readonly until: number; readonly firstAttemptAt: number | undefined }
  /** Its destination is paused. */
  | { readonly kind: 'paused' }
  /** It is not sent any more. */
  | { readonly kind: 'over'; readonly reason: DeadReason };

/** Requests were sent. */
export interface Attempted {
  readonly kind: 'attempted';
  /** One for each URL that was open; never empty. */
  readonly results: readonly UrlResult[];
  /** Or when it was first parked. */
  readonly firstAttemptAt: number;
  /** The fingerprints of the URLs that have failed permanently. */
  readonly closedUrls: readonly string[];
  /** The id of the span of the attempt, where it is sampled. */
  readonly spanId: string | undefined;
  /** Where it was a probe, and its URLs are still down. */
  readonly down: Down | undefined;
}

/** The circuit breakers of all its URLs are open. */
export interface Down {
  readonly kind: 'down';
  readonly firstAttemptAt: number;
  /** When the delivery makes the next probe; Infinity where another one does. */
  readonly probeInMs: number;
}

/** Its lane is full. */
export interface LaneFull {
  readonly kind: 'full';
  /** When the lane promises it a turn. */
  readonly waitMs: number;
  /** Whether the receiver asked for a pause. */
  readonly isBackoff: boolean;
  readonly heldBy: LaneHold;
}

/** What follows. `delivery` is the delivery after the event. */
export type Effect =
  | { readonly kind: 'delivered'; readonly delivery: Delivery }
  | Retry
  | Wait
  | { readonly kind: 'dead'; readonly delivery: Delivery; readonly reason: DeadReason };

/** A step of the retry schedule. */
export interface Retry {
  readonly kind: 'retry';
  readonly delivery: Delivery;
  readonly reason: RetryReason;
  /** The delay of the retry topic. */
  readonly tierMs: number;
  /** The next attempt is due between these two. */
  readonly earliestDueAt: number;
  readonly latestDueAt: number;
}

/** How an attempt ended, by the answers. */
export type Outcome =
  | { readonly kind: 'delivered' }
  | Omit<Retry, 'delivery'>
  | { readonly kind: 'dead'; readonly reason: DeadReason };

/** It waits in a retry topic, without a step of the schedule. */
export interface Wait {
  readonly kind: 'wait';
  readonly cause: 'deferred' | 'behind' | 'parked' | 'paused';
  readonly delivery: Delivery;
  readonly until: number;
  /** The latest due time; undefined for none. */
  readonly latest?: number;
  /** The delay of the retry topic; undefined where any will do. */
  readonly tierMs?: number;
}

/** The result for one URL of an attempt: the answer to a request, or `circuit-open` where none was sent. */
export type UrlAnswer =
  | Answer
  | {
      readonly kind: 'retryable';
      readonly reason: 'circuit-open';
      readonly status?: undefined;
      readonly retryAfterMs?: undefined;
      readonly detail?: undefined;
      readonly exchange?: undefined;
    };

export interface UrlResult {
  readonly target: Target;
  readonly answer: UrlAnswer;
  readonly latencyMs: number;
  /** As they were sent, where a request was: names and values alternate. */
  readonly requestHeaders?: readonly string[];
  /** Those of them that a transform has added. */
  readonly made?: Readonly<Record<string, string>> | undefined;
}

/** The state of the open URLs of a delivery, as known to this process. A probe that is due or in flight changes nothing. */
export interface Receiver {
  /** Whether all URLs are down. */
  readonly isDown: boolean;
  /** Since when, without interruption, in milliseconds since the epoch; -Infinity where no URL was ever down. */
  readonly since: number;
}

/** What held a delivery back before its first attempt, as far as it lies with the receiver or its settings. */
export type HeldBy = LabelsOf<'tailrace_delivery_first_attempt_delay_seconds'>['held_by'];

/** The causes that hold a task in a lane. */
export type LaneHold = Extract<HeldBy, 'rate' | 'lane' | 'none'>;

/** Copies the bytes of a delivery, which are otherwise a slice that keeps the whole fetched batch in memory. */
export function detach(delivery: Delivery): Delivery {
  const copy = { ...delivery, body: Buffer.from(delivery.body) };
  if (!delivery.otherHeaders) return copy;
  const otherHeaders = delivery.otherHeaders.map(
    ([name, value]) => [name, value && Buffer.from(value)] as const,
  );
  return { ...copy, otherHeaders };
}

/** Returns the URLs that it may be sent to and that have not failed permanently for this delivery. */
export function openTargets(
  { closedUrls, onlyUrl }: Pick<Delivery, 'closedUrls' | 'onlyUrl'>,
  destination: Destination,
): readonly Target[] {
  const all = targetsOf(destination);
  const targets = onlyUrl === undefined ? all : all.slice(onlyUrl, onlyUrl + 1);
  if (closedUrls.length === 0) return targets;
  return targets.filter(({ fingerprint }) => !closedUrls.includes(fingerprint));
}

export function isOrdered({ delivery }: Received): boolean {
  return delivery.sequence !== undefined;
}

/** Whether the delivery is new, its destination has an order, and it has no place in it yet. */
export function needsOrder(
  job: Received,
  destination: Destination | undefined,
  { deliveries }: Pick<TopicNames, 'deliveries'>,
): boolean {
  return destination?.ordering === 'user' && !isOrdered(job) && job.work.topic === deliveries;
}

/** The place of a delivery in the order of its user is its offset in `deliveries`. */
export function withSequence<J extends Received>(job: J): J {
  return { ...job, delivery: { ...job.delivery, sequence: job.work.offset } };
}
