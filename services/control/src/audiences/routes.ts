/** The routes of audiences: list, read, upload the members, delete. */
import type { ConfigView } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import Type from 'typebox';
import type { Audience, Audiences, AudienceSync, MembershipFormat } from './index.ts';
import { maxNameLength } from './index.ts';
import { count, previewSchema, syncSchema } from './state/records.ts';
import { readUpload } from './upload-stream.ts';
import { loadSource } from '../configuration/sources/source.ts';
import { audit } from '../http/audit.ts';
import { closedObject, named } from '../http/schemas.ts';
import { pageInOrder, pageOf, pageQuery } from '../http/page.ts';
import { routesOf, type Api } from '../http/api.ts';

const audienceSchema = Type.Object({
  name: Type.String(),
  trait: Type.String({ description: 'the name in snake_case: the trait of the identify calls' }),
  members: count('current members, according to the progress of the sync'),
  sync: Type.Object(syncSchema.properties, { description: 'the latest sync' }),
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
        'a whole number from 1 to 1000000: identify calls per second; by default TAILRACE_AUDIENCE_RATE, and of a limited token ' +
        'at most that and the rateLimit of the source',
    }),
  ),
};
const formats: Readonly<Record<string, MembershipFormat>> = {
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'text/csv': 'csv',
};
const syncQuery = closedObject({
  ...rate,
  allowEmpty: Type.Optional(
    Type.Boolean({
      description: 'true or false; true accepts an upload without members, by which every member leaves',
    }),
  ),
  dryRun: Type.Optional(
    Type.Boolean({ description: 'true or false; true only answers who would join and leave' }),
  ),
});
const uploadSchema = { type: 'string', description: 'one user id per line' };
const uploadBody = {
  content: Object.fromEntries(Object.keys(formats).map((type) => [type, { schema: uploadSchema }])),
};

/** The routes that show audiences. */
export const audiencePaths = /\/audiences/;

export function audienceRoutes(app: Api, audiences: Audiences, config: Pick<ConfigView, 'source'>): void {
  const route = routesOf(app, 'Audiences');
  route.get('/sources/:id/audiences', {
    operationId: 'listAudiences',
    summary: 'List the audiences of a source',
    params: ofSource,
    querystring: pageQuery,
    response: { 200: pageOf(named('Audience', audienceSchema)) },
    handler: ({ params, query }) => {
      loadSource(config, params.id);
      const items = audiences.list(params.id).map(showAudience);
      const inOrder = items.sort((a, b) => (a.trait < b.trait ? -1 : 1));
      return pageInOrder('audiences', inOrder, query, ({ trait }) => trait);
    },
  });
  route.get('/sources/:id/audiences/:name', {
    operationId: 'getAudience',
    summary: 'Get an audience and its latest sync',
    params: ofAudience,
    response: { 200: named('Audience', audienceSchema) },
    handler: ({ params }) => {
      const found = audiences.get(params.id, params.name);
      if (found) return showAudience(found);
      loadSource(config, params.id);
      throw new TailraceError('not-found', `The source has no audience ${JSON.stringify(params.name)}.`);
    },
  });
  route.delete('/sources/:id/audiences/:name', {
    operationId: 'deleteAudience',
    summary: 'Delete an audience',
    description:
      'Starts a sync in which every member leaves; the audience is deleted when the sync is done. If the sync is ' +
      'interrupted, the same request continues it.',
    params: ofAudience,
    querystring: closedObject(rate),
    response: { 202: named('AudienceSync', syncSchema) },
    errors: ['conflict', 'overloaded'],
    handler: async (request, reply) => {
      const { id: sourceId, name } = request.params;
      audit(request, 'audience.delete', `audience/${sourceId}/${name}`);
      const { sync } = await audiences.remove({ sourceId, name, asker: request.caller, ...request.query });
      return reply.status(202).send(showSync(sync));
    },
  });

  // A separate scope: only here the body is a stream of any length.
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(Object.keys(formats), (_request, _payload, parsed) => parsed(null, ''));
    routesOf(scope, 'Audiences').put('/sources/:id/audiences/:name', {
      operationId: 'syncAudience',
      summary: 'Replace the members of an audience',
      description:
        'The body is the whole membership: NDJSON with `{"userId": "..."}` or a JSON string on each line, or CSV with a ' +
        'column userId or a single column; optionally with Content-Encoding gzip. The whole body is validated before ' +
        'anything is sent. Then one identify call is sent for each user who joins (the trait is true) or leaves ' +
        '(false). If the sync is interrupted, the same request sends the rest. With `dryRun=true` nothing is sent or changed: the ' +
        'answer says who would join and leave.',
      params: ofAudience,
      querystring: syncQuery,
      body: uploadBody,
      response: { 200: named('AudiencePreview', previewSchema), 202: named('AudienceSync', syncSchema) },
      errors: ['conflict', 'overloaded', 'took-too-long', 'invalid-membership', 'unsupported-encoding'],
      handler: async (request, reply) => {
        const { id: sourceId, name } = request.params;
        const { allowEmpty = false, ratePerSecond, dryRun = false } = request.query;
        audit(request, dryRun ? 'audience.preview' : 'audience.sync', `audience/${sourceId}/${name}`);
        const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
        const format = formats[type];
        if (!format) throw new TailraceError('unsupported-media-type', uploadTypes);
        const stream = readUpload(request.raw, () => request.caller?.isValid() !== false);
        const { caller: asker } = request;
        const upload = { sourceId, name, asker, allowEmpty, ratePerSecond, format, stream };
        if (dryRun) return reply.send(await audiences.preview(upload));
        const { sync } = await audiences.replace(upload);
        return reply.status(202).send(showSync(sync));
      },
    });
    done();
  });
}

const uploadTypes = 'Send the membership as application/x-ndjson or text/csv.';

/** Leaves out the instance, which is internal. */
function showSync(sync: AudienceSync) {
  return { ...sync, instance: undefined };
}

function showAudience({ name, trait, members, sync }: Audience) {
  return { name, trait, members, sync: showSync(sync) };
}
