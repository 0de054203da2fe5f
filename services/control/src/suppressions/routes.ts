/** The routes of suppressions: suppress users, list them, lift a suppression. */
import { TailraceError } from '@tailrace/errors';
import Type, { type Static } from 'typebox';
import { audit } from '../http/audit.ts';
import type { Exports } from '../exports/export.ts';
import { cursorsOf, pageOf, pageQuery } from '../http/page.ts';
import type { UserSuppressions } from './index.ts';
import { maxBodyBytes, requireWellFormed, userIdsSchema } from './user-ids.ts';
import { routesOf, type Api } from '../http/api.ts';
import { closedObject, time } from '../http/schemas.ts';

const params = Type.Object({ userId: Type.String({ description: 'the id of the user' }) });
const suppression = Type.Object({
  userId: Type.String(),
  since: time(),
});

const cursors = cursorsOf('suppressions', 'text');

const createSuppressionsBody = Type.Object(
  { userIds: userIdsSchema },
  { additionalProperties: false, description: 'an object with userIds' },
);
const createSuppressionsAnswers = {
  200: Type.Object({
    users: Type.Integer({ minimum: 0, description: 'distinct users in the request' }),
    added: Type.Integer({
      minimum: 0,
      description: 'of these, users who were not suppressed before',
    }),
  }),
};

export function suppressionRoutes(app: Api, suppressions: UserSuppressions, exports: Exports): void {
  const route = routesOf(app, 'Suppressions');
  route.post('/suppressions', {
    operationId: 'createSuppressions',
    summary: 'Suppress users',
    description:
      'Later calls of the users are not sent to any destination, until the suppression is lifted. Calls accepted ' +
      'before are not affected; for that, create a deletion request.',
    body: createSuppressionsBody,
    response: createSuppressionsAnswers,
    bodyLimit: maxBodyBytes,
    errors: ['too-many-suppressions'],
    handler: async (request) => {
      const { userIds } = request.body;
      requireWellFormed(userIds);
      const users = new Set(userIds).size;
      audit(
        request,
        'suppression.create',
        users === 1 ? `suppression/${userIds[0] ?? ''}` : `${users} users`,
      );
      return { users, added: await suppressions.suppress(userIds) };
    },
  });

  const list = async ({ limit = 50, cursor }: Static<typeof pageQuery>) => {
    const [after] = cursors.decode(cursor) ?? [];
    const found = await suppressions.list(after, limit + 1);
    const page = cursors.page(found, limit, ({ userId }) => [userId]);
    return { ...page, items: page.items.map(({ userId, since }) => ({ userId, since })) };
  };

  route.get('/suppressions', {
    operationId: 'listSuppressions',
    summary: 'List the suppressed users by id',
    description: 'A read-only token, which sees no ids of users, may look up a user that it knows.',
    querystring: pageQuery,
    response: { 200: pageOf(suppression) },
    handler: ({ query }) => list(query),
  });

  exports.add(route, '/suppressions.csv', {
    operationId: 'exportSuppressions',
    summary: 'Export the suppressed users by id',
    querystring: closedObject({}),
    columns: ['userId', 'since'],
    read: list,
  });

  route.get('/suppressions/:userId', {
    operationId: 'getSuppression',
    summary: 'Get a suppressed user',
    params,
    response: { 200: suppression },
    handler: async (request) => {
      const found = await suppressions.find(request.params.userId);
      if (!found) throw notSuppressed(request.params.userId);
      const { userId, since } = found;
      return { userId, since };
    },
  });

  route.delete('/suppressions/:userId', {
    operationId: 'deleteSuppression',
    summary: 'Lift the suppression of a user',
    description: 'Later calls of the user are sent again. Those that were refused are not.',
    params,
    response: { 204: { type: 'null', description: 'lifted' } },
    handler: async (request, reply) => {
      const { userId } = request.params;
      audit(request, 'suppression.lift', `suppression/${userId}`);
      if (!(await suppressions.lift(userId))) throw notSuppressed(userId);
      return reply.status(204).send();
    },
  });
}

function notSuppressed(userId: string): TailraceError {
  return new TailraceError('not-found', `The user ${JSON.stringify(userId)} is not suppressed.`);
}
