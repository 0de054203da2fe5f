/** The routes of deliveries: lists by filter, one delivery with its attempts, its body. */
import { TailraceError } from '@tailrace/errors';
import { eventTypes, formatInstant } from '@tailrace/events';
import { deliveryStatuses, type AttemptRow, type CountedDelivery, type History } from '@tailrace/history';
import { decodeDelivery, exchangeSchema } from '@tailrace/records';
import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { isLimited, listedOf, reachesDelivery } from '../access/limits.ts';
import type { Caller, Role } from '../access/authenticate.ts';
import { audit } from '../http/audit.ts';
import { showBody, showUrls, showUser } from '../access/mask.ts';
import type { RecordReader } from '../records/reader.ts';
import { periodOf, periodParameters } from '../http/moment.ts';
import { closedObject, named, namedObject, optionalText, time } from '../http/schemas.ts';
import { cursorsOf, pageOf, pageParameters } from '../http/page.ts';
import { routesOf, type Api } from '../http/api.ts';
import type { Exports } from '../exports/export.ts';
import { historyPage } from './page.ts';

const instant = (what: string) => time(`${what}: ISO 8601, UTC`);
const reason = optionalText(
  'why the delivery is not delivered, such as timeout; paused: it waits until its destination is resumed',
);

export const userKeySchema = Type.String({
  description: 'the userId, else the anonymousId; masked for a read-only token',
});

const deliveryFields = {
  deliveryId: Type.String(),
  eventId: Type.String({ description: 'the messageId of the call' }),
  sourceId: Type.String(),
  destinationId: Type.String(),
  type: Type.String({ description: 'the type of the call, or delete' }),
  event: optionalText("the name of a track call's event"),
  userKey: userKeySchema,
  status: Type.Enum([...deliveryStatuses], {
    description:
      'waiting (not attempted yet), retrying (pending after an attempt), delivered, dead, or unknown (sent or given up; the record ' +
      'of its last attempt was lost)',
  }),
  createdAt: instant('the earliest known record'),
  changedAt: Type.Optional(instant('when the status began')),
  attempts: Type.Integer({ description: 'number of known attempts' }),
  reason,
  nextDueAt: Type.Optional(instant('when the next attempt is due')),
};

const urlSchema = Type.Object({
  url: Type.String({ description: 'without its query' }),
  status: Type.Optional(Type.Integer({ description: 'the HTTP status' })),
  reason,
  detail: optionalText('the network or TLS error'),
  latencyMs: Type.Number(),
  exchange: Type.Optional(
    named('Exchange', {
      ...exchangeSchema,
      description:
        'what was sent and answered in a failed request; values of the answer are masked for a read-only token',
    }),
  ),
});

export const attemptSchema = Type.Object({
  attempt: Type.Integer({ description: '1 for the first' }),
  startedAt: instant('when the attempt began'),
  latencyMs: Type.Number({ description: 'until the last response of its URLs' }),
  outcome: Type.Enum(['delivered', 'retry', 'dead']),
  reason,
  nextDueAt: Type.Optional(instant('when the next attempt was due')),
  urls: Type.Array(urlSchema, { description: 'the result of each attempted URL' }),
});

export const deliverySchema = Type.Object(deliveryFields);
export const resendsSchema = Type.Array(
  namedObject('DeliveryResend', {
    at: instant('when the delivery was replayed or resent'),
    by: optionalText('the name of the token, or the user of the command line; not for a limited token'),
  }),
  { description: 'oldest first' },
);
const wholeDeliverySchema = Type.Object({
  ...deliveryFields,
  history: Type.Array(named('Attempt', attemptSchema), { description: 'its attempts, oldest first' }),
  resends: resendsSchema,
});

const filters = {
  destination: optionalText('the id of a destination'),
  source: optionalText('the id of a source'),
  type: Type.Optional(Type.Enum([...eventTypes], { description: `one of ${eventTypes.join(', ')}` })),
  event: optionalText('the name of a track event'),
  userId: optionalText('a userId, or an anonymousId for deliveries without userId'),
  status: Type.Optional(
    Type.Enum([...deliveryStatuses], { description: `one of ${deliveryStatuses.join(', ')}` }),
  ),
};

const cursors = cursorsOf('deliveries', 'number', 'text');

const exported = [
  'createdAt',
  'status',
  'type',
  'event',
  'sourceId',
  'destinationId',
  'userKey',
  'reason',
  'attempts',
  'changedAt',
  'nextDueAt',
  'deliveryId',
  'eventId',
] as const;

const getDeliveryBodyAnswers = {
  200: Type.Object({
    deliveryId: Type.String(),
    masked: Type.Boolean({ description: 'whether the values are masked' }),
    body: Type.Unknown(),
    text: optionalText('the exact text that is signed and sent'),
    transformVersion: Type.Optional(
      Type.Integer({ description: 'the version of the transform that has made the body' }),
    ),
  }),
};

