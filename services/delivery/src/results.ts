/** What the answers of one attempt say: to whoever looks at attempts, to the lane, to the breaker. */
import { userKeyOf, type AttemptRecord, type Delivery, type UrlAttempt } from '@tailrace/topics';
import type { Target } from '@tailrace/webhook';
import type { Feedback, Signal } from './lanes/lane.ts';
import type { UrlAnswer } from './outcome.ts';

export interface UrlResult {
  readonly target: Target;
  readonly answer: UrlAnswer;
  readonly latencyMs: number;
}

/** An answer within this lets a lane send more at once. */
const quickMs = 1_000;

/** The URLs that are not to be tried again for this delivery. */
export function closedNow(results: readonly UrlResult[]): string[] {
  return results.filter(({ answer }) => answer.kind === 'permanent').map(({ target }) => target.fingerprint);
}

/** Whether the host seems to be in trouble: a refusal of this one request, or a wish for fewer, is no sign of it. */
export function showsTrouble(answer: UrlAnswer): boolean {
  return answer.kind === 'retryable' && answer.reason !== 'too-many-requests';
}

/** What the answers say about how much the destination can take, and when; at most so long it is left alone. */
export function feedbackOf(results: readonly UrlResult[], mostRetryAfterMs: number): Feedback {
  // A URL that was not asked says nothing.
  const asked = results.filter(
    ({ answer }) => answer.kind !== 'retryable' || answer.reason !== 'circuit-open',
  );
  const signal = signalOf(asked);
  if (asked.some(({ answer }) => answer.kind === 'success')) return { signal };
  // One URL that may be asked again is enough.
  const rests = asked
    .filter(({ answer }) => answer.kind === 'retryable')
    .map(({ answer }) => (isWishForRest(answer) ? (answer.retryAfterMs ?? 0) : 0));
  return rests.length > 0 ? { signal, retryAfterMs: Math.min(mostRetryAfterMs, ...rests) } : { signal };
}

/** With 429 and 503, `Retry-After` is about the receiver; with others, about this one request. */
function isWishForRest(answer: UrlAnswer): answer is UrlAnswer & { kind: 'retryable' } {
  return answer.kind === 'retryable' && (answer.status === 429 || answer.status === 503);
}

function signalOf(results: readonly UrlResult[]): Signal {
  const reasons = results.map(({ answer }) => (answer.kind === 'retryable' ? answer.reason : undefined));
  if (reasons.includes('too-many-requests')) return 'throttled';
  if (reasons.includes('timeout')) return 'overloaded';
  if (results.every(({ answer }) => showsTrouble(answer))) return 'failed';
  const quick = results.every(({ latencyMs }) => latencyMs <= quickMs);
  return quick && reasons.every((reason) => reason === undefined) ? 'quick' : 'steady';
}

export function urlAttempt({ target, answer, latencyMs }: UrlResult): UrlAttempt {
  const attempt = { url: target.shownUrl, latencyMs };
  if (answer.kind === 'success') return { ...attempt, status: answer.status };
  const { reason, status, detail } = answer;
  return {
    ...attempt,
    ...(status !== undefined && { status }),
    reason,
    ...(detail !== undefined && { detail }),
  };
}

/** What became of a delivery, as far as it is told of its attempt. */
export type AttemptOutcome =
  { readonly kind: 'delivered' } | { readonly kind: 'retry' | 'dead'; readonly reason: string };

/** What is told of an attempt; `nextDueAt` in milliseconds since the epoch, where it is retried. */
export function attemptRecord(
  delivery: Delivery,
  outcome: AttemptOutcome,
  startedAt: number,
  results: readonly UrlResult[],
  nextDueAt?: number,
): AttemptRecord {
  const { deliveryId, eventId, sourceId, destinationId, type, eventName, attempt } = delivery;
  return {
    deliveryId,
    eventId,
    sourceId,
    destinationId,
    type,
    ...(eventName !== undefined && { event: eventName }),
    userKey: userKeyOf(delivery),
    attempt,
    startedAt: new Date(startedAt).toISOString(),
    latencyMs: Math.max(...results.map(({ latencyMs }) => latencyMs)),
    outcome: outcome.kind,
    ...(outcome.kind !== 'delivered' && { reason: outcome.reason }),
    ...(nextDueAt !== undefined && { nextDueAt: new Date(nextDueAt).toISOString() }),
    urls: results.map(urlAttempt),
  };
}
