/** Attempts as they are made, as lines of JSON: what `tailrace tail` shows. */
import { Readable } from 'node:stream';
import { eventTypes, parseInstant } from '@tailrace/events';
import type { AttemptRecord } from '@tailrace/topics';
import Type from 'typebox';
import type { Routes } from '../http/routes.ts';

/** A line with nothing in it says that the connection is alive. */
const heartbeatMs = 15_000;
/** Whoever reads more slowly than attempts are made misses some, and is told how many. */
const mostBufferedBytes = 1024 * 1024;

const only = (what: string) => Type.Optional(Type.String({ description: `only those of this ${what}` }));

export const attemptRoutes: Routes = (app, { history, signal }) => {
  app.get(
    '/attempts/stream',
    {
      exposeHeadRoute: false,
      schema: {
        operationId: 'streamAttempts',
        summary: 'Attempts as they are made',
        description:
          'A line of JSON for each attempt from now on, until the client ends it; an empty line every 15 seconds. A client ' +
          'that reads too slowly misses some, and gets a line {"missed": 12}.',
        tags: ['What happened'],
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
            description: 'The records of the topic attempts, one a line',
            content: { 'application/x-ndjson': { schema: { type: 'string' } } },
          },
        },
      },
    },
    ({ query: { destination, source, type, event, userId, outcome } }, reply) => {
      const since = Date.now();
      const is = (wanted: string | undefined, found: string | undefined): boolean =>
        wanted === undefined || wanted === found;
      const isWanted = (attempt: AttemptRecord): boolean =>
        is(destination, attempt.destinationId) &&
        is(source, attempt.sourceId) &&
        is(type, attempt.type) &&
        is(event, attempt.event) &&
        is(userId, attempt.userKey) &&
        is(outcome, attempt.outcome) &&
        // What is read again, or late, was made before.
        (parseInstant(attempt.startedAt) ?? 0) + attempt.latencyMs >= since;

      let missed = 0;
      const lines = new Readable({ read: () => undefined, highWaterMark: mostBufferedBytes });
      const write = (line: string): void => {
        if (lines.readableLength > mostBufferedBytes) {
          missed += 1;
          return;
        }
        if (missed > 0) lines.push(`${JSON.stringify({ missed })}\n`);
        missed = 0;
        lines.push(line);
      };
      const forget = history.onAttempt((attempt) => {
        if (isWanted(attempt)) write(`${JSON.stringify(attempt)}\n`);
      });
      const heartbeat = setInterval(() => lines.push('\n'), heartbeatMs);
      const end = (): void => {
        lines.push(null);
      };
      signal.addEventListener('abort', end, { once: true });
      lines.once('close', () => {
        forget();
        clearInterval(heartbeat);
        signal.removeEventListener('abort', end);
      });
      // So that a client knows at once that it is connected.
      lines.push('\n');
      return reply.type('application/x-ndjson').send(lines);
    },
  );
};
