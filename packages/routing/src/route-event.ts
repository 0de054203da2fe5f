/** Which destinations get an event (docs/specification.md, rules 5.1 to 5.4). Pure: the event and the configuration decide. */
import type { Destination, Source } from '@tailrace/config';
import type { EventType, JsonObject } from '@tailrace/events';
import { isSelected } from './integrations.ts';

/** The fields of an event that routing looks at. */
export interface RoutableEvent {
  readonly type?: EventType;
  /** The name of a track event. */
  readonly event?: string;
  readonly integrations?: JsonObject;
}

/** Why a destination does not get an event: the event's own `integrations`, or the source's list of blocked track events. */
export type FilterReason = 'integrations' | 'schema';

export interface FilteredDestination {
  readonly destination: Destination;
  readonly reason: FilterReason;
}

export type Routing = {
  /** Whether the source blocks the event. */
  readonly blocked: boolean;
} & (
  | { readonly outcome: 'no-destination'; readonly routed: readonly []; readonly filtered: readonly [] }
  /** All destinations are filtered. */
  | {
      readonly outcome: 'filtered';
      readonly routed: readonly [];
      readonly filtered: readonly FilteredDestination[];
    }
  | {
      readonly outcome: 'routed';
      readonly routed: readonly Destination[];
      readonly filtered: readonly FilteredDestination[];
    }
);

/** @param destinations the enabled ones that are connected to the source */
export function routeEvent(
  event: RoutableEvent,
  source: Pick<Source, 'schema'>,
  destinations: readonly Destination[],
): Routing {
  const blocked = isBlocked(event, source);
  if (destinations.length === 0) return { outcome: 'no-destination', blocked, routed: [], filtered: [] };
  const routed: Destination[] = [];
  const filtered: FilteredDestination[] = [];
  for (const destination of destinations) {
    const reason = filterReason(event, destination, blocked);
    if (reason === undefined) routed.push(destination);
    else filtered.push({ destination, reason });
  }
  if (routed.length === 0) return { outcome: 'filtered', blocked, routed: [], filtered };
  return { outcome: 'routed', blocked, routed, filtered };
}

function filterReason(
  { type, integrations }: RoutableEvent,
  destination: Destination,
  blocked: boolean,
): FilterReason | undefined {
  // Every receiver that holds data about a user has to learn that the user is to be deleted.
  if (type === 'delete') return undefined;
  if (!isSelected(destination.type, integrations)) return 'integrations';
  return blocked ? 'schema' : undefined;
}

function isBlocked({ type, event }: RoutableEvent, { schema }: Pick<Source, 'schema'>): boolean {
  return type === 'track' && event !== undefined && schema?.track?.blocked.includes(event) === true;
}
