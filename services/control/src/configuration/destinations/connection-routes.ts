/** The routes that connect a destination to sources and disconnect it. */
import type { ConfigEditor } from '@tailrace/config';
import { ifMatch } from '../../http/schemas.ts';
import { routesOf, type Api } from '../../http/api.ts';
import { destinationAnswer, destinationErrors } from './routes.ts';
import { destinationEntries, validDestination } from './destination.ts';
import { loadSource } from '../sources/source.ts';

export function connectionRoutes(app: Api, config: ConfigEditor): void {
  const route = routesOf(app, 'Destinations', destinationErrors);
  const { changeAndShow } = destinationEntries(config);
  const schema = { headers: ifMatch, response: destinationAnswer };

  route.put('/destinations/:id/sources/:sourceId', {
    ...schema,
    operationId: 'connectSource',
    summary: 'Connect a source to a destination',
    handler: (request, reply) =>
      changeAndShow(request, reply, 'connect', (stored, current) => {
        const { sourceId } = request.params;
        loadSource(current, sourceId);
        if (stored.sources.includes(sourceId)) return stored;
        return validDestination({ ...stored, sources: [...stored.sources, sourceId] }, stored, current);
      }),
  });

  route.delete('/destinations/:id/sources/:sourceId', {
    ...schema,
    operationId: 'disconnectSource',
    summary: 'Disconnect a source from a destination',
    handler: (request, reply) =>
      changeAndShow(request, reply, 'disconnect', (stored, current) => {
        const { sourceId } = request.params;
        if (!stored.sources.includes(sourceId)) return stored;
        const sources = stored.sources.filter((other) => other !== sourceId);
        return validDestination({ ...stored, sources }, stored, current);
      }),
  });
}
