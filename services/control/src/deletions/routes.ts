/** The routes of deletion requests: create, list, read. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isTailraceError } from '@tailrace/errors';
import type { History } from '@tailrace/history';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import {
  eventGroupOf,
  isWritten,
  progressOf,
  sentBySource,
  type DeletionRequest,
  type Deletions,
} from './index.ts';
import type { Summaries } from '../history/summaries.ts';
import { audit } from '../http/audit.ts';
import { maxBodyBytes, requireWellFormed, userIdsSchema } from '../suppressions/user-ids.ts';
import { entryNotFound } from '../http/errors.ts';
import { closedObject, named, namedObject, optionalText, time } from '../http/schemas.ts';
import { newestFirst, pageInOrder, pageOf, pageParameters } from '../http/page.ts';
import { routesOf, type Api } from '../http/api.ts';

const requestId = Type.String({
  pattern: '^[a-zA-Z0-9._~-]{1,100}$',
  description: '1 to 100 letters, digits, dots, dashes, underscores and tildes',
});
const count = (description: string) => Type.Integer({ minimum: 0, description });

const wantedSchema = Type.Object(
  {
    requestId: Type.Optional(requestId),
    userIds: userIdsSchema,
    sources: Type.Optional(
      Type.Array(Type.String({ description: 'the id of a source' }), {
        minItems: 1,
        maxItems: 1_000,
        description: 'a list of 1 to 1,000 source ids; by default all sources',
      }),
    ),
  },
  { additionalProperties: false, description: 'a deletion request: an object with userIds' },
);

const sentSchema = {
  sourceId: Type.String(),
  destinations: Type.Array(Type.String(), {
    description: 'the destinations that were enabled when the request was created',
  }),
  sent: count('users for whom a delete event was written to this source'),
};
const requestFields = {
  id: Type.String(),
  state: Type.Enum(['sending', 'sent']),
  createdAt: time(),
  updatedAt: time(),
  users: count('distinct users in the request'),
  liftedAt: Type.Optional(time('when the deletion was lifted; absent while it is in force')),
  unaffected: Type.Array(
    Type.Object({ sourceId: Type.String(), reason: Type.Enum(['disabled', 'no-destination']) }),
    { description: 'requested sources that get no delete events' },
  ),
};
const outcomeFields = {
  delivered: count('deliveries that succeeded'),
  dead: count('deliveries that are dead letters'),
  waiting: count('deliveries that are pending, or whose outcome the history does not know'),
};
const requestSchema = Type.Object({
  ...requestFields,
  sources: Type.Array(
    Type.Object({
      ...sentSchema,
      delivered: Type.Optional(
        count(
          'deliveries that succeeded; this and the rest are absent while the history is unavailable or busy',
        ),
      ),
      dead: Type.Optional(outcomeFields.dead),
      waiting: Type.Optional(outcomeFields.waiting),
      byDestination: Type.Optional(
        Type.Array(namedObject('DeletionOutcomes', { destinationId: Type.String(), ...outcomeFields })),
      ),
    }),
  ),
});

/** The routes that show deletion requests. */
export const deletionPaths = /^\/v1\/deletions/;

const listDeletionsQuery = closedObject({
  userId: optionalText('the id of a user'),
  ...pageParameters,
});
const listDeletionsAnswers = {
  200: pageOf(
    namedObject('DeletionSummary', { ...requestFields, sources: Type.Array(Type.Object(sentSchema)) }),
  ),
};

export interface DeletionNeeds {
  readonly deletions: Deletions;
  readonly history: Pick<History, 'read'>;
  readonly summaries: Summaries;
}

