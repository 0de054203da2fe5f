/** The routes of destinations: list, create, read, replace, update, delete. Answers hold masks in the place of secrets. */
import { randomBytes } from 'node:crypto';
import { destinationSchema, maskDestination } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import Type from 'typebox';
import { audit } from '../http/audit.ts';
import { documentOnly, etagHeader, ifMatch } from '../http/openapi.ts';
import { pageInOrder, pageOf, pageParameters } from '../http/page.ts';
import type { Routes } from '../http/routes.ts';
import { loadDestination, validDestination } from './destinations.ts';
import { answerEntry, checkPrecondition, etagOf, idOf, put, withDefaults, withId } from './entries.ts';
import { mergePatch } from './merge-patch.ts';

const tags = ['Destinations'];
const params = Type.Object({ id: Type.String() });
const destination = documentOnly(destinationSchema, 'a destination with a mask for each secret');
export const destinationAnswer = { 200: { ...destination, headers: etagHeader } };
export const destinationErrors = [
  'invalid-configuration',
  'precondition-failed',
  'secret-key-missing',
  'secret-locked',
] as const;

export const destinationRoutes: Routes = (app, { config }) => {
  app.get(
    '/destinations',
    {
      schema: {
        operationId: 'listDestinations',
        summary: 'List the destinations by id',
        tags,
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: pageOf(destination) },
      },
    },
    ({ query }) => {
      const { items, ...rest } = pageInOrder(config.destinations(), query, ({ id }) => id);
      return { items: items.map(maskDestination), ...rest };
    },
  );

  app.post(
    '/destinations',
    {
      config: { errors: [...destinationErrors, 'conflict'] },
      schema: {
        operationId: 'createDestination',
        summary: 'Create a destination',
        description: 'A missing id is generated.',
        tags,
        body: documentOnly(destinationSchema, 'a destination; id and sources are optional'),
        response: { 201: { ...destination, headers: { ...etagHeader, Location: { type: 'string' } } } },
      },
    },
    async (request, reply) => {
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
  );

  app.get(
    '/destinations/:id',
    {
      schema: {
        operationId: 'getDestination',
        summary: 'Get a destination',
        tags,
        params,
        response: destinationAnswer,
      },
    },
    ({ params: { id } }, reply) => {
      const found = loadDestination(config, id);
      reply.header('etag', etagOf(config.version('destination', id)));
      return maskDestination(found);
    },
  );

  app.put(
    '/destinations/:id',
    {
      config: { errors: destinationErrors },
      schema: {
        operationId: 'replaceDestination',
        summary: 'Replace a destination',
        description: 'A mask keeps the stored secret.',
        tags,
        params,
        headers: ifMatch,
        body: documentOnly(destinationSchema, 'a destination'),
        response: destinationAnswer,
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      audit(request, 'destination.replace', `destination/${id}`);
      const changed = await config.change((current) => {
        const stored = loadDestination(current, id);
        checkPrecondition(request, current.version('destination', id));
        const entry = validDestination(withId(request.body, id), stored, current);
        return put(current, { kind: 'destination', id, entry });
      });
      return maskDestination(answerEntry(reply, changed));
    },
  );

  app.patch(
    '/destinations/:id',
    {
      config: { errors: destinationErrors },
      schema: {
        operationId: 'updateDestination',
        summary: 'Change fields of a destination (JSON Merge Patch, RFC 7396)',
        tags,
        params,
        headers: ifMatch,
        body: documentOnly(Type.Partial(destinationSchema), 'the fields to change; null removes a field'),
        response: destinationAnswer,
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      audit(request, 'destination.update', `destination/${id}`);
      const changed = await config.change((current) => {
        const stored = loadDestination(current, id);
        checkPrecondition(request, current.version('destination', id));
        const merged = mergePatch(maskDestination(stored), request.body);
        const entry = validDestination(withId(merged, id), stored, current);
        return put(current, { kind: 'destination', id, entry });
      });
      return maskDestination(answerEntry(reply, changed));
    },
  );

  app.delete(
    '/destinations/:id',
    {
      config: { errors: ['precondition-failed'] },
      schema: {
        operationId: 'deleteDestination',
        summary: 'Delete a destination',
        description: 'Its pending deliveries become dead letters.',
        tags,
        params,
        headers: ifMatch,
        response: { 204: { type: 'null', description: 'deleted' } },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      audit(request, 'destination.delete', `destination/${id}`);
      await config.change((current) => {
        loadDestination(current, id);
        checkPrecondition(request, current.version('destination', id));
        return { writes: [{ kind: 'destination', id, entry: null }], result: undefined };
      });
      return reply.status(204).send();
    },
  );
};
