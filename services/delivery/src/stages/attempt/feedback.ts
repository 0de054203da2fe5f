/** The meaning of an attempt's answers for the lane and the circuit breakers of its destination. */
import type { UrlAnswer, UrlResult } from '../../delivery.ts';
import type { Feedback, Signal } from '../lane/task.ts';

/** An answer within this lets a lane send more. */
const quickMs = 1_000;

/**
 * Whether the answer counts as a failure of the URL. A permanent refusal, a 429 and a 4xx that is retried show that the receiver works,
 * and without a token it was not asked, or has answered 401.
 */
export function showsTrouble(answer: UrlAnswer): boolean {
  if (answer.kind !== 'retryable') return false;
  return !['too-many-requests', 'client-error', 'token-unavailable'].includes(answer.reason);
}

/** What the answer shows to the breaker of its URL; undefined where the receiver was not asked, because the proxy is down or there is no token. */
export function succeeds(answer: UrlAnswer): boolean | undefined {
  const reason = reasonOf(answer);
  if (reason === 'proxy-unreachable' || (reason === 'token-unavailable' && !wasSent(answer)))
    return undefined;
  return !showsTrouble(answer);
}

/** Whether the request was sent to the receiver, or to the proxy. A status without a token is that of the receiver, which has refused one. */
export function wasSent(answer: UrlAnswer): boolean {
  const reason = reasonOf(answer);
  return reason !== 'address-not-allowed' && (reason !== 'token-unavailable' || answer.status !== undefined);
}

function reasonOf(answer: UrlAnswer): string | undefined {
  return answer.kind === 'success' ? undefined : answer.reason;
}

/**
 * Returns how much the destination can take, and how long it asked for a pause.
 *
 * @param mostRetryAfterMs the longest pause that is granted
 */
export function feedbackOf(results: readonly UrlResult[], mostRetryAfterMs: number): Feedback {
  const sent = results.filter(
    ({ answer }) => answer.kind !== 'retryable' || answer.reason !== 'circuit-open',
  );
  const signal = signalOf(sent);
  if (sent.some(({ answer }) => answer.kind === 'success')) return { signal };
  // One URL that may be tried earlier is enough, so the shortest pause counts.
  const pauses = sent
    .filter(({ answer }) => answer.kind === 'retryable')
    .map(({ answer }) => (asksForPause(answer) ? (answer.retryAfterMs ?? 0) : 0));
  return pauses.length > 0 ? { signal, retryAfterMs: Math.min(mostRetryAfterMs, ...pauses) } : { signal };
}

/** With 429 and 503, `Retry-After` is about the receiver; with other statuses, about this one request. */
function asksForPause(answer: UrlAnswer): answer is UrlAnswer & { kind: 'retryable' } {
  return answer.kind === 'retryable' && (answer.status === 429 || answer.status === 503);
}

function signalOf(results: readonly UrlResult[]): Signal {
  const reasons = results.map(({ answer }) => (answer.kind === 'retryable' ? answer.reason : undefined));
  if (reasons.includes('too-many-requests')) return 'throttled';
  if (reasons.includes('timeout')) return 'overloaded';
  if (results.every(({ answer }, place) => showsTrouble(answer) || reasons[place] === 'token-unavailable')) {
    return 'failed';
  }
  const quick = results.every(({ latencyMs }) => latencyMs <= quickMs);
  return quick && reasons.every((reason) => reason === undefined) ? 'quick' : 'steady';
}
