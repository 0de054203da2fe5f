/** The list of the events that connected destinations did not get, with the reason. */
import { formatInstant } from '@tailrace/events';
import { noDestination, type FilteredEvent, type History } from '@tailrace/history';
import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import type { Role } from '../access/authenticate.ts';
import { listedOf } from '../access/limits.ts';
import { showUser } from '../access/mask.ts';
import { periodOf, periodParameters } from '../http/moment.ts';
import { closedObject, named, optionalText, time } from '../http/schemas.ts';
import { cursorsOf, pageOf, pageParameters } from '../http/page.ts';
import { routesOf, type Api } from '../http/api.ts';
import { userKeySchema } from './delivery-routes.ts';
import type { Exports } from '../exports/export.ts';
import { historyPage } from './page.ts';

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

const filters = {
  reason: text(
    `disabled, integrations, schema, filter, suppressed, or ${noDestination}: none was connected to the source`,
  ),
  source: text('the id of a source'),
  destination: text('the id of a destination'),
  userId: text('a userId, or an anonymousId for events without userId'),
};

/** A rule of a filter, as it was when the event was routed. */
export const ruleSchema = Type.Object(
  { path: Type.String(), text: Type.String() },
  { description: "the rule of the destinations' filters, as it was then" },
);

const filteredEventSchema = Type.Object({
  eventId: Type.String({ description: 'the messageId of the call' }),
  decidedAt: time('when the router decided'),
  sourceId: Type.String(),
  destinationId: optionalText(`the destination that did not get it; absent with ${noDestination}`),
  type: Type.String({ description: 'the type of the call' }),
  event: optionalText("the name of a track call's event"),
  userKey: userKeySchema,
  reason: Type.String({ description: 'a later version may add others' }),
  rule: Type.Optional(ruleSchema),
});

const cursors = cursorsOf('decisions', 'number', 'text', 'text', 'text');

const exported = [
  'decidedAt',
  'reason',
  'rule',
  'type',
  'event',
  'sourceId',
  'destinationId',
  'userKey',
  'eventId',
] as const;

const listed = closedObject({ ...filters, ...periodParameters });
const listedPage = closedObject({ ...filters, ...periodParameters, ...pageParameters });

export function decisionRoutes(app: Api, history: Pick<History, 'read'>, exports: Exports): void {
  const route = routesOf(app, 'History', ['history-unavailable']);
  const list = async (
    query: Static<typeof listedPage>,
    { role, caller }: Pick<FastifyRequest, 'role' | 'caller'>,
  ) => {
    const { reason, userId: userKey } = query;
    const filter = { reason, userKey, ...listedOf(caller, query), ...periodOf(query) };
    const page = await historyPage(history, cursors, query, (queries, limit, after) =>
      queries.listFilteredEvents(filter, limit, after),
    );
    return { ...page, items: page.items.map((row) => show(row, role)) };
  };

  route.get('/decisions', {
    operationId: 'listDecisions',
    summary: 'List the events that destinations did not get, newest first',
    description:
      'One item for each event and destination, as the router decided then; of an event, up to 100 destinations. With several ' +
      'filters that rarely match together, a page may have fewer items than `limit`, or none, and `next`.',
    querystring: listedPage,
    response: { 200: pageOf(named('FilteredEvent', filteredEventSchema)) },
    handler: (request) => list(request.query, request),
  });

  exports.add(route, '/decisions.csv', {
    operationId: 'exportDecisions',
    summary: 'Export the events that destinations did not get, newest first',
    querystring: listed,
    columns: exported,
    read: async (query, request) => {
      const { items, ...rest } = await list(query, request);
      return { ...rest, items: items.map(({ rule, ...item }) => ({ ...item, rule: rule?.text })) };
    },
  });
}

function show(
  { decidedAt, destinationId, event, rule, userKey, ...rest }: FilteredEvent,
  role: Role | undefined,
) {
  return {
    ...rest,
    userKey: showUser(userKey, role),
    decidedAt: formatInstant(decidedAt),
    ...(destinationId !== undefined && { destinationId }),
    ...(event !== null && { event }),
    ...(rule && { rule }),
  };
}
