/** The route that streams attempts live as NDJSON, for `tailrace tail`. */
import { eventTypes } from '@tailrace/events';
import Type from 'typebox';
import { reachesDelivery } from '../access/limits.ts';
import { routesOf, type Api } from '../http/api.ts';
import { closedObject, optionalText } from '../http/schemas.ts';
import type { LiveAttempt, Streams } from '../streams/streams.ts';

const equal = (what: string) => optionalText(`only attempts with this ${what}`);

const filter = closedObject({
  destination: equal('destination'),
  source: equal('source'),
  type: Type.Optional(Type.Enum([...eventTypes], { description: `one of ${eventTypes.join(', ')}` })),
  event: equal('event'),
  userId: equal('user'),
  outcome: Type.Optional(
    Type.Enum(['delivered', 'retry', 'dead'], { description: 'delivered, retry or dead' }),
  ),
});

const streamAttemptsAnswers = {
  200: {
    description: 'the records of the topic attempts, one per line',
    content: { 'application/x-ndjson': { schema: { type: 'string' } } },
  },
};

/** @param ends of the partitions of the topic `attempts`, as they are now */
export function attemptRoutes(
  app: Api,
  streams: Streams,
  ends: () => Promise<ReadonlyMap<number, number>>,
): void {
  const route = routesOf(app, 'History');
  route.get('/attempts/stream', {
    operationId: 'streamAttempts',
    summary: 'Stream attempts',
    description:
      'A line of JSON for each attempt from now on, until the client disconnects or its token or session ends; an empty line every 15 seconds. For a ' +
      'client that reads too slowly attempts are dropped, and a line such as {"missed": 12} gives their number. For a read-only token the ids of users and the answers of receivers are masked.',
    querystring: filter,
    response: streamAttemptsAnswers,
    exposeHeadRoute: false,
    handler: async (
      { query: { destination, source, type, event, userId, outcome }, role, caller },
      reply,
    ) => {
      // A record that is read late or again is of an attempt before the request. The clock of delivery may differ.
      const since = await ends();
      const is = (wanted: string | undefined, found: string | undefined): boolean =>
        wanted === undefined || wanted === found;
      const isWanted = ({ record, position }: LiveAttempt): boolean =>
        position.offset >= (since.get(position.partition) ?? 0) &&
        reachesDelivery(caller, record) &&
        is(destination, record.destinationId) &&
        is(source, record.sourceId) &&
        is(type, record.type) &&
        is(event, record.event) &&
        is(userId, record.userKey) &&
        is(outcome, record.outcome);

      const send = streams.open(caller, reply, {
        headers: { 'content-type': 'application/x-ndjson' },
        // Sends the headers immediately.
        first: '\n',
        heartbeat: '\n',
        onAttempt(attempt) {
          if (isWanted(attempt)) send(attempt.lineFor(role));
        },
        missed: (missed) => `${JSON.stringify({ missed })}\n`,
      });
      return reply;
    },
  });
}
