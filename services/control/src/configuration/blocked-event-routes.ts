/** The routes that block and unblock events of a source's track calls. */
import Type from 'typebox';
import { audit } from '../http/audit.ts';
import { ifMatch } from '../http/openapi.ts';
import type { Routes } from '../http/routes.ts';
import { answerEntry, checkPrecondition, keep, put } from './entries.ts';
import { sourceAnswer } from './source-routes.ts';
import { loadSource, validSource } from './sources.ts';

export const blockedEventRoutes: Routes = (app, { config }) => {
  const errors = { errors: ['invalid-configuration', 'precondition-failed'] as const };
  const schema = {
    tags: ['Schema'],
    params: Type.Object({ id: Type.String(), event: Type.String() }),
    headers: ifMatch,
    response: sourceAnswer,
  };

  app.put(
    '/sources/:id/blocked-events/:event',
    {
      config: errors,
      schema: { ...schema, operationId: 'blockEvent', summary: 'Block track calls of an event' },
    },
    async (request, reply) => {
      const { id, event } = request.params;
      audit(request, 'source.event.block', `source/${id}`);
      const changed = await config.change((current) => {
        const stored = loadSource(current, id);
        checkPrecondition(request, current.version('source', id));
        const blocked = stored.schema?.track?.blocked ?? [];
        if (blocked.includes(event)) return keep(current, 'source', stored);
        const entry = validSource(
          { ...stored, schema: { track: { blocked: [...blocked, event] } } },
          current,
        );
        return put(current, { kind: 'source', id, entry });
      });
      return answerEntry(reply, changed);
    },
  );

  app.delete(
    '/sources/:id/blocked-events/:event',
    {
      config: errors,
      schema: { ...schema, operationId: 'unblockEvent', summary: 'Stop blocking track calls of an event' },
    },
    async (request, reply) => {
      const { id, event } = request.params;
      audit(request, 'source.event.unblock', `source/${id}`);
      const changed = await config.change((current) => {
        const stored = loadSource(current, id);
        checkPrecondition(request, current.version('source', id));
        const blocked = stored.schema?.track?.blocked ?? [];
        if (!blocked.includes(event)) return keep(current, 'source', stored);
        const rest = blocked.filter((other) => other !== event);
        const entry = validSource({ ...stored, schema: { track: { blocked: rest } } }, current);
        return put(current, { kind: 'source', id, entry });
      });
      return answerEntry(reply, changed);
    },
  );
};
