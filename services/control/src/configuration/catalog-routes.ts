/** The routes of the catalog: the types of destinations, each with the JSON Schema of its settings. */
import { webhooksSettingsSchema } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import Type from 'typebox';
import { named } from '../http/schemas.ts';
import { pageInOrder, pageOf, pageQuery } from '../http/page.ts';
import { routesOf, type Api } from '../http/api.ts';

const typeSchema = Type.Object({
  type: Type.String({ description: 'the `type` of such destinations' }),
  name: Type.String({ description: 'its key in the integrations of a call' }),
  description: Type.String(),
  supportedCalls: Type.Array(Type.String()),
  acceptsHistoricalTimestamps: Type.Boolean({
    description:
      'whether calls with a timestamp in the past, as of an import, keep their time at the receiver',
  }),
  settings: Type.Object({}, { additionalProperties: true, description: 'JSON Schema of the settings' }),
});

const catalog = [
  {
    type: 'Webhooks',
    name: 'Webhooks',
    description:
      'POSTs each call as JSON to up to five URLs, signed if a shared secret is set. Failed deliveries are retried for up to four hours.',
    supportedCalls: ['track', 'page', 'screen', 'identify', 'group', 'alias', 'delete'],
    // The body has the timestamp of the call, of any age (docs/specification.md, rule 4.5).
    acceptsHistoricalTimestamps: true,
    settings: webhooksSettingsSchema,
  },
];

export function catalogRoutes(app: Api): void {
  const route = routesOf(app, 'Catalog');
  route.get('/catalog', {
    operationId: 'listCatalog',
    summary: 'List the types of destinations',
    querystring: pageQuery,
    response: { 200: pageOf(named('CatalogEntry', typeSchema)) },
    handler: ({ query }) => pageInOrder('catalog', catalog, query, ({ type }) => type),
  });

  route.get('/catalog/:type', {
    operationId: 'getCatalogEntry',
    summary: 'Get a type of destination',
    response: { 200: named('CatalogEntry', typeSchema) },
    handler: ({ params }) => {
      const found = catalog.find(({ type }) => type === params.type);
      if (found) return found;
      throw new TailraceError('not-found', `The catalog has no type ${JSON.stringify(params.type)}.`);
    },
  });
}
