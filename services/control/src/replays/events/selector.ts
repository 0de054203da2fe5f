/** Selects the records of `events` that a replay sends: routes them again, for one destination and with today's configuration. */
import type { ConfigLookup, Destination } from '@tailrace/config';
import { deliveryId, userKey, type TailraceEvent } from '@tailrace/events';
import type { ConsumedRecord } from '@tailrace/kafka';
import type { Delivery } from '@tailrace/records';
import type { FrameReader } from '@tailrace/registry';
import {
  acceptedAt,
  compileFilter,
  contentHashOf,
  createRoutes,
  deliveriesOf,
  filterableOf,
  lookUpSource,
  namedTypes,
  readEvent,
  readRecord,
  routeEvent,
} from '@tailrace/routing';
import { isOfDeletedUser, type DeletedUsers, type SuppressedUsers } from '@tailrace/suppressions';
import { validTraceparent } from '@tailrace/tracing';
import { endOf, filtersOf, type EventSelection } from './selection.ts';

export interface SelectorDependencies {
  readonly config: Pick<
    ConfigLookup,
    'source' | 'sourceByWriteKey' | 'destination' | 'destinationsOf' | 'disabledDestinationsOf'
  >;
  readonly frames: Pick<FrameReader, 'read'>;
  readonly users: SuppressedUsers & Pick<DeletedUsers, 'deletions' | 'deletionsOf'>;
}

export interface SelectedEvent {
  readonly outcome: 'selected';
  readonly event: TailraceEvent;
  /** When it was accepted, in milliseconds since the epoch. */
  readonly at: number;
  /** Of the delivery that the router makes of it. */
  readonly deliveryId: string;
  readonly delivery: () => Delivery;
}

export type Selected =
  | SelectedEvent
  | { readonly outcome: 'other' | 'unreadable' }
  | { readonly outcome: 'needs-schema'; readonly schemaId: number };

const other = { outcome: 'other' } as const;
const unreadable = { outcome: 'unreadable' } as const;

export function createSelector(
  { config, frames, users }: SelectorDependencies,
  selection: EventSelection,
): (record: ConsumedRecord) => Selected {
  const { destinationId, topic, from, events } = selection;
  const until = endOf(selection);
  const mayBeWanted = textTest(selection);
  const sources = selection.sources && new Set(selection.sources);
  const routesOf = createRoutes(onlyTo(config, destinationId));
  const filters = filtersOf(selection).map(compileFilter);
  // The router has reported those of `events`. In another topic, a connector may have changed all of them.
  const notAnEvent = topic === undefined ? other : unreadable;

  const isConnected = (sourceId: string): boolean =>
    (sources?.has(sourceId) ?? true) &&
    config.destination(destinationId)?.sources.includes(sourceId) === true;

  const isWanted = (event: TailraceEvent): boolean => {
    if (selection.userKey !== undefined && userKey(event) !== selection.userKey) return false;
    if (events && !namedTypes.has(event.type)) return false;
    const filterable = filterableOf(event);
    return filters.every((filter) => filter(filterable) === undefined);
  };

  /** Not every tool that restores records keeps their times; then theirs is later. */
  const timeOf = (event: TailraceEvent, timestamp: number): number =>
    topic === undefined ? timestamp : Math.min(timestamp, Date.parse(event.receivedAt));

  return (record) => {
    const { timestamp, headers } = record;
    if (timestamp < from || (topic === undefined && timestamp >= until)) return other;
    // The records of other sources are most of them, and are not parsed.
    const named = headers['source-id']?.toString();
    if (named !== undefined && named !== '' && !isConnected(named)) return other;
    if (!mayBeWanted(record)) return other;
    const reading = readRecord(record, frames);
    if (reading.outcome === 'needs-schema') return reading;
    if (reading.outcome === 'rejected')
      return reading.code === 'unsupported-encoding' ? unreadable : notAnEvent;
    const lookup = lookUpSource(reading.source, config);
    if (lookup.outcome !== 'enabled' || !isConnected(lookup.source.id)) return other;
    const read = readEvent(record, reading);
    if (!read.ok) return notAnEvent;
    if (!isWanted(read.event)) return other;
    const { event } = read;
    const at = timeOf(event, timestamp);
    if (at < from || at >= until) return other;
    const { source } = lookup;
    const isSuppressed = event.userId !== undefined && users.isSuppressed(event.userId);
    const { routed } = routeEvent(event, source, routesOf(source.id), isSuppressed);
    if (routed.length === 0) return other;
    const contentHash = contentHashOf(reading.json, event);
    const delivery = (): Delivery => {
      // Kafka may keep events for longer than the router takes a time for plausible.
      const writtenAt = Math.min(at, Date.now());
      const origin = {
        sourceId: source.id,
        // Offsets of another topic say nothing of the order in `events`.
        position: topic === undefined ? record : undefined,
        contentHash,
        acceptedAt: acceptedAt(Date.parse(event.receivedAt), writtenAt, writtenAt),
        traceparent: validTraceparent(headers['traceparent']?.toString('latin1') ?? ''),
      };
      const [made] = deliveriesOf(event, origin, routed);
      if (!made) throw new Error('a routed event has a delivery');
      return made;
    };
    const mayBeDeleted = users.deletions > 0 && users.deletionsOf(source.id, userKey(event)).length > 0;
    if (mayBeDeleted && isOfDeletedUser(delivery(), at, users, () => event.userId)) return other;
    const id = deliveryId(source.id, event.messageId, contentHash, destinationId);
    return { outcome: 'selected', event, at, deliveryId: id, delivery };
  };
}

/** The configuration with this destination only. */
function onlyTo(
  config: Pick<ConfigLookup, 'destinationsOf' | 'disabledDestinationsOf'>,
  destinationId: string,
): Pick<ConfigLookup, 'destinationsOf' | 'disabledDestinationsOf'> {
  // The routes of a source are prepared again for other arrays.
  const found = new WeakMap<readonly Destination[], readonly Destination[]>();
  const only = (all: readonly Destination[]): readonly Destination[] => {
    let one = found.get(all);
    if (!one) found.set(all, (one = all.filter(({ id }) => id === destinationId)));
    return one;
  };
  return {
    destinationsOf: (sourceId) => only(config.destinationsOf(sourceId)),
    disabledDestinationsOf: (sourceId) => only(config.disabledDestinationsOf(sourceId)),
  };
}

/** Text that JSON writes in one way only. */
const plainText = /^[\w .:@-]+$/;

/** Whether a record may be of the selected user and name, before it is parsed: most are not. */
function textTest({ userKey, events }: EventSelection): (record: ConsumedRecord) => boolean {
  const user = userKey !== undefined && plainText.test(userKey) ? Buffer.from(userKey) : undefined;
  const names =
    events?.every((name) => plainText.test(name)) === true
      ? events.map((name) => Buffer.from(name))
      : undefined;
  return ({ key, value }) => {
    if (value === null || value[0] === 0) return true;
    if (user && key?.equals(user) !== true && !value.includes(user)) return false;
    return !names || names.some((name) => value.includes(name));
  };
}
