/**
 * What follows when something has happened to a delivery, without I/O. Times are milliseconds since the epoch.
 *
 * After a failed attempt the schedule sets the delay before the next one. A delay may be shortened by up to a fifth, so that
 * deliveries that failed together are not retried together. All other waits cost no step of the schedule. No attempt is made
 * after the retry window, which begins with the first one, or, for a delivery that was never attempted, when it first waited
 * because its receiver was down. That time counts only while the receiver stays down. So a delivery dies without an attempt
 * only where its URLs were down for the whole window.
 */
import type { DeadReason } from '@tailrace/metrics';
import type { Delivery } from '@tailrace/records';
import type {
  Attempted,
  Down,
  Effect,
  Event,
  HeldBy,
  Outcome,
  Receiver,
  UrlAnswer,
  UrlResult,
} from './delivery.ts';
import { urlAttempt } from './observe/attempt-record.ts';

export interface RetryPolicy {
  /** Delays after the first, second, … failed attempt; as many retries as entries. */
  readonly scheduleMs: readonly number[];
  readonly windowMs: number;
}

export interface DeliveryPolicy extends RetryPolicy {
  /** The delays of the retry topics, shortest first. */
  readonly tiersMs: readonly number[];
  /** The delay of the retry topic in which deliveries of paused destinations wait. */
  readonly pauseMs: number;
}

export function transition(delivery: Delivery, event: Event, policy: DeliveryPolicy, now: number): Effect {
  switch (event.kind) {
    case 'attempted':
      return afterAttempt(delivery, event, policy, now);
    case 'down':
      return park(delivery, event, policy, now);
    case 'full': {
      const timesBefore = delivery.reason === 'lane-full' ? delivery.deferrals : 0;
      const promisedAt = delivery.placeAt ?? 0;
      const placeAt = promisedAt > now ? promisedAt : now + event.waitMs;
      // Only broken promises make the waits longer. A delivery that waits because of `Retry-After`, or was parked before, was
      // promised nothing.
      const deferrals = event.isBackoff ? timesBefore : timesBefore + 1;
      const until = deferUntil(placeAt, timesBefore, now, policy.tiersMs);
      const heldBy = alsoHeldBy(delivery, event.heldBy);
      const deferred = { ...delivery, deferrals, placeAt, reason: 'lane-full', heldBy };
      return { kind: 'wait', cause: 'deferred', delivery: deferred, until };
    }
    case 'behind': {
      const { until, firstAttemptAt } = event;
      const heldBy = alsoHeldBy(delivery, 'order');
      const behind = { ...delivery, firstAttemptAt, reason: 'behind', heldBy };
      return { kind: 'wait', cause: 'behind', delivery: behind, until: until + 1 };
    }
    case 'paused': {
      // Window and schedule begin again with the next attempt, as those of a replay do.
      const begun = { step: 0, deferrals: 0, placeAt: undefined, firstAttemptAt: undefined };
      const heldBy = alsoHeldBy(delivery, 'paused');
      const paused = { ...delivery, ...begun, reason: 'paused', heldBy };
      const [tierMs, until] = [policy.pauseMs, now + policy.pauseMs];
      return { kind: 'wait', cause: 'paused', delivery: paused, until, latest: until, tierMs };
    }
    case 'over':
      return die(delivery, event.reason);
  }
}

const emptied = {
  body: Buffer.alloc(0),
  transformFailure: undefined,
  requestHeaders: undefined,
  lastAnswer: undefined,
};

function die(delivery: Delivery, reason: DeadReason, results?: readonly UrlResult[]): Effect {
  const lastAnswer = results
    ? JSON.stringify(results.map(urlAttempt))
    : (delivery.transformFailure ?? delivery.lastAnswer);
  const cleared = {
    dueAt: undefined,
    deferrals: 0,
    placeAt: undefined,
    sequence: undefined,
    heldBy: undefined,
    replayedFrom: undefined,
    // Nothing is kept of what a deleted user did.
    ...(reason === 'user-deleted' && emptied),
  };
  return { kind: 'dead', reason, delivery: { ...delivery, lastAnswer, ...cleared, reason } };
}

