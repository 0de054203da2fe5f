/** The routes that attempt the pending deliveries of a destination immediately, or drain them. */
import type { ConfigView, Destination } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { loadDestination } from '../configuration/destinations/destination.ts';
import { audit } from '../http/audit.ts';
import { named } from '../http/schemas.ts';
import { routesOf, type Api } from '../http/api.ts';
import { recallSchema, type Recall, type Recalls } from './recalls.ts';

const params = Type.Object({
  id: Type.String({
    pattern: '^[a-zA-Z0-9_-]{1,64}$',
    description: '1 to 64 letters, digits, dashes and underscores',
  }),
});

/** The routes that show recalls. */
export const recallPaths = /\/recall$/;

export function recallRoutes(app: Api, recalls: Recalls, config: Pick<ConfigView, 'destination'>): void {
  const route = routesOf(app, 'Destinations');
  const answer = (reply: FastifyReply, recall: Recall): FastifyReply =>
    reply.status(202).header('location', `/v1/destinations/${recall.destinationId}/recall`).send(recall);

  route.post('/destinations/:id/retry', {
    operationId: 'retryDestination',
    summary: 'Retry the pending deliveries of a destination immediately',
    description:
      'Deliveries in the retry tiers are sent as fast as the receiver accepts them. Each keeps its step of the retry ' +
      'schedule. An earlier retry or drain of the destination ends.',
    params,
    response: { 202: named('Recall', recallSchema) },
    errors: ['conflict'],
    handler: async (request, reply) => {
      const { id } = request.params;
      audit(request, 'destination.retry', `destination/${id}`);
      requireSending(loadDestination(config, id));
      return answer(reply, await recalls.request('retry', id));
    },
  });

  route.post('/destinations/:id/drain', {
    operationId: 'drainDestination',
    summary: 'Turn the pending deliveries of a destination into dead letters',
    description:
      'Deliveries in the retry tiers become dead letters with the reason `drained`, which can be replayed. The destination ' +
      'may be disabled or deleted. An earlier retry or drain of the destination ends.',
    params,
    response: { 202: named('Recall', recallSchema) },
    handler: async (request, reply) => {
      const { id } = request.params;
      audit(request, 'destination.drain', `destination/${id}`);
      return answer(reply, await recalls.request('drain', id));
    },
  });

  route.get('/destinations/:id/recall', {
    operationId: 'getRecall',
    summary: 'Get the progress of the latest retry or drain of a destination',
    params,
    response: { 200: named('Recall', recallSchema) },
    handler: ({ params: { id } }) => {
      const found = recalls.find(id);
      if (found) return found;
      throw new TailraceError('not-found', `No retry or drain of ${JSON.stringify(id)} was requested.`);
    },
  });
}

/** @throws TailraceError `conflict` */
function requireSending({ id, enabled, paused }: Destination): void {
  if (enabled && !paused) return;
  throw new TailraceError(
    'conflict',
    enabled
      ? `The destination ${JSON.stringify(id)} is paused. Resume it: its deliveries are then sent.`
      : `The destination ${JSON.stringify(id)} is disabled: a retry would turn its deliveries into dead letters. Enable it first.`,
  );
}
