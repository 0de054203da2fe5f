/**
 * The routes of the health of destinations. It is not a field of the entries: these are what a client sends back and applies, with an ETag
 * that changes when they change, and they are read also without the history.
 */
import type { ConfigView, Destination } from '@tailrace/config';
import { formatInstant } from '@tailrace/events';
import { noHealthFacts, readIfAvailable, type HealthFacts, type History } from '@tailrace/history';
import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { reachesAllDeliveries } from '../access/limits.ts';
import {
  findDestinations,
  loadDestination,
  showDestination,
} from '../configuration/destinations/destination.ts';
import { destination as entrySchema, findParameters } from '../configuration/destinations/routes.ts';
import { routesOf, type Api } from '../http/api.ts';
import { maxExportRows, type Exports } from '../exports/export.ts';
import { pageInOrder, pageOf, pageParameters } from '../http/page.ts';
import { closedObject, namedObject, optionalText, time } from '../http/schemas.ts';
import { disablesAt, missedFrom, watchedOf, type Outage, type Watched } from '../outages/outage.ts';
import type { StoredOutages } from '../outages/stored.ts';
import { countOf, healthOf, healthStates } from './health.ts';

const outageSchema = namedObject('DestinationOutage', {
  state: Type.Enum(['failing', 'warned', 'disabled']),
  since: time('the first of its attempts, which have only failed'),
  reason: optionalText('of the latest failure'),
  disablesAt: Type.Optional(time('not before this time, and not while an attempt succeeds')),
  missedFrom: Type.Optional(time('`from` of the replay of events that sends what it has missed')),
});
const healthSchema = namedObject('DestinationHealth', {
  state: Type.Enum([...healthStates], {
    description:
      'failing: a circuit breaker is open, or at least half of the latest attempts fail; retrying: deliveries wait after a failure; ' +
      'no-traffic: no attempts in the last hour',
  }),
  attempts: Type.Integer({ description: 'in the last hour' }),
  delivered: Type.Integer({ description: 'of these attempts' }),
  lastSuccessAt: Type.Optional(time('when an event was last delivered, as far as the history knows')),
  pending: Type.Integer({ description: 'deliveries' }),
  retrying: Type.Integer({ description: 'pending deliveries that have failed' }),
  outage: Type.Optional(outageSchema),
});
const itemSchema = namedObject('DestinationWithHealth', {
  destination: entrySchema,
  health: Type.Optional(healthSchema),
});

const exported = [
  'id',
  'name',
  'state',
  'enabled',
  'paused',
  'attempts',
  'delivered',
  'lastSuccessAt',
  'pending',
  'retrying',
  'sources',
  'urls',
] as const;

const found = closedObject(findParameters);
const foundPage = closedObject({ ...pageParameters, ...findParameters });

export interface HealthNeeds {
  readonly config: ConfigView;
  readonly history: Pick<History, 'read'>;
  readonly outages: Pick<StoredOutages, 'find'>;
  readonly exports: Exports;
}

export function healthRoutes(app: Api, { config, history, outages, exports }: HealthNeeds): void {
  const route = routesOf(app, 'Destinations');
  const show = (destination: Destination, facts: HealthFacts = noHealthFacts) => {
    const { id } = destination;
    const outage = shownOutage(outages.find(id), watchedOf(config, id));
    return { ...showHealth(destination, facts), ...(outage && { outage }) };
  };

  const list = (
    query: Static<typeof foundPage>,
    { role, caller }: Pick<FastifyRequest, 'role' | 'caller'>,
  ) => {
    const destinations = findDestinations(config, caller, query);
    const known = new Set(destinations.map(({ id }) => id).filter((id) => reachesAllDeliveries(caller, id)));
    const facts = readIfAvailable(history, (queries) => queries.healthFacts([...known]));
    const all = destinations.map((one) => {
      const health = facts && known.has(one.id) ? show(one, facts.get(one.id)) : undefined;
      return { destination: one, health, key: orderOf(one, health) };
    });
    const sorted = all.sort((a, b) => (a.key < b.key ? -1 : 1));
    const { items, ...rest } = pageInOrder('destination-health', sorted, query, ({ key }) => key);
    return {
      items: items.map(({ destination, health }) => ({
        destination: showDestination(destination, role),
        ...(health && { health }),
      })),
      ...rest,
    };
  };

  route.get('/destination-health', {
    operationId: 'listDestinationHealth',
    summary: 'List the destinations with their health, worst first',
    description:
      'Without the history the list has no health, and is sorted by id. So it is for a token that is limited to sources, because the health ' +
      'is that of the deliveries of all sources. A destination whose health changes between two pages may be on both or on neither.',
    querystring: foundPage,
    response: { 200: pageOf(itemSchema) },
    handler: (request) => list(request.query, request),
  });

  exports.add(route, '/destination-health.csv', {
    operationId: 'exportDestinationHealth',
    summary: 'Export the destinations with their health, worst first',
    querystring: found,
    columns: exported,
    read: (query, request) => {
      const { items } = list({ ...query, limit: maxExportRows }, request);
      return { items: items.map(rowOf) };
    },
  });

  route.get('/destinations/:id/health', {
    operationId: 'getDestinationHealth',
    summary: 'Get the health of a destination',
    response: { 200: healthSchema },
    errors: ['history-unavailable'],
    handler: ({ params: { id } }) => {
      const destination = loadDestination(config, id);
      return show(destination, history.read((queries) => queries.healthFacts([id])).get(id));
    },
  });
}

/** In a cell, ids and URLs are separated by a space. */
function rowOf({
  destination,
  health,
}: {
  destination: Destination;
  health?: Partial<Static<typeof healthSchema>>;
}) {
  const { id, name, enabled, paused = false, sources, settings } = destination;
  const urls = settings.webhooks.map(({ url }) => url).join(' ');
  return { ...health, id, name, enabled, paused, sources: sources.join(' '), urls };
}

function showHealth(destination: Destination, facts: HealthFacts) {
  const { attempts, pending, retrying, deliveredAt } = facts;
  return {
    state: healthOf(destination, facts),
    attempts: countOf(attempts),
    delivered: attempts.delivered,
    ...(deliveredAt !== null && { lastSuccessAt: formatInstant(deliveredAt) }),
    pending,
    retrying,
  };
}

/** Undefined where the entry was changed since. */
function shownOutage(outage: Outage | undefined, watched: Watched | undefined) {
  if (!outage || !watched) return undefined;
  const { version, enabled, afterMs } = watched;
  const { state, since, reason } = outage;
  const isCurrent = state === 'disabled' ? !enabled : enabled && outage.version === version;
  if (!isCurrent) return undefined;
  return {
    state,
    since: formatInstant(since),
    ...(reason !== null && { reason }),
    ...(state !== 'disabled' &&
      afterMs !== undefined && { disablesAt: formatInstant(disablesAt(outage, afterMs)) }),
    ...(state === 'disabled' && { missedFrom: formatInstant(missedFrom(outage)) }),
  };
}

/** The worst state is the first, in it the lowest success rate. */
function orderOf({ id }: Destination, health: ReturnType<typeof showHealth> | undefined): string {
  if (!health) return id;
  const { state, attempts, delivered } = health;
  const rate = attempts === 0 ? 1 : delivered / attempts;
  return `${healthStates.indexOf(state)} ${rate.toFixed(6)} ${id}`;
}
