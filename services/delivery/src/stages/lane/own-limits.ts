/** What the settings of a destination allow its lane in this replica. */
import type { Destination } from '@tailrace/config';

export interface OwnLimits {
  /** Requests a second. */
  readonly rate?: number | undefined;
  /** Requests that may follow each other immediately after a pause; by default a tenth of a second of the rate. */
  readonly burst?: number | undefined;
  /** Tasks in flight. */
  readonly inFlight?: number | undefined;
}

/** Returns the present limits, because a change applies to deliveries that wait already. */
export type LimitsNow = () => OwnLimits | undefined;

/**
 * A replica sends at least one delivery at a time.
 *
 * @param share this replica's part of the limits, from 0 to 1
 */
export function limitsOf(
  { rateLimit, burst, maxInFlight }: Partial<Destination> = {},
  share: () => number,
): OwnLimits | undefined {
  if (rateLimit === undefined && maxInFlight === undefined) return undefined;
  const part = share();
  return {
    rate: rateLimit && rateLimit * part,
    burst: burst && burst * part,
    inFlight: maxInFlight && Math.max(1, Math.floor(maxInFlight * part)),
  };
}
