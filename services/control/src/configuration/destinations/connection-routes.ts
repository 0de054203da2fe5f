/** The routes that connect a destination to sources and disconnect it. */
import { maskDestination, type ConfigEditor } from '@tailrace/config';
import Type from 'typebox';
import { audit } from '../../http/audit.ts';
import { ifMatch } from '../../http/schemas.ts';
import type { Api } from '../../http/api.ts';
import { destinationAnswer, destinationErrors } from './routes.ts';
import { loadDestination, validDestination } from './destination.ts';
import { answerEntry, checkPrecondition, keep, put } from '../entries.ts';
import { loadSource } from '../sources/source.ts';

export function connectionRoutes(app: Api, config: ConfigEditor): void {
  const schema = {
    tags: ['Destinations'],
    params: Type.Object({ id: Type.String(), sourceId: Type.String() }),
    headers: ifMatch,
    response: destinationAnswer,
  };

  app.put(
    '/destinations/:id/sources/:sourceId',
    {
      config: { errors: destinationErrors },
      schema: { ...schema, operationId: 'connectSource', summary: 'Connect a source to a destination' },
    },
    async (request, reply) => {
      const { id, sourceId } = request.params;
      audit(request, 'destination.connect', `destination/${id}`);
      const changed = await config.change((current) => {
        const stored = loadDestination(current, id);
        checkPrecondition(request, current.version('destination', id));
        loadSource(current, sourceId);
        if (stored.sources.includes(sourceId)) return keep(current, 'destination', stored);
        const wanted = { ...stored, sources: [...stored.sources, sourceId] };
        const entry = validDestination(wanted, stored, current);
        return put(current, { kind: 'destination', id, entry });
      });
      return maskDestination(answerEntry(reply, changed));
    },
  );

  app.delete(
    '/destinations/:id/sources/:sourceId',
    {
      config: { errors: destinationErrors },
      schema: {
        ...schema,
        operationId: 'disconnectSource',
        summary: 'Disconnect a source from a destination',
      },
    },
    async (request, reply) => {
      const { id, sourceId } = request.params;
      audit(request, 'destination.disconnect', `destination/${id}`);
      const changed = await config.change((current) => {
        const stored = loadDestination(current, id);
        checkPrecondition(request, current.version('destination', id));
        if (!stored.sources.includes(sourceId)) return keep(current, 'destination', stored);
        const wanted = { ...stored, sources: stored.sources.filter((other) => other !== sourceId) };
        const entry = validDestination(wanted, stored, current);
        return put(current, { kind: 'destination', id, entry });
      });
      return maskDestination(answerEntry(reply, changed));
    },
  );
}
