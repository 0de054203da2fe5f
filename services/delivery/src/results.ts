/** What the answers of one attempt say: to whoever looks at attempts, to the lane, to the breaker. */
import type { AttemptRecord, Delivery, UrlAttempt } from '@tailrace/topics';
import type { Answer, Target } from '@tailrace/webhook';
import type { Signal } from './lane.ts';
import type { Outcome } from './outcome.ts';

export interface UrlResult {
  readonly target: Target;
  readonly answer: Answer;
  readonly latencyMs: number;
}

/** An answer within this lets a lane send more at once. */
const quickMs = 1_000;

/** The URLs that are not to be tried again for this delivery. */
export function closedNow(results: readonly UrlResult[]): string[] {
  return results.filter(({ answer }) => answer.kind === 'permanent').map(({ target }) => target.fingerprint);
}

/** Whether the host seems to be in trouble: a refusal of this one request, or a wish for fewer, is no sign of it. */
export function showsTrouble(answer: Answer): boolean {
  return answer.kind === 'retryable' && answer.reason !== 'too-many-requests';
}

/** What the answers say about how much the destination can take. */
export function signalOf(results: readonly UrlResult[]): Signal {
  const reasons = results.map(({ answer }) => (answer.kind === 'retryable' ? answer.reason : undefined));
  if (reasons.includes('too-many-requests')) return 'throttled';
  if (reasons.includes('timeout')) return 'overloaded';
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

/** An attempt as it is logged: a log outlives the wish of a user to be forgotten, so it does not name users. */
export type LoggedAttempt = Omit<AttemptRecord, 'userKey'>;

/** What is told of an attempt; `nextDueAt` in milliseconds since the epoch, where it is retried. */
export function attemptRecord(
  delivery: Delivery,
  outcome: Outcome,
  startedAt: number,
  results: readonly UrlResult[],
  nextDueAt?: number,
): LoggedAttempt {
  const { deliveryId, eventId, sourceId, destinationId, type, eventName, attempt } = delivery;
  return {
    deliveryId,
    eventId,
    sourceId,
    destinationId,
    type,
    ...(eventName !== undefined && { event: eventName }),
    attempt,
    startedAt: new Date(startedAt).toISOString(),
    latencyMs: Math.max(...results.map(({ latencyMs }) => latencyMs)),
    outcome: outcome.kind,
    ...(outcome.kind !== 'delivered' && { reason: outcome.reason }),
    ...(nextDueAt !== undefined && { nextDueAt: new Date(nextDueAt).toISOString() }),
    urls: results.map(urlAttempt),
  };
}
