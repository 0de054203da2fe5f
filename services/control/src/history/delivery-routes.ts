/** Deliveries: lists by filter, one with all that is known of it, its body. */
import { TailraceError } from '@tailrace/errors';
import { eventTypes, formatInstant } from '@tailrace/events';
import { decodeDelivery } from '@tailrace/topics';
import Type from 'typebox';
import { recordAt, showBody } from '../http/body.ts';
import { deliveryStatuses, type AttemptRow, type CountedDelivery, type DeliveryPosition } from './index.ts';
import { periodOf, periodParameters } from '../http/moment.ts';
import { decodeCursor, encodeCursor, pageOf, pageParameters } from '../http/page.ts';
import type { Routes } from '../http/routes.ts';

const time = (what: string) => Type.String({ format: 'date-time', description: `${what}: ISO 8601, UTC` });
const reason = Type.Optional(Type.String({ description: 'why it is not delivered, such as timeout' }));

const deliveryFields = {
  deliveryId: Type.String(),
  eventId: Type.String({ description: 'the messageId of the call' }),
  sourceId: Type.String(),
  destinationId: Type.String(),
  type: Type.String({ description: 'the type of the call, or delete' }),
  event: Type.Optional(Type.String({ description: "the name of a track call's event" })),
  userKey: Type.String({ description: 'the userId, else the anonymousId' }),
  status: Type.Enum([...deliveryStatuses], {
    description: 'waiting (never attempted), retrying (waits for its next attempt), delivered or dead',
  }),
  createdAt: time('when it is first heard of'),
  changedAt: Type.Optional(time('when it came to be so')),
  attempts: Type.Integer({ description: 'how many attempts are known' }),
  reason,
  nextDueAt: Type.Optional(time('when the next attempt is due')),
};

const urlSchema = Type.Object({
  url: Type.String({ description: 'without its query' }),
  status: Type.Optional(Type.Integer({ description: 'of HTTP' })),
  reason,
  detail: Type.Optional(Type.String({ description: 'what the network or TLS said' })),
  latencyMs: Type.Number(),
});

export const attemptSchema = Type.Object({
  attempt: Type.Integer({ description: '1 for the first' }),
  startedAt: time('when it began'),
  latencyMs: Type.Number({ description: 'to the last answer of its URLs' }),
  outcome: Type.Enum(['delivered', 'retry', 'dead']),
  reason,
  nextDueAt: Type.Optional(time('when the next one was due')),
  urls: Type.Array(urlSchema, { description: 'what each URL that was tried answered' }),
});

export const deliverySchema = Type.Object(deliveryFields);
const wholeDeliverySchema = Type.Object({
  ...deliveryFields,
  history: Type.Array(attemptSchema, { description: 'its attempts, oldest first' }),
});

const filters = {
  destination: Type.Optional(Type.String({ description: 'only those of this destination' })),
  source: Type.Optional(Type.String({ description: 'only those of this source' })),
  type: Type.Optional(Type.Enum([...eventTypes], { description: `one of ${eventTypes.join(', ')}` })),
  event: Type.Optional(Type.String({ description: 'only those of track calls of this event' })),
  userId: Type.Optional(
    Type.String({ description: 'only those of this userId, or anonymousId where there is none' }),
  ),
  status: Type.Optional(
    Type.Enum([...deliveryStatuses], { description: `one of ${deliveryStatuses.join(', ')}` }),
  ),
};

const params = Type.Object({ deliveryId: Type.String() });

export const deliveryRoutes: Routes = (app, { kafka, history }) => {
  const tags = ['What happened'];
  const config = { errors: ['history-unavailable'] as const };

  const find = (id: string): CountedDelivery => {
    const found = history.find(id);
    if (found) return found;
    throw new TailraceError('not-found', `The history has no delivery ${JSON.stringify(id)}.`);
  };

  app.get(
    '/deliveries',
    {
      config,
      schema: {
        operationId: 'listDeliveries',
        summary: 'Deliveries, newest first',
        tags,
        querystring: Type.Object(
          { ...filters, ...periodParameters, ...pageParameters },
          { additionalProperties: false },
        ),
        response: { 200: pageOf(deliverySchema) },
      },
    },
    ({ query }) => {
      const { destination, source, userId, type, event, status, limit = 50, cursor } = query;
      const after = cursor === undefined ? undefined : decodeCursor(cursor, isPosition);
      const filter = {
        ...{ destinationId: destination, sourceId: source, userKey: userId, type, event, status },
        ...periodOf(query),
      };
      const rows = history.list(filter, limit + 1, after);
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        items: page.map(showDelivery),
        ...(last &&
          rows.length > limit && { next: encodeCursor({ createdAt: last.createdAt, id: last.id }) }),
      };
    },
  );

  app.get(
    '/deliveries/:deliveryId',
    {
      config,
      schema: {
        operationId: 'getDelivery',
        summary: 'One delivery with all its attempts',
        tags,
        params,
        response: { 200: wholeDeliverySchema },
      },
    },
    ({ params: { deliveryId } }) => ({
      ...showDelivery(find(deliveryId)),
      history: history.attemptsOf(deliveryId).map(showAttempt),
    }),
  );

  app.get(
    '/deliveries/:deliveryId/body',
    {
      config,
      schema: {
        operationId: 'getDeliveryBody',
        summary: 'The body of a delivery',
        description: 'Read from the topic in which it lies. With a token for reading, every value is masked.',
        tags,
        params,
        response: {
          200: Type.Object({
            deliveryId: Type.String(),
            masked: Type.Boolean({ description: 'whether the values are hidden' }),
            body: Type.Unknown(),
            text: Type.Optional(Type.String({ description: 'byte for byte as it is signed and sent' })),
          }),
        },
      },
    },
    async ({ params: { deliveryId }, role }) => {
      const { place } = find(deliveryId);
      const record = place && (await recordAt(kafka, place));
      const delivery = record ? decodeDelivery(record) : undefined;
      if (typeof delivery !== 'object' || delivery.deliveryId !== deliveryId) {
        throw new TailraceError('not-found', 'Its body has expired: the topics keep it for seven days.');
      }
      return { deliveryId, ...showBody(delivery.body, role) };
    },
  );
};

export function showDelivery({ id, event, createdAt, state, ...row }: CountedDelivery) {
  const { eventId, sourceId, destinationId, type, userKey, attempts } = row;
  const { status, changedAt, reason, nextDueAt } = state;
  return {
    ...{ deliveryId: id, eventId, sourceId, destinationId, type },
    ...(event !== null && { event }),
    ...{ userKey, status, createdAt: formatInstant(createdAt) },
    ...(changedAt > 0 && { changedAt: formatInstant(changedAt) }),
    attempts,
    ...(reason !== null && { reason }),
    ...(nextDueAt !== null && { nextDueAt: formatInstant(nextDueAt) }),
  };
}

export function showAttempt({ attempt, startedAt, latencyMs, outcome, reason, nextDueAt, urls }: AttemptRow) {
  return {
    ...{ attempt, startedAt: formatInstant(startedAt), latencyMs, outcome },
    ...(reason !== null && { reason }),
    ...(nextDueAt !== null && { nextDueAt: formatInstant(nextDueAt) }),
    urls,
  };
}

function isPosition(value: unknown): value is DeliveryPosition {
  const { createdAt, id } = (value ?? {}) as Partial<Record<string, unknown>>;
  return Number.isSafeInteger(createdAt) && typeof id === 'string';
}
