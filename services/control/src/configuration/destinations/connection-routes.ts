/** The routes that connect a destination to sources and disconnect it. */
import { maskDestination, type ConfigEditor } from '@tailrace/config';
import Type from 'typebox';
import { ifMatch } from '../../http/schemas.ts';
import type { Api } from '../../http/api.ts';
import { destinationAnswer, destinationErrors } from './routes.ts';
import { destinationChanges, validDestination } from './destination.ts';
import { loadSource } from '../sources/source.ts';

export function connectionRoutes(app: Api, config: ConfigEditor): void {
  const change = destinationChanges(config);
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
      const { sourceId } = request.params;
      const { entry } = await change(request, reply, 'connect', (stored, current) => {
        loadSource(current, sourceId);
        if (stored.sources.includes(sourceId)) return stored;
        return validDestination({ ...stored, sources: [...stored.sources, sourceId] }, stored, current);
      });
      return maskDestination(entry);
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
      const { sourceId } = request.params;
      const { entry } = await change(request, reply, 'disconnect', (stored, current) => {
        if (!stored.sources.includes(sourceId)) return stored;
        const sources = stored.sources.filter((other) => other !== sourceId);
        return validDestination({ ...stored, sources }, stored, current);
      });
      return maskDestination(entry);
    },
  );
}