function afterAttempt(delivery: Delivery, event: Attempted, policy: DeliveryPolicy, now: number): Effect {
  const { results, firstAttemptAt, closedUrls, spanId, down } = event;
  const attempted = {
    ...delivery,
    attempt: delivery.attempt + 1,
    // A probe is an attempt beside the schedule: it costs no step, and the same delivery makes the next one.
    step: down ? delivery.step : delivery.step + 1,
    firstAttemptAt,
    firstAttemptSpan: delivery.firstAttemptSpan ?? spanId,
    closedUrls,
  };
  if (down) return park(attempted, { ...down, results }, policy, now);
  const answers = results.map(({ answer }) => answer);
  const outcome = decide(attempted, answers, policy, now);
  switch (outcome.kind) {
    case 'delivered':
      return { kind: 'delivered', delivery: attempted };
    case 'dead':
      return die(attempted, outcome.reason, results);
    case 'retry': {
      const cleared = { deferrals: 0, placeAt: undefined, heldBy: undefined };
      return { ...outcome, delivery: { ...attempted, ...cleared, reason: outcome.reason } };
    }
  }
}

/** The last wait ends before the window does, by this part of the window. */
const lastWaitShare = 0.02;

/**
 * The delivery that makes the next probe waits for that, all others longer each time, until the window ends. Each wait is a write, so they do
 * not follow the schedule of the destination, which may be short at every step.
 */
function park(
  delivery: Delivery,
  { firstAttemptAt, probeInMs, results }: Down & { readonly results?: readonly UrlResult[] },
  { tiersMs, windowMs }: DeliveryPolicy,
  now: number,
): Effect {
  const windowEndsAt = firstAttemptAt + windowMs;
  if (now >= windowEndsAt) return die(delivery, 'circuit-open', results);
  const { deferrals } = delivery;
  const isProbe = probeInMs !== Infinity;
  const delayMs = tiersMs[Math.min(deferrals, tiersMs.length - 1)] ?? 0;
  const lastWaitEndsAt = windowEndsAt - windowMs * lastWaitShare;
  const latest = lastWaitEndsAt > now ? lastWaitEndsAt : windowEndsAt;
  const parked = {
    ...delivery,
    firstAttemptAt,
    deferrals: isProbe ? 0 : deferrals + 1,
    placeAt: undefined,
    reason: 'circuit-open',
    heldBy: alsoHeldBy(delivery, 'breaker'),
  };
  const until = Math.min(now + (isProbe ? probeInMs : delayMs), latest);
  return { kind: 'wait', cause: 'parked', delivery: parked, until, latest };
}

/** The part of a delay that is never shortened. */
const leastShare = 0.8;

/**
 * @param state `step` counts the steps of the schedule, including the attempt that was just made; `firstAttemptAt` is when
 *   the first attempt was made, or the delivery was first parked.
 * @param answers for every URL that was still open; never empty.
 */
export function decide(
  state: { readonly step: number; readonly firstAttemptAt: number },
  answers: readonly UrlAnswer[],
  policy: RetryPolicy,
  now: number,
): Outcome {
  if (answers.some(({ kind }) => kind === 'success')) return { kind: 'delivered' };

  const retryable = answers.filter((answer) => answer.kind === 'retryable');
  // The reason of a request that was sent is more useful than `circuit-open`.
  const firstRetryable = retryable.find(({ reason }) => reason !== 'circuit-open') ?? retryable[0];
  if (!firstRetryable) {
    const permanent = answers.find((answer) => answer.kind === 'permanent');
    return dead(permanent?.reason ?? 'no-open-url');
  }

  const scheduledMs = policy.scheduleMs[state.step - 1];
  if (scheduledMs === undefined) return dead('attempts-exhausted');

  const windowEndsAt = state.firstAttemptAt + policy.windowMs;
  const tiersMs = policy.scheduleMs.filter(
    (tierMs) => tierMs >= scheduledMs && Math.ceil(now + tierMs * leastShare) <= windowEndsAt,
  );
  if (tiersMs.length === 0) return dead('window-exceeded');

  const retryAfterMs = Math.max(0, ...retryable.map(({ retryAfterMs = 0 }) => retryAfterMs));
  const tierMs = chooseTier(retryAfterMs, tiersMs);
  const leastMs = Math.max(tierMs * leastShare, Math.min(retryAfterMs, tierMs));
  const latestDueAt = Math.min(now + tierMs, windowEndsAt);
  return {
    kind: 'retry',
    reason: firstRetryable.reason,
    tierMs,
    earliestDueAt: Math.min(Math.ceil(now + leastMs), latestDueAt),
    latestDueAt,
  };
}

