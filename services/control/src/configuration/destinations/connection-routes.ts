/** The routes that connect a destination to sources and disconnect it. */
import type { ConfigEditor } from '@tailrace/config';
import { ifMatch } from '../../http/schemas.ts';
import { routesOf, type Api } from '../../http/api.ts';
import { destinationAnswer, destinationErrors } from './routes.ts';
import { destinationEntries, validDestination } from './destination.ts';
import { loadSource } from '../sources/source.ts';

export function connectionRoutes(app: Api, config: ConfigEditor): void {
  const route = routesOf(app, 'Destinations', destinationErrors);
  const { change } = destinationEntries(config);
  const schema = {
    headers: ifMatch,
    response: destinationAnswer,
  };

  route.put('/destinations/:id/sources/:sourceId', {
    ...schema,
    operationId: 'connectSource',
    summary: 'Connect a source to a destination',
    handler: async (request, reply) => {
      const { sourceId } = request.params;
      const { shown } = await change(request, reply, 'connect', (stored, current) => {
        loadSource(current, sourceId);
        if (stored.sources.includes(sourceId)) return stored;
        return validDestination({ ...stored, sources: [...stored.sources, sourceId] }, stored, current);
      });
      return shown;
    },
  });

  route.delete('/destinations/:id/sources/:sourceId', {
    ...schema,
    operationId: 'disconnectSource',
    summary: 'Disconnect a source from a destination',
    handler: async (request, reply) => {
      const { sourceId } = request.params;
      const { shown } = await change(request, reply, 'disconnect', (stored, current) => {
        if (!stored.sources.includes(sourceId)) return stored;
        const sources = stored.sources.filter((other) => other !== sourceId);
        return validDestination({ ...stored, sources }, stored, current);
      });
      return shown;
    },
  });
}
