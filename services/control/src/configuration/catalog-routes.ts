/** The catalog: which types of destinations there are, and what their settings may be. */
import { webhooksSettingsSchema } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import Type from 'typebox';
import { pageInOrder, pageOf, pageParameters } from '../http/page.ts';
import type { Routes } from '../http/routes.ts';

const entrySchema = Type.Object({
  type: Type.String({ description: 'the `type` of such destinations' }),
  name: Type.String({ description: 'its key in the integrations of a call' }),
  description: Type.String(),
  supportedCalls: Type.Array(Type.String()),
  settings: Type.Object({}, { additionalProperties: true, description: 'JSON Schema of the settings' }),
});

const catalog = [
  {
    type: 'Webhooks',
    name: 'Webhooks',
    description:
      'POSTs each call as JSON, signed where there is a shared secret, to up to five URLs of your own, and tries for up to ' +
      'four hours where none of them takes it.',
    supportedCalls: ['track', 'page', 'screen', 'identify', 'group', 'alias', 'delete'],
    settings: webhooksSettingsSchema,
  },
];

export const catalogRoutes: Routes = (app) => {
  const tags = ['Catalog'];
  app.get(
    '/catalog',
    {
      schema: {
        operationId: 'listCatalog',
        summary: 'The types of destinations',
        tags,
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: pageOf(entrySchema) },
      },
    },
    ({ query }) => pageInOrder(catalog, query, ({ type }) => type),
  );
  app.get(
    '/catalog/:type',
    {
      schema: {
        operationId: 'getCatalogEntry',
        summary: 'One type of destinations',
        tags,
        params: Type.Object({ type: Type.String() }),
        response: { 200: entrySchema },
      },
    },
    ({ params }) => {
      const entry = catalog.find(({ type }) => type === params.type);
      if (!entry)
        throw new TailraceError('not-found', `The catalog has no type ${JSON.stringify(params.type)}.`);
      return entry;
    },
  );
};
