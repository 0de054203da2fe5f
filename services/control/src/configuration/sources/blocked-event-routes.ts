/**
 * The routes that block and unblock events of a source's track calls. The name is in the query or, for older clients, in the path:
 * clients resolve the steps `.` and `..` of a path, also encoded, so these names reach the server in the query only.
 */
import type { ConfigEditor } from '@tailrace/config';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { closedObject, ifMatch } from '../../http/schemas.ts';
import { routesOf, type Api } from '../../http/api.ts';
import { sourceAnswer } from './routes.ts';
import { sourceEntries, validSource } from './source.ts';

const inQuery = {
  querystring: closedObject({
    event: Type.String({ minLength: 1, description: 'the name of a track event' }),
  }),
};
const description =
  'As with the name in the query, except for the names `.` and `..`, which clients resolve in paths.';

export function blockedEventRoutes(app: Api, config: ConfigEditor): void {
  const route = routesOf(app, 'Schema', ['invalid-configuration', 'conflict', 'precondition-failed']);
  const { changeAndShow } = sourceEntries(config);
  const schema = { headers: ifMatch, response: sourceAnswer };
  const block = { ...schema, summary: 'Block track calls of an event' };
  const unblock = { ...schema, summary: 'Stop blocking track calls of an event' };

  const setBlocked = (request: FastifyRequest, reply: FastifyReply, event: string, isBlocked: boolean) =>
    changeAndShow(request, reply, `event.${isBlocked ? 'block' : 'unblock'}`, (stored, current) => {
      const before = stored.schema?.track?.blocked ?? [];
      if (before.includes(event) === isBlocked) return stored;
      const blocked = isBlocked ? [...before, event] : before.filter((other) => other !== event);
      return validSource({ ...stored, schema: { track: { blocked } } }, current);
    });

  route.put('/sources/:id/blocked-events', {
    ...block,
    ...inQuery,
    operationId: 'blockEvent',
    handler: (request, reply) => setBlocked(request, reply, request.query.event, true),
  });

  route.delete('/sources/:id/blocked-events', {
    ...unblock,
    ...inQuery,
    operationId: 'unblockEvent',
    handler: (request, reply) => setBlocked(request, reply, request.query.event, false),
  });

  route.put('/sources/:id/blocked-events/:event', {
    ...block,
    description,
    operationId: 'blockEventInPath',
    handler: (request, reply) => setBlocked(request, reply, request.params.event, true),
  });

  route.delete('/sources/:id/blocked-events/:event', {
    ...unblock,
    description,
    operationId: 'unblockEventInPath',
    handler: (request, reply) => setBlocked(request, reply, request.params.event, false),
  });
}
