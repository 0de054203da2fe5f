/** The routes of destinations: list, create, read, replace, update, delete. Answers hold masks in the place of secrets. */
import { randomBytes } from 'node:crypto';
import { destinationSchema, maskDestination, type ConfigEditor } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import Type from 'typebox';
import { reachesDestination } from '../../access/limits.ts';
import { audit } from '../../http/audit.ts';
import { closedObject, documentOnly, etagHeader, ifMatch, named } from '../../http/schemas.ts';
import { pageInOrder, pageOf, pageParameters } from '../../http/page.ts';
import { routesOf, type Api } from '../../http/api.ts';
import { destinationChanges, loadDestination, showDestination, validDestination } from './destination.ts';
import { destinationBodies } from '../entry/bodies.ts';
import { answerEntry, checkPrecondition, etagOf, idOf, put, withDefaults, withId } from '../entry/change.ts';
import { mergePatch } from '../entry/merge-patch.ts';
import { matchesSearch, searchParameter } from '../entry/search.ts';

const destination = documentOnly(
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

const listDestinationsQuery = closedObject({
  ...pageParameters,
  ...searchParameter,
  source: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'the id of a source: only destinations connected to it',
    }),
  ),
});

export function destinationRoutes(app: Api, config: ConfigEditor): void {
  const route = routesOf(app, 'Destinations');
  const change = destinationChanges(config);
  route.get('/destinations', {
    operationId: 'listDestinations',
    summary: 'List the destinations by id',
    querystring: listDestinationsQuery,
    response: { 200: pageOf(destination) },
    handler: ({ query, role, caller }) => {
      const { search, source } = query;
      const isFound = matchesSearch(search);
      const found = config
        .destinations()
        .filter((one) => reachesDestination(caller, one.id) && isFound(one))
        .filter(({ sources }) => source === undefined || sources.includes(source));
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
    handler: async (request, reply) => {
      const wanted = withDefaults(request.body, () => ({
        id: `dst_${randomBytes(5).toString('hex')}`,
        sources: [],
      }));
      audit(request, 'destination.create', `destination/${idOf(wanted)}`);
      const changed = await config.change((current) => {
        const entry = validDestination(wanted, undefined, current);
        const { id } = entry;
        if (current.destination(id)) {
          throw new TailraceError('conflict', `There is already a destination ${JSON.stringify(id)}.`);
        }
        return put(current, { kind: 'destination', id, entry });
      });
      const created = answerEntry(reply, changed);
      reply.status(201).header('location', `/v1/destinations/${created.id}`);
      return maskDestination(created);
    },
  });

  route.get('/destinations/:id', {
    operationId: 'getDestination',
    summary: 'Get a destination',
    response: destinationAnswer,
    handler: ({ params: { id }, role }, reply) => {
      const found = loadDestination(config, id);
      reply.header('etag', etagOf(config.version('destination', id)));
      return showDestination(found, role);
    },
  });

  route.put('/destinations/:id', {
    operationId: 'replaceDestination',
    summary: 'Replace a destination',
    description: 'A mask keeps the stored secret.',
    headers: ifMatch,
    body: destinationBodies.replacement,
    response: destinationAnswer,
    errors: destinationErrors,
    handler: async (request, reply) => {
      const { id } = request.params;
      const { entry } = await change(request, reply, 'replace', (stored, current) =>
        validDestination(withId(request.body, id), stored, current),
      );
      return maskDestination(entry);
    },
  });

  route.patch('/destinations/:id', {
    operationId: 'updateDestination',
    summary: 'Change fields of a destination (JSON Merge Patch, RFC 7396)',
    headers: ifMatch,
    body: destinationBodies.patch,
    response: destinationAnswer,
    errors: destinationErrors,
    handler: async (request, reply) => {
      const { id } = request.params;
      const { entry } = await change(request, reply, 'update', (stored, current) => {
        const merged = mergePatch(maskDestination(stored), request.body);
        return validDestination(withId(merged, id), stored, current);
      });
      return maskDestination(entry);
    },
  });

  route.delete('/destinations/:id', {
    operationId: 'deleteDestination',
    summary: 'Delete a destination',
    description: 'Its pending deliveries become dead letters.',
    headers: ifMatch,
    response: { 204: { type: 'null', description: 'deleted' } },
    errors: ['precondition-failed'],
    handler: async (request, reply) => {
      const { id } = request.params;
      audit(request, 'destination.delete', `destination/${id}`);
      await config.change((current) => {
        loadDestination(current, id);
        checkPrecondition(request, current.version('destination', id));
        return { writes: [{ kind: 'destination', id, entry: null }], result: undefined };
      });
      return reply.status(204).send();
    },
  });
}
