/** What waits for a destination: have it tried again now, or end it. */
import { TailraceError } from '@tailrace/errors';
import type { RecallKind } from '@tailrace/topics';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { nothingThere } from '../configuration/entries.ts';
import type { Routes } from '../http/routes.ts';

const recallSchema = Type.Object({
  id: Type.String(),
  kind: Type.Enum(['retry', 'drain']),
  destinationId: Type.String(),
  requestedAt: Type.String({ format: 'date-time', description: 'deliveries that waited then are meant' }),
  state: Type.Enum(['running', 'done', 'stopped'], {
    description:
      'stopped: before the end, because the receiver is down, the destination is switched off, or a later request took its place',
  }),
  count: Type.Integer({ minimum: 0, description: 'deliveries brought forward, or ended, so far' }),
  partitions: Type.Object(
    { total: Type.Integer({ minimum: 0 }), ended: Type.Integer({ minimum: 0 }) },
    { description: 'of deliveries: each is done by the replica of delivery that owns it' },
  ),
});

const params = Type.Object({
  id: Type.String({
    pattern: '^[a-zA-Z0-9_-]{1,64}$',
    description: '1 to 64 letters, digits, dashes and underscores',
  }),
});

export const recallRoutes: Routes = (app, { config, recalls, audit }) => {
  const tags = ['Destinations'];

  const make = async (
    kind: RecallKind,
    request: FastifyRequest<{ Params: { id: string } }>,
    reply: FastifyReply,
  ) => {
    const { id } = request.params;
    audit(request, { action: `destination.${kind}`, target: `destination/${id}` });
    if (kind === 'retry') {
      const destination = config.destination(id);
      if (!destination) throw nothingThere({ kind: 'destination', id });
      if (!destination.enabled) {
        throw new TailraceError(
          'conflict',
          `The destination ${JSON.stringify(id)} is switched off: what is tried again would become a dead letter.`,
        );
      }
    }
    const recall = await recalls.request(kind, id);
    return reply.status(202).header('location', `/v1/destinations/${id}/recall`).send(recall);
  };

  app.post(
    '/destinations/:id/retry',
    {
      config: { errors: ['conflict'] },
      schema: {
        operationId: 'retryDestination',
        summary: 'Tries again now what waits for its next attempt',
        description:
          'Deliveries that wait in the retry tiers are sent as fast as the receiver takes them. Each keeps its place in the ' +
          'retry schedule. It ends an earlier request for the destination.',
        tags,
        params,
        response: { 202: recallSchema },
      },
    },
    (request, reply) => make('retry', request, reply),
  );

  app.post(
    '/destinations/:id/drain',
    {
      schema: {
        operationId: 'drainDestination',
        summary: 'Ends what waits for its next attempt: it becomes dead letters',
        description:
          'Deliveries that wait in the retry tiers become dead letters with the reason drained, which can be replayed. The ' +
          'destination may be switched off, or deleted. It ends an earlier request for the destination.',
        tags,
        params,
        response: { 202: recallSchema },
      },
    },
    (request, reply) => make('drain', request, reply),
  );

  app.get(
    '/destinations/:id/recall',
    {
      schema: {
        operationId: 'getRecall',
        summary: 'How far the last retry or drain of a destination is',
        tags,
        params,
        response: { 200: recallSchema },
      },
    },
    ({ params: { id } }) => {
      const found = recalls.find(id);
      if (found) return found;
      throw new TailraceError('not-found', `No retry or drain of ${JSON.stringify(id)} was asked for.`);
    },
  );
};
