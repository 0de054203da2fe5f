/** Deletion requests: make one, and look how far it is. */
import { TailraceError } from '@tailrace/errors';
import { maxIdLength } from '@tailrace/events';
import Type from 'typebox';
import { progressOf, totalOf, type DeletionRequest } from './index.ts';
import { decodeCursor, encodeCursor, pageOf, pageParameters } from '../http/page.ts';
import type { Routes } from '../http/routes.ts';

const maxUsers = 1_000;
const maxBodyBytes = 512 * 1024;

const requestId = Type.String({
  pattern: '^[a-zA-Z0-9._~-]{1,100}$',
  description: '1 to 100 letters, digits, dots, dashes, underscores and tildes',
});
const count = (description: string) => Type.Integer({ minimum: 0, description });

const wantedSchema = Type.Object(
  {
    requestId: Type.Optional(requestId),
    userIds: Type.Array(
      Type.String({ minLength: 1, maxLength: maxIdLength, description: 'a text of 1 to 1,024 characters' }),
      { minItems: 1, maxItems: maxUsers, description: 'a list of 1 to 1,000 ids of users' },
    ),
    sources: Type.Optional(
      Type.Array(Type.String({ description: 'the id of a source' }), {
        minItems: 1,
        maxItems: 1_000,
        description: 'a list of ids of sources; left out, all are meant',
      }),
    ),
  },
  { additionalProperties: false, description: 'a deletion request: an object with userIds' },
);

const sentSchema = {
  sourceId: Type.String(),
  destinations: Type.Array(Type.String(), {
    description: 'its enabled destinations when the request was made',
  }),
  sent: count('users of whom the source has been told, by a call of type delete'),
};
const requestFields = {
  id: Type.String(),
  state: Type.Enum(['sending', 'sent']),
  createdAt: Type.String({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time' }),
  users: count('how many users, each counted once'),
  unaffected: Type.Array(
    Type.Object({ sourceId: Type.String(), reason: Type.Enum(['disabled', 'no-destination']) }),
    { description: 'sources that were asked for and are told nothing' },
  ),
};
const requestSchema = Type.Object({
  ...requestFields,
  sources: Type.Array(
    Type.Object({
      ...sentSchema,
      delivered: count('deliveries that arrived'),
      dead: count('deliveries that are dead letters'),
      waiting: count('deliveries neither delivered nor dead, as far as is known'),
    }),
  ),
});
const tags = ['Deletion requests'];

export const deletionRoutes: Routes = (app, deps) => {
  const { deletions, history, audit } = deps;

  const show = (request: DeletionRequest) => ({
    ...fieldsOf(request),
    sources: progressOf(request, history),
  });

  app.post(
    '/deletions',
    {
      bodyLimit: maxBodyBytes,
      config: { errors: ['conflict'] },
      schema: {
        operationId: 'createDeletion',
        summary: 'Have users forgotten',
        description:
          'Each enabled destination of each affected source gets a webhook of type delete for each user. The same request under ' +
          'the same requestId is made once, and answered with 200 from then on.',
        tags,
        body: wantedSchema,
        response: { 200: requestSchema, 202: requestSchema },
      },
    },
    async (request, reply) => {
      const { requestId: id, userIds, sources } = request.body;
      const malformed = userIds.findIndex((userId) => !userId.isWellFormed());
      if (malformed >= 0) {
        const problem = { field: `userIds[${malformed}]`, rule: 'has half a surrogate pair' };
        throw new TailraceError('invalid-request', `${problem.field} ${problem.rule}.`, {
          problems: [problem],
        });
      }
      audit(request, { action: 'deletion.create', target: `deletion/${id ?? 'new'}` });
      const created = await deletions.create({ id, userIds, sources });
      void reply.header('location', `/v1/deletions/${created.request.id}`);
      return reply.status(created.isNew ? 202 : 200).send(show(created.request));
    },
  );
  app.get(
    '/deletions',
    {
      schema: {
        operationId: 'listDeletions',
        summary: 'Deletion requests, the newest first',
        description: 'What became of the deliveries is told of one request at a time.',
        tags,
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: {
          200: pageOf(Type.Object({ ...requestFields, sources: Type.Array(Type.Object(sentSchema)) })),
        },
      },
    },
    ({ query }) => {
      const { limit = 50, cursor } = query;
      const all = deletions.list();
      const after = cursor === undefined ? undefined : decodeCursor(cursor, isPlace);
      const rest =
        after === undefined ? all : all.filter(({ createdAt, id }) => isAfter([createdAt, id], after));
      const page = rest.slice(0, limit);
      const last = page.at(-1);
      const items = page.map((request) => ({
        ...fieldsOf(request),
        sources: progressOf(request, noOutcomes).map(({ sourceId, destinations, sent }) => ({
          sourceId,
          destinations,
          sent,
        })),
      }));
      if (!last || rest.length <= limit) return { items };
      return { items, next: encodeCursor([last.createdAt, last.id]) };
    },
  );
  app.get(
    '/deletions/:id',
    {
      schema: {
        operationId: 'getDeletion',
        summary: 'One deletion request, and what became of it',
        tags,
        params: Type.Object({ id: Type.String() }),
        response: { 200: requestSchema },
      },
    },
    ({ params }) => {
      const found = deletions.get(params.id);
      if (found) return show(found);
      throw new TailraceError('not-found', `There is no deletion request ${JSON.stringify(params.id)}.`);
    },
  );
};

const noOutcomes = { outcomesOfEvents: () => new Map<never, never>() };

function fieldsOf(request: DeletionRequest) {
  const { id, createdAt, updatedAt, users, unaffected, sent } = request;
  const state = sent === totalOf(request) ? 'sent' : 'sending';
  return { id, state, createdAt, updatedAt, users, unaffected };
}

type Place = readonly [createdAt: string, id: string];

function isPlace(value: unknown): value is Place {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}

/** In a list with the newest first, and ids in order where times are the same. */
function isAfter([createdAt, id]: Place, [lastCreatedAt, lastId]: Place): boolean {
  return createdAt === lastCreatedAt ? id > lastId : createdAt < lastCreatedAt;
}
