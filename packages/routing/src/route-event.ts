/** Which destinations get an event (docs/specification.md, rules 5.1 to 5.6). Pure: the event and the configuration decide. */
import type { Destination, Source } from '@tailrace/config';
import { webhookDocument, type EventType, type JsonObject, type TailraceEvent } from '@tailrace/events';
import type { FilterRule } from './filter/condition.ts';
import type { FilterableEvent } from './filter/filter.ts';
import { isSelected } from './integrations.ts';
import type { FilteredDestinations, FilterReason, SourceRoutes } from './routes.ts';
import type { SampledEvent } from './sample.ts';

/** The fields of an event that routing looks at. */
interface RoutableEvent {
  readonly type: EventType;
  /** The name of a track event. */
  readonly event?: string;
  /** The name of a page or screen. */
  readonly name?: string;
  readonly integrations?: JsonObject;
  readonly userId?: string;
  readonly anonymousId?: string;
  readonly messageId: string;
}

export interface Routing {
  /** `filtered`: no connected destination gets the event. */
  readonly outcome: 'no-destination' | 'filtered' | 'routed';
  /** Whether the source blocks the event. */
  readonly blocked: boolean;
  readonly routed: readonly Destination[];
  /** Destinations that do not get the event, by reason and rule; disabled ones included. */
  readonly filtered: readonly FilteredDestinations[];
}

/** @param isSuppressed whether calls of the event's user are refused */
export function routeEvent(
  event: TailraceEvent,
  source: Pick<Source, 'schema'>,
  routes: SourceRoutes,
  isSuppressed = false,
): Routing {
  const blocked = isBlocked(event, source);
  const { enabled, filters, disabled, connected } = routes;
  const { type, integrations } = event;
  if (isSuppressed && type !== 'delete' && enabled.length > 0) {
    return routingOf(connected, blocked, [], [...disabled, { reason: 'suppressed', destinations: enabled }]);
  }
  // Every receiver that holds data about a user has to learn that the user is to be deleted.
  if (type === 'delete' || (!blocked && integrations === undefined && filters === undefined)) {
    return routingOf(connected, blocked, enabled, disabled);
  }
  const routed: Destination[] = [];
  const groups = new Map<string | FilterRule, Destination[]>();
  const filterable = filters && filterableOf(event);
  for (const [index, destination] of enabled.entries()) {
    const filter = filters?.[index];
    const broken =
      (isSelected(destination, integrations) ? undefined : 'integrations') ??
      (blocked ? 'schema' : undefined) ??
      (filterable && filter?.(filterable));
    if (broken === undefined) {
      routed.push(destination);
      continue;
    }
    const group = groups.get(broken);
    if (group) group.push(destination);
    else groups.set(broken, [destination]);
  }
  const filtered = Array.from(groups, ([broken, destinations]): FilteredDestinations =>
    typeof broken === 'string'
      ? { reason: broken as FilterReason, destinations }
      : { reason: broken.path === 'sample' ? 'sample' : 'filter', rule: broken, destinations },
  );
  return routingOf(connected, blocked, routed, disabled.length > 0 ? [...disabled, ...filtered] : filtered);
}

function routingOf(
  connected: number,
  blocked: boolean,
  routed: readonly Destination[],
  filtered: readonly FilteredDestinations[],
): Routing {
  const outcome = routed.length > 0 ? 'routed' : connected > 0 ? 'filtered' : 'no-destination';
  return { outcome, blocked, routed, filtered };
}

/** The part of an event that filters and samples look at. */
export function filterableOf(event: TailraceEvent): FilterableEvent & SampledEvent {
  const { type, userId, anonymousId = '', messageId: id, event: trackName, name }: RoutableEvent = event;
  let document: object | undefined;
  return {
    type,
    name: type === 'track' ? trackName : name,
    user: userId ?? anonymousId,
    id,
    document: () => (document ??= webhookDocument(event)),
  };
}

function isBlocked({ type, event }: RoutableEvent, { schema }: Pick<Source, 'schema'>): boolean {
  return type === 'track' && event !== undefined && schema?.track?.blocked.includes(event) === true;
}
