/** Sources: who may send, with which write keys, and which events are let through. */
import { randomBytes } from 'node:crypto';
import { checkSource, sourceSchema, type ConfigSnapshot, type Problem, type Source } from '@tailrace/config';
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
const source = asIs(sourceSchema, 'a source');
const answer = { 200: { ...source, headers: etagHeader } };
const maxWriteKeys = 20;

export const sourceRoutes: Routes = (app, deps) => {
  entryRoutes(app, deps);
  writeKeyRoutes(app, deps);
  blockedEventRoutes(app, deps);
};

function entryRoutes(app: Api, deps: ControlDeps): void {
  const tags = ['Sources'];
  const { config, audit } = deps;

  app.get(
    '/sources',
    {
      schema: {
        operationId: 'listSources',
        summary: 'The sources, by id',
        tags,
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: pageOf(source) },
      },
    },
    ({ query }) => pageInOrder(config.sources(), query, ({ id }) => id),
  );

  app.post(
    '/sources',
    {
      config: { errors: ['invalid-configuration', 'conflict'] },
      schema: {
        operationId: 'createSource',
        summary: 'Creates a source; id and write key are made up where they are left out',
        tags,
        body: asIs(Type.Partial(sourceSchema), 'a source, of which everything may be left out'),
        response: { 201: { ...source, headers: { ...etagHeader, Location: { type: 'string' } } } },
      },
    },
    async (request, reply) => {
      const wanted = withDefaults(request.body, () => ({
        id: `src_${randomBytes(5).toString('hex')}`,
        writeKeys: [newWriteKey()],
      }));
      audit(request, { action: 'source.create', target: `source/${idOf(wanted)}` });
      const changed = await config.change((current) => {
        const entry = checked(wanted, current);
        if (current.source(entry.id)) {
          throw new TailraceError('conflict', `There is a source ${JSON.stringify(entry.id)} already.`);
        }
        return written(current, { kind: 'source', id: entry.id, entry });
      });
      const { id } = changed.result.entry;
      reply.status(201).header('location', `/v1/sources/${id}`);
      return answerChanged(reply, { kind: 'source', id }, changed);
    },
  );

  app.get(
    '/sources/:id',
    { schema: { operationId: 'getSource', summary: 'One source', tags, params, response: answer } },
    ({ params: { id } }, reply) => {
      const entry = config.source(id);
      if (!entry) throw nothingThere({ kind: 'source', id });
      reply.header('etag', etagOf(config.version('source', id)));
      return entry;
    },
  );

  app.put(
    '/sources/:id',
    {
      config: { errors: ['invalid-configuration', 'precondition-failed'] },
      schema: {
        operationId: 'replaceSource',
        summary: 'Puts a whole source in the place of the one there is',
        tags,
        params,
        headers: ifMatch,
        body: asIs(sourceSchema, 'a source'),
        response: answer,
      },
    },
    (request, reply) =>
      changeSource(deps, request, reply, 'source.replace', () => withId(request.body, request.params.id)),
  );

  app.patch(
    '/sources/:id',
    {
      config: { errors: ['invalid-configuration', 'precondition-failed'] },
      schema: {
        operationId: 'updateSource',
        summary: 'Changes fields of a source (JSON Merge Patch, RFC 7396)',
        tags,
        params,
        headers: ifMatch,
        body: asIs(Type.Partial(sourceSchema), 'the fields to change; null removes one'),
        response: answer,
      },
    },
    (request, reply) =>
      changeSource(deps, request, reply, 'source.update', (stored) =>
        withId(mergePatch(stored, request.body), request.params.id),
      ),
  );

  app.delete(
    '/sources/:id',
    {
      config: { errors: ['conflict', 'precondition-failed'] },
      schema: {
        operationId: 'deleteSource',
        summary: 'Deletes a source; with force, also where destinations are connected to it',
        tags,
        params,
        headers: ifMatch,
        querystring: Type.Object(
          { force: Type.Optional(Type.Boolean({ default: false, description: 'true or false' })) },
          { additionalProperties: false },
        ),
        response: { 204: { type: 'null', description: 'It is gone' } },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const name: EntryName = { kind: 'source', id };
      audit(request, { action: 'source.delete', target: `source/${id}` });
      await config.change((current) => {
        if (!current.source(id)) throw nothingThere(name);
        checkPrecondition(request, current, name);
        const connected = current.destinations().filter(({ sources }) => sources.includes(id));
        if (connected.length > 0 && !request.query.force) {
          const ids = connected.map((destination) => JSON.stringify(destination.id)).join(', ');
          throw new TailraceError(
            'conflict',
            `Destinations are connected to it: ${ids}. Disconnect them, or delete it with ?force=true.`,
          );
        }
        const disconnected = connected.map((entry) => ({
          kind: 'destination' as const,
          id: entry.id,
          entry: { ...entry, sources: entry.sources.filter((source) => source !== id) },
        }));
        return { writes: [...disconnected, { kind: 'source', id, entry: null }], result: undefined };
      });
      return reply.status(204).send();
    },
  );
}

