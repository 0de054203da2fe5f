/** The route that streams attempts live as NDJSON, for `tailrace tail`. */
import { Readable } from 'node:stream';
import { eventTypes, parseInstant } from '@tailrace/events';
import type { AttemptRecord } from '@tailrace/topics';
import Type from 'typebox';
import { reachesDelivery } from '../access/limits.ts';
import { showUser } from '../http/mask.ts';
import type { Routes } from '../http/routes.ts';

/** An empty line keeps the connection alive. */
const heartbeatMs = 15_000;
/** How often it is checked that the token and the session have not ended. */
const validityMs = 500;
/** Beyond it, attempts are dropped, and the client is sent their number. */
const maxBufferedBytes = 1024 * 1024;

const only = (what: string) => Type.Optional(Type.String({ description: `only attempts with this ${what}` }));

export const attemptRoutes: Routes = (app, { history, signal }) => {
  app.get(
    '/attempts/stream',
    {
      exposeHeadRoute: false,
      schema: {
        operationId: 'streamAttempts',
        summary: 'Stream attempts',
        description:
          'A line of JSON for each attempt from now on, until the client disconnects or its token or session ends; an empty line every 15 seconds. For a ' +
          'client that reads too slowly attempts are dropped, and a line such as {"missed": 12} gives their number. For a read-only token the ids of users are masked.',
        tags: ['History'],
        querystring: Type.Object(
          {
            destination: only('destination'),
            source: only('source'),
            type: Type.Optional(
              Type.Enum([...eventTypes], { description: `one of ${eventTypes.join(', ')}` }),
            ),
            event: only('event'),
            userId: only('user'),
            outcome: Type.Optional(
              Type.Enum(['delivered', 'retry', 'dead'], { description: 'delivered, retry or dead' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          200: {
            description: 'the records of the topic attempts, one per line',
            content: { 'application/x-ndjson': { schema: { type: 'string' } } },
          },
        },
      },
    },
    ({ query: { destination, source, type, event, userId, outcome }, role, caller }, reply) => {
      const since = Date.now();
      const is = (wanted: string | undefined, found: string | undefined): boolean =>
        wanted === undefined || wanted === found;
      const isWanted = (attempt: AttemptRecord): boolean =>
        reachesDelivery(caller, attempt) &&
        is(destination, attempt.destinationId) &&
        is(source, attempt.sourceId) &&
        is(type, attempt.type) &&
        is(event, attempt.event) &&
        is(userId, attempt.userKey) &&
        is(outcome, attempt.outcome) &&
        // A record that is read late or again belongs to an attempt before the request.
        (parseInstant(attempt.startedAt) ?? 0) + attempt.latencyMs >= since;

      let missed = 0;
      const lines = new Readable({ read: () => undefined, highWaterMark: maxBufferedBytes });
      const write = (line: string): void => {
        if (lines.readableLength > maxBufferedBytes) {
          missed += 1;
          return;
        }
        if (missed > 0) lines.push(`${JSON.stringify({ missed })}\n`);
        missed = 0;
        lines.push(line);
      };
      const unsubscribe = history.onAttempt((attempt) => {
        if (!isWanted(attempt) || caller?.isValid() === false) return;
        write(`${JSON.stringify({ ...attempt, userKey: showUser(attempt.userKey, role) })}\n`);
      });
      const heartbeat = setInterval(() => lines.push('\n'), heartbeatMs);
      const end = (): void => {
        lines.push(null);
      };
      const validity = setInterval(() => {
        if (caller?.isValid() === false) end();
      }, validityMs);
      signal.addEventListener('abort', end, { once: true });
      lines.once('close', () => {
        unsubscribe();
        clearInterval(heartbeat);
        clearInterval(validity);
        signal.removeEventListener('abort', end);
      });
      // Sends the response headers immediately.
      lines.push('\n');
      return reply.type('application/x-ndjson').send(lines);
    },
  );
};
