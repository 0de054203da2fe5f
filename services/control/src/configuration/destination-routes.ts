/** Destinations: where calls go to, from which sources. Secrets go in and do not come out. */
import { randomBytes } from 'node:crypto';
import {
  checkDestination,
  destinationSchema,
  maskDestination,
  missingSources,
  problemsError,
  unmaskDestination,
  type ConfigSnapshot,
  type Destination,
} from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import {
  answerChanged,
  changeEntry,
  checkPrecondition,
  etagOf,
  idOf,
  nothingThere,
  valid,
  withDefaults,
  withId,
  written,
  type EntryName,
} from './entries.ts';
import { mergePatch } from './merge-patch.ts';
import { asIs, etagHeader, ifMatch } from '../http/openapi.ts';
import { pageInOrder, pageOf, pageParameters } from '../http/page.ts';
import type { Api, ControlDeps, Routes } from '../http/routes.ts';

const params = Type.Object({ id: Type.String() });
const destination = asIs(destinationSchema, 'a destination; a mask stands for each of its secrets');
const answer = { 200: { ...destination, headers: etagHeader } };
const writeErrors = [
  'invalid-configuration',
  'precondition-failed',
  'secret-key-missing',
  'secret-locked',
] as const;

export const destinationRoutes: Routes = (app, deps) => {
  entryRoutes(app, deps);
  connectionRoutes(app, deps);
  resealRoute(app, deps);
};

