import type { ConfigView } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { loadDestination } from '../configuration/destinations/destination.ts';

/**
 * Refuses to send to a destination that would not receive anything.
 *
 * @param effect completes "its delivery …"
 * @throws TailraceError `not-found`, `conflict`
 */
export function requireEnabled(
  config: Pick<ConfigView, 'destination'>,
  destinationId: string,
  effect: string,
): void {
  if (loadDestination(config, destinationId).enabled) return;
  throw new TailraceError(
    'conflict',
    `The destination ${JSON.stringify(destinationId)} is disabled: its delivery ${effect}. Enable it first.`,
  );
}