export function deletionRoutes(app: Api, { deletions, history, summaries }: DeletionNeeds): void {
  const route = routesOf(app, 'Deletion requests');

  /** A source in each turn: it may have the deliveries of 1,000 users to many destinations. */
  const progress = async (request: DeletionRequest, mayGoOn: () => boolean) => {
    const shown = [];
    for (const source of sentBySource(request)) {
      if (shown.length > 0) await nextTurn();
      if (!mayGoOn()) return undefined;
      const group = eventGroupOf(request.id, source.sourceId);
      shown.push(
        progressOf(
          source,
          history.read((queries) => queries.outcomesOfEvents(group)),
        ),
      );
    }
    return shown;
  };

  /** Without the outcomes where they cannot be read now: the request does not depend on them. */
  const show = async (request: DeletionRequest, reply: FastifyReply) => {
    const sources = await summaries
      .read(reply, (mayGoOn) => progress(request, mayGoOn))
      .catch((error: unknown) => {
        if (isTailraceError(error)) return sentBySource(request);
        throw error;
      });
    return { ...fieldsOf(request), sources };
  };

  route.post('/deletions', {
    operationId: 'createDeletion',
    summary: 'Create a deletion request',
    description:
      'Each enabled destination of each affected source receives a webhook of type delete for each user. Calls of the ' +
      'users that were accepted before are not sent any more, and they leave the audiences. A request with ' +
      'the same requestId and content is executed once; repetitions are answered with 200.',
    body: named('DeletionInput', wantedSchema),
    response: { 200: named('Deletion', requestSchema), 202: named('Deletion', requestSchema) },
    bodyLimit: maxBodyBytes,
    errors: ['conflict', 'too-many-suppressions'],
    handler: async (request, reply) => {
      const { requestId: id = request.idempotency?.id, userIds, sources } = request.body;
      requireWellFormed(userIds);
      audit(request, 'deletion.create', `deletion/${id ?? 'new'}`);
      const created = await deletions.create({ id, userIds, sources });
      void reply.header('location', `/v1/deletions/${created.request.id}`);
      return reply.status(created.isNew ? 202 : 200).send(await show(created.request, reply));
    },
  });
  route.get('/deletions', {
    operationId: 'listDeletions',
    summary: 'List deletion requests, newest first',
    description:
      'Without delivery outcomes; get a single request for those. With `userId`, those in force that cover the user: a request that was lifted, or ' +
      'whose marks have expired, is left out.',
    querystring: listDeletionsQuery,
    response: listDeletionsAnswers,
    handler: async ({ query }) => {
      const { userId } = query;
      const found = userId === undefined ? deletions.list() : await deletions.listOf(userId);
      const page = pageInOrder('deletions', found, query, ({ createdAt, id }) =>
        newestFirst(Date.parse(createdAt), id),
      );
      const show = (request: DeletionRequest) => ({
        ...fieldsOf(request),
        sources: sentBySource(request),
      });
      return { ...page, items: page.items.map(show) };
    },
  });
  route.get('/deletions/:id', {
    operationId: 'getDeletion',
    summary: 'Get a deletion request with its delivery outcomes',
    response: { 200: named('Deletion', requestSchema) },
    handler: ({ params }, reply) => {
      const found = deletions.get(params.id);
      if (found) return show(found, reply);
      throw entryNotFound('deletion request', params.id);
    },
  });
  route.post('/deletions/:id/lift', {
    operationId: 'liftDeletion',
    summary: 'Lift a deletion',
    description:
      'What the users did before the deletion may be sent again, for example by a replay. Nothing is brought back by ' +
      'this alone: deliveries that have ended stay ended, and receivers keep what they have deleted.',
    response: { 200: requestSchema },
    errors: ['conflict'],
    handler: async (request, reply) => {
      const { id } = request.params;
      audit(request, 'deletion.lift', `deletion/${id}`);
      return show(await deletions.lift(id), reply);
    },
  });
}

function fieldsOf(request: DeletionRequest) {
  const { id, createdAt, updatedAt, users, unaffected, liftedAt } = request;
  const state = isWritten(request) ? 'sent' : 'sending';
  return { id, state, createdAt, updatedAt, users, unaffected, liftedAt };
}
