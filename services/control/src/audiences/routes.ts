/** The routes of audiences: list, read, upload the members or changes, send them to one destination, delete. */
import type { ConfigView } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import type { ValueOf } from '@tailrace/records';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type {
  Audience,
  Audiences,
  AudienceSync,
  AudienceTarget,
  MembershipFormat,
  Sending,
  Upload,
} from './index.ts';
import { maxNameLength } from './index.ts';
import { count, previewSchema, syncSchema } from './state/records.ts';
import { readUpload } from './upload-stream.ts';
import { loadSource } from '../configuration/sources/source.ts';
import { audit } from '../http/audit.ts';
import { csvRoute, csvText, type Exports } from '../exports/export.ts';
import { closedObject, named, optionalText } from '../http/schemas.ts';
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
const dryRun = Type.Optional(
  Type.Boolean({ description: 'true or false; true only answers who would join and leave' }),
);
const syncQuery = closedObject({
  ...rate,
  allowEmpty: Type.Optional(
    Type.Boolean({
      description: 'true or false; true accepts an upload without members, by which every member leaves',
    }),
  ),
  dryRun,
  destination: optionalText(
    'the id of a destination: with an empty body, the present members are sent to it alone',
  ),
});
const bodyOf = (description: string) => ({
  content: Object.fromEntries(
    Object.keys(formats).map((type) => [type, { schema: { type: 'string', description } }]),
  ),
});

/** The routes that show audiences. */
export const audiencePaths = /\/audiences/;

export function audienceRoutes(
  app: Api,
  audiences: Audiences,
  config: Pick<ConfigView, 'source'>,
  exports: Exports,
): void {
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
  route.get('/sources/:id/audiences/:name/members.csv', {
    operationId: 'exportMembers',
    summary: 'Export the members of an audience by id',
    ...csvRoute,
    description: `All members, also while a sync changes them, as ${csvText} An upload removes it.`,
    params: ofAudience,
    errors: ['overloaded', 'took-too-long'],
    handler: async (request, reply) => {
      const { id: sourceId, name } = request.params;
      audit(request, 'audience.export', `audience/${sourceId}/${name}`);
      const { read, room } = await audiences.members({ sourceId, name, asker: request.caller });
      return exports.send(reply, request.caller, {
        name: 'members',
        columns: ['userId'],
        read,
        room,
        maxRows: Infinity,
      });
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
    const uploads = routesOf(scope, 'Audiences');
    const response = { 200: named('AudiencePreview', previewSchema), 202: named('AudienceSync', syncSchema) };
    const errors = [
      'conflict',
      'overloaded',
      'took-too-long',
      'invalid-membership',
      'unsupported-encoding',
    ] as const;
    const answer = async (dryRun: boolean | undefined, reply: FastifyReply, wanted: Upload | Sending) => {
      if (dryRun) return reply.send(await audiences.preview(wanted));
      const { sync } = await audiences.sync(wanted);
      return reply.status(202).send(showSync(sync));
    };
    uploads.put('/sources/:id/audiences/:name', {
      operationId: 'syncAudience',
      summary: 'Replace the members of an audience',
      description:
        'The body is the whole membership: NDJSON with `{"userId": "..."}` or a JSON string on each line, or CSV with a ' +
        'column userId or a single column; optionally with Content-Encoding gzip. The whole body is validated before ' +
        'anything is sent. Then one identify call is sent for each user who joins (the trait is true) or leaves ' +
        '(false). If the sync is interrupted, the same request sends the rest. With `dryRun=true` nothing is sent or changed: the ' +
        'answer says who would join and leave. With `destination` and an empty body the present members are sent to that ' +
        'destination alone, for example because it was connected later.',
      params: ofAudience,
      querystring: syncQuery,
      body: bodyOf('one user id per line'),
      response,
      errors,
      handler: async (request, reply) => {
        const { allowEmpty = false, destination, dryRun } = request.query;
        const target = targetOf(request, destination === undefined ? 'sync' : 'send');
        if (destination === undefined) {
          return answer(dryRun, reply, { ...target, kind: 'replace', allowEmpty, ...uploadOf(request) });
        }
        for await (const _ of streamOf(request)) throw new TailraceError('invalid-request', sentToOne);
        return answer(dryRun, reply, { ...target, kind: 'send', destination });
      },
    });
    uploads.patch('/sources/:id/audiences/:name', {
      operationId: 'changeAudience',
      summary: 'Change the members of an audience',
      description:
        'The body has users who join and users who leave: NDJSON with `{"added": ["..."], "removed": ["..."]}` on each line, or CSV ' +
        'with the columns added and removed. All others stay. The last change of a user counts. An identify call is sent for each ' +
        'user who was not yet as the body says. If the sync is interrupted, the same request sends the rest. While another sync of ' +
        'the audience runs, the answer is 409.',
      params: ofAudience,
      querystring: closedObject({ ...rate, dryRun }),
      body: bodyOf('users who were added and removed'),
      response,
      errors,
      handler: async (request, reply) => {
        const target = targetOf(request, 'change');
        return answer(request.query.dryRun, reply, { ...target, kind: 'change', ...uploadOf(request) });
      },
    });
    done();
  });
}

const uploadTypes = 'Send the membership as application/x-ndjson or text/csv.';
const sentToOne =
  'With destination the present members are sent, so the body must be empty. Nothing was changed.';

interface SyncRequest extends FastifyRequest {
  readonly params: ValueOf<typeof ofAudience>;
  readonly query: { readonly ratePerSecond?: number; readonly dryRun?: boolean };
}

/** Also names the request in the audit log. */
function targetOf(request: SyncRequest, verb: 'sync' | 'send' | 'change'): AudienceTarget {
  const { id: sourceId, name } = request.params;
  const { ratePerSecond, dryRun } = request.query;
  audit(request, `audience.${dryRun ? 'preview' : verb}`, `audience/${sourceId}/${name}`);
  return { sourceId, name, asker: request.caller, ratePerSecond };
}

function streamOf(request: FastifyRequest): AsyncIterable<Buffer> {
  return readUpload(request.raw, () => request.caller?.isValid() !== false);
}

/** @throws TailraceError `unsupported-media-type`, `unsupported-encoding` */
function uploadOf(request: FastifyRequest): Pick<Upload, 'format' | 'stream'> {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  const format = formats[type];
  if (!format) throw new TailraceError('unsupported-media-type', uploadTypes);
  return { format, stream: streamOf(request) };
}

/** Leaves out what is internal. */
function showSync(sync: AudienceSync) {
  return { ...sync, instance: undefined, sendId: undefined };
}

function showAudience({ name, trait, members, sync }: Audience) {
  return { name, trait, members, sync: showSync(sync) };
}
