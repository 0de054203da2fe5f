/** Audiences: upload a membership, look how far its sync is, delete it. */
import { TailraceError } from '@tailrace/errors';
import Type from 'typebox';
import type { Audience, AudienceSync, MembershipFormat } from './index.ts';
import { maxNameLength } from './index.ts';
import { readUpload } from './upload-stream.ts';
import { pageInOrder, pageOf, pageParameters } from '../http/page.ts';
import type { Api, Routes } from '../http/routes.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });
const time = Type.String({ format: 'date-time', description: 'ISO 8601, UTC with milliseconds' });

const syncSchema = Type.Object({
  id: Type.String(),
  kind: Type.Enum(['replace', 'delete']),
  state: Type.Enum(['running', 'done', 'failed', 'interrupted']),
  startedAt: time,
  updatedAt: time,
  read: count('lines of the upload'),
  members: count('users in the upload, each counted once'),
  added: Type.Optional(count('users who join; known once the upload has been compared')),
  removed: Type.Optional(count('users who leave')),
  total: Type.Optional(count('identify calls there are to send: who joins and who leaves')),
  sent: count('identify calls sent'),
  problem: Type.Optional(
    Type.Object(
      { code: Type.String(), message: Type.String() },
      { description: 'why it failed or was interrupted, and what to do' },
    ),
  ),
});

const audienceSchema = Type.Object({
  name: Type.String(),
  trait: Type.String({ description: 'its name in snake_case, which is the trait of the identify calls' }),
  members: count('members at present, as far as the sync is'),
  sync: Type.Object(syncSchema.properties, { description: 'the latest' }),
});

const ofSource = Type.Object({ id: Type.String({ description: 'id of the source' }) });
const ofAudience = Type.Object({
  ...ofSource.properties,
  name: Type.String({ minLength: 1, maxLength: maxNameLength, description: 'a text of 1 to 200 characters' }),
});
const rate = {
  ratePerSecond: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description:
        'a whole number of identify calls a second, from 1 to 1000000; TAILRACE_AUDIENCE_RATE by default',
    }),
  ),
};
const formats: Readonly<Record<string, MembershipFormat>> = {
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'text/csv': 'csv',
};
const tags = ['Audiences'];

export const audienceRoutes: Routes = (app, deps) => {
  const { audiences, audit, config } = deps;

  const checkSource = (sourceId: string): void => {
    if (config.source(sourceId)) return;
    throw new TailraceError('not-found', `There is no source ${JSON.stringify(sourceId)}.`);
  };

  app.get(
    '/sources/:id/audiences',
    {
      schema: {
        operationId: 'listAudiences',
        summary: 'The audiences of a source',
        tags,
        params: ofSource,
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: pageOf(audienceSchema) },
      },
    },
    ({ params, query }) => {
      checkSource(params.id);
      const items = audiences.list(params.id).map(showAudience);
      const inOrder = items.sort((a, b) => (a.trait < b.trait ? -1 : 1));
      return pageInOrder(inOrder, query, ({ trait }) => trait);
    },
  );
  app.get(
    '/sources/:id/audiences/:name',
    {
      schema: {
        operationId: 'getAudience',
        summary: 'One audience, and how far its latest sync is',
        tags,
        params: ofAudience,
        response: { 200: audienceSchema },
      },
    },
    ({ params }) => {
      const found = audiences.get(params.id, params.name);
      if (found) return showAudience(found);
      checkSource(params.id);
      throw new TailraceError('not-found', `The source has no audience ${JSON.stringify(params.name)}.`);
    },
  );
  app.delete(
    '/sources/:id/audiences/:name',
    {
      config: { errors: ['conflict', 'too-many-at-once', 'overloaded'] },
      schema: {
        operationId: 'deleteAudience',
        summary: 'Delete an audience: every member is told to have left',
        description:
          'It is gone when the sync that this begins is done. Interrupted, the same request goes on.',
        tags,
        params: ofAudience,
        querystring: Type.Object(rate, { additionalProperties: false }),
        response: { 202: syncSchema },
      },
    },
    async (request, reply) => {
      const { id: sourceId, name } = request.params;
      audit(request, { action: 'audience.delete', target: `audience/${sourceId}/${name}` });
      const { sync } = await audiences.remove({ sourceId, name, ...request.query });
      return reply.status(202).send(showSync(sync));
    },
  );

  // In a scope of its own, because only here a body is a stream, of any length.
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(Object.keys(formats), (_request, _payload, parsed) => {
      parsed(null, '');
    });
    (scope as Api).put(
      '/sources/:id/audiences/:name',
      {
        config: {
          errors: [
            'conflict',
            'too-many-at-once',
            'overloaded',
            'invalid-membership',
            'unsupported-encoding',
          ],
        },
        schema: {
          operationId: 'syncAudience',
          summary: 'Replace the members of an audience',
          description:
            'The body is the whole membership: NDJSON with `{"userId": "..."}` or a JSON string on each line, or CSV with a ' +
            'column userId or one column, also with Content-Encoding gzip. It is read and checked to its end before anything ' +
            'is sent. Then an identify call goes out for each user who joins (the trait is true) or leaves (false), and for ' +
            'nobody else. Interrupted, the same request sends the rest.',
          tags,
          params: ofAudience,
          querystring: Type.Object(
            {
              ...rate,
              allowEmpty: Type.Optional(
                Type.Boolean({
                  description: 'true or false: whether everybody may leave, by an upload without members',
                }),
              ),
            },
            { additionalProperties: false },
          ),
          body: {
            content: Object.fromEntries(Object.keys(formats).map((type) => [type, { schema: uploadSchema }])),
          },
          response: { 202: syncSchema },
        },
      },
      async (request, reply) => {
        const { id: sourceId, name } = request.params;
        const { allowEmpty = false, ratePerSecond } = request.query;
        audit(request, { action: 'audience.sync', target: `audience/${sourceId}/${name}` });
        const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
        const format = formats[type];
        if (!format) throw new TailraceError('unsupported-media-type', uploadTypes);
        const stream = readUpload(request.raw);
        const { sync } = await audiences.replace({
          sourceId,
          name,
          allowEmpty,
          ratePerSecond,
          format,
          stream,
        });
        return reply.status(202).send(showSync(sync));
      },
    );
    done();
  });
};

const uploadSchema = { type: 'string', description: 'one user on each line' };
const uploadTypes = 'Send the membership as application/x-ndjson or text/csv.';

/** Which instance runs it is nobody's business. */
function showSync(sync: AudienceSync) {
  return { ...sync, instance: undefined };
}

function showAudience({ name, trait, members, sync }: Audience) {
  return { name, trait, members, sync: showSync(sync) };
}
