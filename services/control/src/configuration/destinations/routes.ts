/** The routes of destinations: list, create, read, replace, update, delete. Answers hold masks in the place of secrets. */
import { destinationSchema, type ConfigEditor } from '@tailrace/config';
import Type from 'typebox';
import { closedObject, documentOnly, etagHeader, ifMatch, named } from '../../http/schemas.ts';
import { pageInOrder, pageOf, pageParameters } from '../../http/page.ts';
import type { Api } from '../../http/api.ts';
import { destinationEntries, findDestinations, showDestination } from './destination.ts';
import { destinationBodies } from '../entry/bodies.ts';
import { entryRoutes } from '../entry/routes.ts';
import { searchParameter } from '../entry/search.ts';
import type { TransformTrials } from './transform-trials.ts';

export const destination = documentOnly(
  named('Destination', destinationSchema),
  'a destination with a mask for each secret',
);
export const destinationAnswer = { 200: { ...destination, headers: etagHeader } };
/** Of all that write an entry with secrets. */
export const secretErrors = ['invalid-configuration', 'secret-key-missing', 'secret-locked'] as const;
export const destinationErrors = [...secretErrors, 'precondition-failed'] as const;

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

export function destinationRoutes(app: Api, config: ConfigEditor, trials: TransformTrials): void {
  const entries = destinationEntries(config, (...saved) => trials.check(...saved));
  const route = entryRoutes(app, {
    tag: 'Destinations',
    kind: 'destination',
    entries,
    bodies: destinationBodies,
    shown: destination,
    errors: secretErrors,
    idPrefix: 'dst',
    defaults: () => ({ sources: [] }),
    about: { create: 'A missing id is generated.', replace: 'A mask keeps the stored secret.' },
  });

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