function dead(reason: DeadReason): Outcome {
  return { kind: 'dead', reason };
}

/**
 * Returns the shortest delay that is at least `Retry-After`, or the longest one. So no receiver can delay a delivery by
 * more than the longest delay of the schedule, or out of its window.
 */
function chooseTier(retryAfterMs: number, tiersMs: readonly number[]): number {
  const longEnough = tiersMs.filter((tierMs) => tierMs >= retryAfterMs);
  return longEnough.length > 0 ? Math.min(...longEnough) : Math.max(...tiersMs);
}

/**
 * Returns until when a delivery is deferred whose lane is full, in milliseconds since the epoch.
 *
 * A promised turn that is not free when its time comes shows that the lane is slower than estimated. Each further wait
 * is therefore at least 80 % of the next longer retry topic's delay, and from the fourth deferral on one retry topic is
 * skipped. So a record is rewritten only a handful of times: with the default schedule it waits 16 minutes the fourth
 * time, and 48 the fifth.
 *
 * @param placeAt when the lane has promised a turn, in milliseconds since the epoch
 * @param timesBefore how often the delivery was deferred before
 */
export function deferUntil(
  placeAt: number,
  timesBefore: number,
  now: number,
  tiersMs: readonly number[],
): number {
  const [shortestMs = 0] = tiersMs;
  const longer = timesBefore < 3 ? Math.max(0, timesBefore - 1) : timesBefore;
  const leastMs = tiersMs[Math.min(longer, tiersMs.length - 1)] ?? shortestMs;
  return Math.max(placeAt, now + leastMs * leastShare);
}

/** A later delivery of a user waits ten times as long as the receiver has been down; a recovery recalls it earlier. */
const downReach = 10;
/** A receiver that has been up for some time is expected to stay up as long again, and at least for this. */
const leastUpMs = 10_000;

/** Returns undefined where the window begins with the next attempt. */
export function windowBegan(
  { attempt, firstAttemptAt }: Pick<Delivery, 'attempt' | 'firstAttemptAt'>,
  { isDown, since }: Receiver,
  now: number,
): number | undefined {
  if (attempt > 0) return firstAttemptAt;
  return isDown ? Math.max(firstAttemptAt ?? now, since) : undefined;
}

/** Returns the dead-letter reason of a delivery whose window has ended. */
export function windowEndedReason({ attempt }: Pick<Delivery, 'attempt'>): DeadReason {
  return attempt === 0 ? 'circuit-open' : 'window-exceeded';
}

/**
 * Returns until when a delivery waits behind an earlier one that is expected at `until`. Where the receiver is down it
 * waits longer, so that it is not rewritten at each step of the earlier one. Where the receiver was down until recently,
 * it waits less, because the earlier one may be recalled.
 */
export function behindUntil(
  until: number,
  { isDown, since }: Receiver,
  windowEndsAt: number,
  now: number,
): number {
  if (!isDown) return Math.min(until, now + Math.max(now - since, leastUpMs));
  return Math.min(Math.max(until, now + downReach * (now - since)), windowEndsAt);
}

/**
 * The causes that may hold a delivery back before its first attempt. Where there are several, the first of this list counts: a paused
 * destination, a circuit breaker, a rate limit (configured, or asked for with 429 or Retry-After), the order of the user, and
 * a lane in which earlier deliveries were in flight or deferred. `none` is left for what Tailrace itself takes.
 */
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
