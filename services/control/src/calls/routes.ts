/** The route that streams the calls of a source as NDJSON, for the console and `tailrace calls`. */
import type { ConfigView } from '@tailrace/config';
import { isMaskedFor } from '../access/mask.ts';
import { amounts } from '../access/shared.ts';
import { loadSource } from '../configuration/sources/source.ts';
import type { Streams } from '../history/streams.ts';
import { routesOf, type Api } from '../http/api.ts';
import { audit } from '../http/audit.ts';
import { closedObject, optionalText } from '../http/schemas.ts';
import type { CallFeed } from './feed.ts';
import { callOutcomes } from './fate.ts';

const filter = closedObject({
  event: optionalText('only calls with this event'),
  userId: optionalText('only calls of this user'),
});

const streamCallsAnswers = {
  200: {
    description: 'a line of JSON for each call, and for each change of its outcome',
    content: { 'application/x-ndjson': { schema: { type: 'string' } } },
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
      let send = (_line: Buffer): void => undefined;
      const unwatch = await feed.watch(id, {
        caller,
        event: query.event,
        userId: query.userId,
        send: (line) => send(line),
      });
      try {
        send = streams.open(caller, reply, {
          headers: { 'content-type': 'application/x-ndjson', 'x-accel-buffering': 'no' },
          first: '\n',
          heartbeat: '\n',
          missed: (missed) => `${JSON.stringify({ missed })}\n`,
          onEnd: unwatch,
        });
      } catch (error) {
        unwatch();
        throw error;
      }
      return reply;
    },
  });
}
