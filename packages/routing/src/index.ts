/** Which destinations a call goes to. Pure: a call and the configuration in, one decision per destination out. */
import type { Destination, Source } from '@tailrace/config';
import { isSelected, type TailraceEvent } from '@tailrace/events';

/** Why a destination does not get a call: its own `integrations`, or the source's list of blocked track events. */
export type FilterReason = 'integrations' | 'schema';

export type Routing =
  | { readonly outcome: 'routed'; readonly destination: Destination }
  | { readonly outcome: 'filtered'; readonly destination: Destination; readonly reason: FilterReason };

/** `destinations` are the enabled ones that the source is connected to. */
export function route(
  event: TailraceEvent,
  source: Pick<Source, 'schema'>,
  destinations: readonly Destination[],
): Routing[] {
  const blocked = isBlocked(event, source);
  return destinations.map((destination) => {
    // Whoever holds data about a user must hear that it is to be deleted; nobody can opt out of that.
    if (event.type === 'delete') return { outcome: 'routed', destination };
    if (!isSelected(destination.type, event.integrations)) {
      return { outcome: 'filtered', destination, reason: 'integrations' };
    }
    if (blocked) return { outcome: 'filtered', destination, reason: 'schema' };
    return { outcome: 'routed', destination };
  });
}

/** Whether the source's schema filter keeps the event from all destinations. */
export function isBlocked(event: TailraceEvent, { schema }: Pick<Source, 'schema'>): boolean {
  return event.type === 'track' && schema?.track?.blocked.includes(event.event) === true;
}
