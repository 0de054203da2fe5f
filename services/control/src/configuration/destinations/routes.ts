/** The routes of destinations: list, create, read, replace, update, delete. Answers hold masks in the place of secrets. */
import { randomBytes } from 'node:crypto';
import { destinationSchema, type ConfigEditor } from '@tailrace/config';
import Type from 'typebox';
import { closedObject, documentOnly, etagHeader, ifMatch, named } from '../../http/schemas.ts';
import { pageInOrder, pageOf, pageParameters } from '../../http/page.ts';
import { routesOf, type Api } from '../../http/api.ts';
import { destinationEntries, findDestinations, showDestination } from './destination.ts';
import { destinationBodies } from '../entry/bodies.ts';
import { searchParameter } from '../entry/search.ts';

export const destination = documentOnly(
  named('Destination', destinationSchema),
  'a destination with a mask for each secret',
);
export const destinationAnswer = { 200: { ...destination, headers: etagHeader } };
export const destinationErrors = [
  'invalid-configuration',
  'precondition-failed',
  'secret-key-missing',
  'secret-locked',
] as const;

/** To be spread into the query of a list of destinations. */
export const findParameters = {
  ...searchParameter,
  source: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'the id of a source: only destinations connected to it',
    }),
  ),
};

export function destinationRoutes(app: Api, config: ConfigEditor): void {
  const route = routesOf(app, 'Destinations');
  const entries = destinationEntries(config);
  route.get('/destinations', {
    operationId: 'listDestinations',
    summary: 'List the destinations by id',
    querystring: closedObject({ ...pageParameters, ...findParameters }),
    response: { 200: pageOf(destination) },
    handler: ({ query, role, caller }) => {
      const found = findDestinations(config, caller, query);
      const { items, ...rest } = pageInOrder('destinations', found, query, ({ id }) => id);
      return { items: items.map((one) => showDestination(one, role)), ...rest };
    },
  });

  route.post('/destinations', {
    operationId: 'createDestination',
    summary: 'Create a destination',
    description: 'A missing id is generated.',
    body: destinationBodies.created,
    response: { 201: { ...destination, headers: { ...etagHeader, Location: { type: 'string' } } } },
    errors: [...destinationErrors, 'conflict'],
    handler: (request, reply) =>
      entries.create(request, reply, { id: `dst_${randomBytes(5).toString('hex')}`, sources: [] }),
  });

  route.get('/destinations/:id', {
    operationId: 'getDestination',
    summary: 'Get a destination',
    response: destinationAnswer,
    handler: (request, reply) => entries.get(request, reply),
  });

  route.put('/destinations/:id', {
    operationId: 'replaceDestination',
    summary: 'Replace a destination',
    description: 'A mask keeps the stored secret.',
    headers: ifMatch,
    body: destinationBodies.replacement,
    response: destinationAnswer,
    errors: destinationErrors,
    handler: (request, reply) => entries.replace(request, reply),
  });

  route.patch('/destinations/:id', {
    operationId: 'updateDestination',
    summary: 'Change fields of a destination (JSON Merge Patch, RFC 7396)',
    headers: ifMatch,
    body: destinationBodies.patch,
    response: destinationAnswer,
    errors: destinationErrors,
    handler: (request, reply) => entries.update(request, reply),
  });

  route.delete('/destinations/:id', {
    operationId: 'deleteDestination',
    summary: 'Delete a destination',
    description: 'Its pending deliveries become dead letters.',
    headers: ifMatch,
    response: { 204: { type: 'null', description: 'deleted' } },
    errors: ['precondition-failed'],
    handler: (request, reply) => entries.remove(request, reply),
  });
}
