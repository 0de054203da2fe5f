/** The route that streams copies of the deliveries of a destination as NDJSON, for `tailrace listen`. */
import type { ConfigView } from '@tailrace/config';
import Type from 'typebox';
import { amounts } from '../access/shared.ts';
import { loadDestination } from '../configuration/destinations/destination.ts';
import type { Streams } from '../streams/streams.ts';
import { streamWatched } from '../streams/watches.ts';
import { routesOf, type Api } from '../http/api.ts';
import { audit } from '../http/audit.ts';
import { closedObject, namedObject, optionalText } from '../http/schemas.ts';
import type { CopyFeed } from './feed.ts';

const filter = closedObject({
  event: optionalText('only deliveries of this track event'),
  userId: optionalText('only deliveries of this user'),
});

const line = namedObject('DeliveryCopy', {
  deliveryId: Type.String(),
  sourceId: Type.String(),
  type: Type.String({ description: 'the type of the call, or delete' }),
  event: optionalText("the name of a track call's event"),
  userKey: Type.String({ description: 'the userId, else the anonymousId' }),
  method: Type.String({ description: 'that of the first URL' }),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'as a receiver gets them, signed for this moment; without those of the URL and of `auth`',
  }),
  body: Type.String({ description: 'the exact text that is signed and sent' }),
});

const streamCopiesAnswers = {
  200: {
    description: 'a line of JSON for each delivery',
    content: { 'application/x-ndjson': { schema: line } },
  },
};

export interface CopyNeeds {
  readonly streams: Streams;
  readonly feed: CopyFeed;
  readonly config: Pick<ConfigView, 'destination'>;
}

export function copyRoutes(app: Api, { streams, feed, config }: CopyNeeds): void {
  routesOf(app, 'Destinations').get('/destinations/:id/copies/stream', {
    operationId: 'streamCopies',
    summary: 'Stream signed copies of the deliveries of a destination',
    description:
      'A line of JSON for each delivery from now on, once, with the headers and the body of its request: those that are new, replayed or ' +
      'resent, not their retries. The destination gets its deliveries as without the stream, and may be paused. ' +
      `Up to ${amounts.copies.ofOne} copies a second are sent; a line such as {"missed": 12} gives the number of the others. An empty line ` +
      'every 15 seconds. The audit log has each stream.',
    querystring: filter,
    response: streamCopiesAnswers,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const { params, query, caller } = request;
      const { id } = params;
      loadDestination(config, id);
      audit(request, 'destination.listen', `destination/${id}`);
      await streamWatched({ streams, reply, caller }, (send) => feed.watch(id, { ...query, caller, send }));
      return reply;
    },
  });
}
