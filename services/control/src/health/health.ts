/** The health of a destination, from its settings and what the history knows. Pure. */
import type { Destination } from '@tailrace/config';
import type { AttemptOutcomes, HealthFacts } from '@tailrace/history';

/** Worst first. */
export const healthStates = ['failing', 'retrying', 'healthy', 'no-traffic', 'paused', 'disabled'] as const;
export type HealthState = (typeof healthStates)[number];

/** Fewer attempts may have failed by chance. */
const tellingAttempts = 3;

/**
 * A destination is failing if a circuit breaker holds deliveries back, or at least half of its attempts fail: of those of the last
 * quarter of an hour, so that a receiver that has recovered soon is healthy, or where these are few, of the last hour.
 */
export function healthOf(
  { enabled, paused = false }: Pick<Destination, 'enabled' | 'paused'>,
  { attempts, recent, retrying, parked }: HealthFacts,
): HealthState {
  if (!enabled) return 'disabled';
  if (paused) return 'paused';
  if (parked > 0 || isFailing(countOf(recent) < tellingAttempts ? attempts : recent)) return 'failing';
  if (retrying > 0) return 'retrying';
  return countOf(attempts) === 0 ? 'no-traffic' : 'healthy';
}

function isFailing({ delivered, retry, dead }: AttemptOutcomes): boolean {
  const failed = retry + dead;
  return failed > 0 && failed >= delivered && (dead > 0 || failed >= tellingAttempts);
}

export function countOf({ delivered, retry, dead }: AttemptOutcomes): number {
  return delivered + retry + dead;
}
