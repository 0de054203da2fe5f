/** The record of an attempt in the topic `attempts`. */
import { formatInstant } from '@tailrace/events';
import { bounded, userKeyOf, type AttemptRecord, type Delivery, type UrlAttempt } from '@tailrace/records';
import type { UrlResult } from '../delivery.ts';

export type AttemptOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry' | 'dead'; readonly reason: string };

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

/** Times are milliseconds since the epoch. */
export function attemptRecord(
  delivery: Delivery,
  outcome: AttemptOutcome,
  { startedAt, results }: { readonly startedAt: number; readonly results: readonly UrlResult[] },
  { nextDueAt, breakerOpenSince }: { readonly nextDueAt?: number; readonly breakerOpenSince?: number } = {},
): AttemptRecord {
  const { deliveryId, eventId, sourceId, destinationId, type, eventName, attempt } = delivery;
  return {
    deliveryId,
    eventId,
    sourceId,
    destinationId,
    type,
    ...(eventName !== undefined && { event: bounded(eventName) }),
    userKey: userKeyOf(delivery),
    attempt,
    startedAt: formatInstant(startedAt),
    latencyMs: Math.max(...results.map(({ latencyMs }) => latencyMs)),
    outcome: outcome.kind,
    ...(outcome.kind !== 'delivered' && { reason: outcome.reason }),
    ...(nextDueAt !== undefined && { nextDueAt: formatInstant(nextDueAt) }),
    ...(breakerOpenSince !== undefined && { breakerOpenSince: formatInstant(breakerOpenSince) }),
    urls: results.map(urlAttempt),
  };
}