function entryRoutes(app: Api, deps: ControlDeps): void {
  const tags = ['Destinations'];
  const { config, audit } = deps;

  app.get(
    '/destinations',
    {
      schema: {
        operationId: 'listDestinations',
        summary: 'The destinations, by id',
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
      config: { errors: [...writeErrors, 'conflict'] },
      schema: {
        operationId: 'createDestination',
        summary: 'Creates a destination; its id is made up where it is left out',
        tags,
        body: asIs(destinationSchema, 'a destination, of which id and sources may be left out'),
        response: { 201: { ...destination, headers: { ...etagHeader, Location: { type: 'string' } } } },
      },
    },
    async (request, reply) => {
      const wanted = withDefaults(request.body, () => ({
        id: `dst_${randomBytes(5).toString('hex')}`,
        sources: [],
      }));
      audit(request, { action: 'destination.create', target: `destination/${idOf(wanted)}` });
      const changed = await config.change((current) => {
        const entry = checked(wanted, undefined, current);
        if (current.destination(entry.id)) {
          throw new TailraceError('conflict', `There is a destination ${JSON.stringify(entry.id)} already.`);
        }
        return written(current, { kind: 'destination', id: entry.id, entry });
      });
      const { id } = changed.result.entry;
      reply.status(201).header('location', `/v1/destinations/${id}`);
      return maskDestination(answerChanged(reply, { kind: 'destination', id }, changed));
    },
  );

  app.get(
    '/destinations/:id',
    { schema: { operationId: 'getDestination', summary: 'One destination', tags, params, response: answer } },
    ({ params: { id } }, reply) => {
      const entry = config.destination(id);
      if (!entry) throw nothingThere({ kind: 'destination', id });
      reply.header('etag', etagOf(config.version('destination', id)));
      return maskDestination(entry);
    },
  );

  app.put(
    '/destinations/:id',
    {
      config: { errors: writeErrors },
      schema: {
        operationId: 'replaceDestination',
        summary:
          'Puts a whole destination in the place of the one there is; a mask keeps the secret that is stored',
        tags,
        params,
        headers: ifMatch,
        body: asIs(destinationSchema, 'a destination'),
        response: answer,
      },
    },
    (request, reply) =>
      changeDestination(deps, request, reply, 'destination.replace', () =>
        withId(request.body, request.params.id),
      ),
  );

  app.patch(
    '/destinations/:id',
    {
      config: { errors: writeErrors },
      schema: {
        operationId: 'updateDestination',
        summary: 'Changes fields of a destination (JSON Merge Patch, RFC 7396)',
        tags,
        params,
        headers: ifMatch,
        body: asIs(Type.Partial(destinationSchema), 'the fields to change; null removes one'),
        response: answer,
      },
    },
    (request, reply) =>
      changeDestination(deps, request, reply, 'destination.update', (stored) =>
        withId(mergePatch(maskDestination(stored), request.body), request.params.id),
      ),
  );

  app.delete(
    '/destinations/:id',
    {
      config: { errors: ['precondition-failed'] },
      schema: {
        operationId: 'deleteDestination',
        summary: 'Deletes a destination; what still waits for it becomes a dead letter',
        tags,
        params,
        headers: ifMatch,
        response: { 204: { type: 'null', description: 'It is gone' } },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const name: EntryName = { kind: 'destination', id };
      audit(request, { action: 'destination.delete', target: `destination/${id}` });
      await config.change((current) => {
        if (!current.destination(id)) throw nothingThere(name);
        checkPrecondition(request, current, name);
        return { writes: [{ ...name, kind: 'destination', entry: null }], result: undefined };
      });
      return reply.status(204).send();
    },
  );
}

function connectionRoutes(app: Api, deps: ControlDeps): void {
  const schema = {
    tags: ['Destinations'],
    params: Type.Object({ id: Type.String(), sourceId: Type.String() }),
    headers: ifMatch,
    response: answer,
  };
  app.put(
    '/destinations/:id/sources/:sourceId',
    {
      config: { errors: writeErrors },
      schema: { ...schema, operationId: 'connectSource', summary: 'Connects a source to the destination' },
    },
    (request, reply) => {
      const { sourceId } = request.params;
      return changeDestination(deps, request, reply, 'destination.connect', (stored, current) => {
        if (!current.source(sourceId)) throw nothingThere({ kind: 'source', id: sourceId });
        return stored.sources.includes(sourceId)
          ? stored
          : { ...stored, sources: [...stored.sources, sourceId] };
      });
    },
  );
  app.delete(
    '/destinations/:id/sources/:sourceId',
    {
      config: { errors: writeErrors },
      schema: { ...schema, operationId: 'disconnectSource', summary: 'Disconnects a source from it' },
    },
    (request, reply) =>
      changeDestination(deps, request, reply, 'destination.disconnect', (stored) => {
        const sources = stored.sources.filter((id) => id !== request.params.sourceId);
        return sources.length === stored.sources.length ? stored : { ...stored, sources };
      }),
  );
}

function resealRoute(app: Api, { config, audit }: ControlDeps): void {
  app.post(
    '/secrets/reseal',
    {
      config: { errors: ['secret-key-missing', 'secret-locked'] },
      schema: {
        operationId: 'resealSecrets',
        summary: 'Seals with the current key what is sealed with the one before it, or not at all',
        tags: ['Secrets'],
        response: {
          200: Type.Object({
            destinations: Type.Array(Type.String(), {
              description: 'the ids of those that were written anew',
            }),
          }),
        },
      },
    },
    async (request) => {
      audit(request, { action: 'secrets.reseal', target: 'destinations' });
      const { result } = await config.change((current) => {
        const stale = current.destinations().filter(({ id }) => current.isStale('destination', id));
        const writes = stale.map((entry) => ({ kind: 'destination' as const, id: entry.id, entry }));
        return { writes, result: stale.map(({ id }) => id) };
      });
      return { destinations: result };
    },
  );
}

async function changeDestination(
  deps: ControlDeps,
  request: FastifyRequest<{ Params: { id: string } }>,
  reply: FastifyReply,
  action: string,
  next: (stored: Destination, current: ConfigSnapshot) => unknown,
): Promise<Destination> {
  const { id } = request.params;
  const left = await changeEntry(deps, request, reply, {
    ...{ name: { kind: 'destination', id }, action, next },
    find: (current) => current.destination(id),
    write: (wanted, stored, current) => ({
      ...{ kind: 'destination', id },
      entry: checked(wanted, stored, current),
    }),
  });
  return maskDestination(left);
}

function checked(wanted: unknown, stored: Destination | undefined, current: ConfigSnapshot): Destination {
  const unmasked = unmaskDestination(wanted, stored);
  if ('problems' in unmasked) throw problemsError(unmasked.problems);
  return valid(checkDestination(unmasked.value), (value) =>
    missingSources(
      [value],
      current.sources().map(({ id }) => id),
    ).map((problem) => ({ ...problem, path: problem.path.slice(2) })),
  );
}