function writeKeyRoutes(app: Api, deps: ControlDeps): void {
  const tags = ['Sources'];
  app.post(
    '/sources/:id/write-keys',
    {
      config: { errors: ['conflict', 'precondition-failed'] },
      schema: {
        operationId: 'addWriteKey',
        summary: 'Adds a new write key, beside those there are',
        tags,
        params,
        headers: ifMatch,
        response: { 201: { ...Type.Object({ writeKey: Type.String() }), headers: etagHeader } },
      },
    },
    async (request, reply) => {
      const writeKey = newWriteKey();
      await changeSource(deps, request, reply, 'source.write-key.add', (stored) => {
        if (stored.writeKeys.length >= maxWriteKeys) {
          throw new TailraceError('conflict', `It has ${maxWriteKeys} write keys; remove one first.`);
        }
        return { ...stored, writeKeys: [...stored.writeKeys, writeKey] };
      });
      reply.status(201);
      return { writeKey };
    },
  );

  app.delete(
    '/sources/:id/write-keys/:key',
    {
      config: { errors: ['conflict', 'precondition-failed'] },
      schema: {
        operationId: 'removeWriteKey',
        summary: 'Removes a write key, which is refused from then on; the last one stays',
        tags,
        params: Type.Object({ id: Type.String(), key: Type.String() }),
        headers: ifMatch,
        response: answer,
      },
    },
    (request, reply) =>
      changeSource(deps, request, reply, 'source.write-key.remove', (stored) => {
        const writeKeys = stored.writeKeys.filter((key) => key !== request.params.key);
        if (writeKeys.length === stored.writeKeys.length) {
          throw new TailraceError('not-found', 'The source has no such write key.');
        }
        if (writeKeys.length === 0) {
          throw new TailraceError('conflict', 'It is the last write key; add another one first.');
        }
        return { ...stored, writeKeys };
      }),
  );
}

function blockedEventRoutes(app: Api, deps: ControlDeps): void {
  const tags = ['Schema'];
  const eventParams = Type.Object({ id: Type.String(), event: Type.String() });
  const schema = { tags, params: eventParams, headers: ifMatch, response: answer };
  const errors = ['invalid-configuration', 'precondition-failed'] as const;

  app.put(
    '/sources/:id/blocked-events/:event',
    {
      config: { errors },
      schema: { ...schema, operationId: 'blockEvent', summary: 'Filters track calls of this event' },
    },
    (request, reply) =>
      changeSource(deps, request, reply, 'source.event.block', (stored) => {
        const blocked = stored.schema?.track?.blocked ?? [];
        return blocked.includes(request.params.event)
          ? stored
          : { ...stored, schema: { track: { blocked: [...blocked, request.params.event] } } };
      }),
  );

  app.delete(
    '/sources/:id/blocked-events/:event',
    {
      config: { errors },
      schema: { ...schema, operationId: 'unblockEvent', summary: 'Lets track calls of this event through' },
    },
    (request, reply) =>
      changeSource(deps, request, reply, 'source.event.unblock', (stored) => {
        const blocked = stored.schema?.track?.blocked ?? [];
        const rest = blocked.filter((event) => event !== request.params.event);
        return rest.length === blocked.length ? stored : { ...stored, schema: { track: { blocked: rest } } };
      }),
  );
}

async function changeSource(
  deps: ControlDeps,
  request: FastifyRequest<{ Params: { id: string } }>,
  reply: FastifyReply,
  action: string,
  next: (stored: Source) => unknown,
): Promise<Source> {
  const { id } = request.params;
  return changeEntry(deps, request, reply, {
    ...{ name: { kind: 'source', id }, action, next },
    find: (current) => current.source(id),
    write: (wanted, _stored, current) => ({ kind: 'source', id, entry: checked(wanted, current) }),
  });
}

function checked(wanted: unknown, current: ConfigSnapshot): Source {
  return valid(checkSource(wanted), (value) =>
    value.writeKeys.flatMap((key, position): Problem[] => {
      const owner = current.sourceByWriteKey(key);
      if (!owner || owner.id === value.id) return [];
      const message = `is already a write key of the source ${JSON.stringify(owner.id)}`;
      return [{ path: ['writeKeys', position], message, about: 'value' }];
    }),
  );
}

/** Letters and digits that nobody guesses: 144 bits. */
function newWriteKey(): string {
  return `wk_${randomBytes(18).toString('base64url')}`;
}
