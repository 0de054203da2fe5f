/** The route that streams the calls of a source as NDJSON, for the console and `tailrace calls`. */
import type { ConfigView } from '@tailrace/config';
import Type from 'typebox';
import { isMaskedFor } from '../access/mask.ts';
import { amounts } from '../access/shared.ts';
import { loadSource } from '../configuration/sources/source.ts';
import { decisionSchema } from '../history/event-routes.ts';
import type { Streams } from '../streams/streams.ts';
import { streamWatched } from '../streams/watches.ts';
import { routesOf, type Api } from '../http/api.ts';
import { audit } from '../http/audit.ts';
import { closedObject, namedObject, optionalText, time } from '../http/schemas.ts';
import type { CallFeed } from './feed.ts';
import { callOutcomes } from './fate.ts';

const filter = closedObject({
  event: optionalText('only calls with this event'),
  userId: optionalText('only calls of this user'),
});

const line = namedObject('LiveCall', {
  id: Type.String(),
  changed: Type.Optional(Type.Literal(true, { description: 'of every line of a call but the first' })),
  receivedAt: Type.Optional(time()),
  outcome: Type.Enum([...callOutcomes]),
  type: Type.Optional(Type.String()),
  event: Type.Optional(Type.String()),
  userKey: optionalText('the userId, else the anonymousId; masked for a read-only token'),
  eventId: Type.Optional(Type.String()),
  destinations: Type.Array(Type.String(), { description: 'those with a delivery' }),
  filtered: decisionSchema.properties.filtered,
  code: optionalText('of a rejected call'),
  message: Type.Optional(Type.String()),
  status: Type.Optional(Type.Integer({ description: 'that its sender was answered with' })),
  call: optionalText('its content, in its first line'),
});

const streamCallsAnswers = {
  200: {
    description: 'a line of JSON for each call, and for each change of its outcome',
    content: { 'application/x-ndjson': { schema: line } },
  },
};

export function callRoutes(
  app: Api,
  {
    streams,
    feed,
    config,
  }: { readonly streams: Streams; readonly feed: CallFeed; readonly config: Pick<ConfigView, 'source'> },
): void {
  const route = routesOf(app, 'History');
  route.get('/sources/:id/calls/stream', {
    operationId: 'streamCalls',
    summary: 'Stream the calls of a source',
    description:
      'A line of JSON for each call from now on, with its content as `call`, and for each later change of its outcome a line with the same `id` ' +
      `without it. Outcomes are ${callOutcomes.join(', ')}. Of calls that were refused, a sample is shown, with the status of the ` +
      `answer. Up to ${amounts.calls.ofOne} calls a second are shown; a line such as {"missed": 12} gives the number of the others. An empty line every 15 ` +
      'seconds. For a read-only token all values but type and event are masked. The audit log has each stream whose values are not.',
    querystring: filter,
    response: streamCallsAnswers,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const { params, query, caller, role } = request;
      const { id } = params;
      loadSource(config, id);
      if (!isMaskedFor(role)) audit(request, 'source.read-calls', `source/${id}`);
      await streamWatched({ streams, reply, caller }, (send) => feed.watch(id, { ...query, caller, send }));
      return reply;
    },
  });
}