const listed = closedObject({ ...filters, ...periodParameters });
const listedPage = closedObject({ ...filters, ...periodParameters, ...pageParameters });

export interface DeliveryNeeds {
  readonly records: RecordReader;
  readonly history: Pick<History, 'read'>;
  readonly exports: Exports;
}

export function deliveryRoutes(app: Api, { records, history, exports }: DeliveryNeeds): void {
  const route = routesOf(app, 'History', ['history-unavailable']);

  const find = (id: string, caller: Caller | undefined): CountedDelivery => {
    const found = history.read((queries) => queries.findDelivery(id));
    if (found && reachesDelivery(caller, found)) return found;
    throw new TailraceError('not-found', `The history has no delivery ${JSON.stringify(id)}.`);
  };

  const list = async (
    query: Static<typeof listedPage>,
    { role, caller }: Pick<FastifyRequest, 'role' | 'caller'>,
  ) => {
    const { userId, type, event, status } = query;
    const filter = { ...listedOf(caller, query), userKey: userId, type, event, status, ...periodOf(query) };
    const page = await historyPage(history, cursors, query, (queries, limit, after) =>
      queries.listDeliveries(filter, limit, after),
    );
    return { ...page, items: page.items.map((row) => showDelivery(row, role)) };
  };

  route.get('/deliveries', {
    operationId: 'listDeliveries',
    summary: 'List deliveries, newest first',
    description:
      'With several filters that rarely match together, a page may have fewer items than `limit`, or none, and `next`.',
    querystring: listedPage,
    response: { 200: pageOf(named('Delivery', deliverySchema)) },
    handler: (request) => list(request.query, request),
  });

  exports.add(route, '/deliveries.csv', {
    operationId: 'exportDeliveries',
    summary: 'Export deliveries, newest first',
    querystring: listed,
    columns: exported,
    read: list,
  });

  route.get('/deliveries/:deliveryId', {
    operationId: 'getDelivery',
    summary: 'Get a delivery with its attempts',
    response: { 200: named('DeliveryWithAttempts', wholeDeliverySchema) },
    handler: ({ params: { deliveryId }, role, caller }) => ({
      ...showDelivery(find(deliveryId, caller), role),
      history: history
        .read((queries) => queries.attemptsOf(deliveryId))
        .map((attempt) => showAttempt(attempt, role)),
      resends: showResends(history, caller, deliveryId),
    }),
  });

  route.get('/deliveries/:deliveryId/body', {
    operationId: 'getDeliveryBody',
    summary: 'Get the body of a delivery',
    description:
      'The body is read from its topic. For a read-only token all values but version, type and event are masked, and all where a transform has ' +
      'made the body. The audit log has each read.',
    response: getDeliveryBodyAnswers,
    handler: async (request) => {
      const { params, role, caller } = request;
      const { deliveryId } = params;
      const { place } = find(deliveryId, caller);
      const record = place && (await records.at(caller, place));
      const delivery = record ? decodeDelivery(record) : undefined;
      if (typeof delivery !== 'object' || delivery.deliveryId !== deliveryId) {
        throw new TailraceError(
          'not-found',
          'The body of the delivery has expired. The topics keep bodies for seven days.',
        );
      }
      const { transformVersion: version } = delivery;
      audit(request, 'delivery.read-body', `delivery/${deliveryId}`);
      return {
        deliveryId,
        ...showBody(delivery.body, role, version !== undefined),
        ...(version !== undefined && { transformVersion: version }),
      };
    },
  });
}

/** When a delivery was sent again, oldest first. */
export function showResends(history: Pick<History, 'read'>, caller: Caller | undefined, id: string) {
  return history
    .read((queries) => queries.resendsOf(id))
    .map(({ at, by }) => ({ at: formatInstant(at), ...(by !== null && !isLimited(caller) && { by }) }));
}

export function showDelivery(
  { id, event, userKey, createdAt, state, place: _place, ...row }: CountedDelivery,
  role: Role | undefined,
) {
  const { status, changedAt, reason, nextDueAt } = state;
  return {
    deliveryId: id,
    ...row,
    ...(event !== null && { event }),
    userKey: showUser(userKey, role),
    status,
    createdAt: formatInstant(createdAt),
    ...(changedAt > 0 && { changedAt: formatInstant(changedAt) }),
    ...(reason !== null && { reason }),
    // A paused delivery is attempted when its destination is resumed, not when its record says.
    ...(nextDueAt !== null && reason !== 'paused' && { nextDueAt: formatInstant(nextDueAt) }),
  };
}

export function showAttempt(
  { attempt, startedAt, latencyMs, outcome, reason, nextDueAt, urls }: AttemptRow,
  role: Role | undefined,
) {
  return {
    attempt,
    startedAt: formatInstant(startedAt),
    latencyMs,
    outcome,
    ...(reason !== null && { reason }),
    ...(nextDueAt !== null && { nextDueAt: formatInstant(nextDueAt) }),
    urls: showUrls(urls, role),
  };
}
