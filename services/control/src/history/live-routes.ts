/**
 * The route that pushes what is new to open pages, as server-sent events: attempts in numbers or one by one, and changes of the
 * configuration. A page that was disconnected resumes by the id of the last event; what it missed beyond the kept ones is said.
 */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { TailraceError } from '@tailrace/errors';
import type { AttemptRecord } from '@tailrace/topics';
import Type from 'typebox';
import { reachesDelivery } from '../access/limits.ts';
import { showUser } from '../http/mask.ts';
import type { Routes } from '../http/routes.ts';

/** A comment keeps the connection alive through proxies. */
const heartbeatMs = 15_000;
const countsEveryMs = 1_000;
/** Streams of one instance, and of one token: a browser has six connections to a server. */
const maxStreams = 500;
const maxStreamsOfToken = 50;
/** Attempts that are kept for pages that resume: about 1 MB. */
const maxKept = 1_000;
const maxBufferedBytes = 256 * 1024;
const retryMs = 1_000;

interface Kept {
  readonly id: number;
  readonly attempt: AttemptRecord;
}

export const liveRoutes: Routes = (app, { history, config, signal }) => {
  /** Ids of another process begin otherwise. */
  const origin = randomBytes(4).toString('hex');
  const kept: Kept[] = [];
  let lastId = 0;
  history.onAttempt((attempt) => {
    kept.push({ id: (lastId += 1), attempt });
    if (kept.length > maxKept) kept.shift();
  });
  const open = new Map<string, number>();
  let total = 0;

  app.get(
    '/stream',
    {
      exposeHeadRoute: false,
      schema: {
        operationId: 'streamLive',
        summary: 'Stream what is new, for open pages',
        description:
          'Server-sent events: `hello` first, with whether events were missed since `Last-Event-ID`; `counts` each second with attempts by ' +
          'outcome; `config` after a change of the configuration; with `attempts=true` also `attempt` for each. A comment every 15 seconds. ' +
          'An instance has up to 500 streams, and up to 50 of one token; beyond these the answer is 429.',
        tags: ['History'],
        querystring: Type.Object(
          {
            attempts: Type.Optional(Type.Enum(['true', 'false'], { description: 'true or false' })),
            destination: Type.Optional(Type.String({ description: 'only of this destination' })),
            source: Type.Optional(Type.String({ description: 'only of this source' })),
          },
          { additionalProperties: false },
        ),
        response: {
          200: {
            description: 'events',
            content: { 'text/event-stream': { schema: { type: 'string' } } },
          },
        },
      },
    },
    ({ query, headers, role, caller }, reply) => {
      // Browsers connect again immediately, and a stream that begins now would hold up the shutdown.
      if (signal.aborted) throw new TailraceError('shutting-down');
      const owner = caller?.tokenId ?? caller?.fingerprint ?? '';
      const ofOwner = open.get(owner) ?? 0;
      if (total >= maxStreams || ofOwner >= maxStreamsOfToken) {
        throw new TailraceError('too-many-requests', 'Too many pages are open. Close some of them.');
      }
      const isWanted = (attempt: AttemptRecord): boolean =>
        (query.destination === undefined || query.destination === attempt.destinationId) &&
        (query.source === undefined || query.source === attempt.sourceId) &&
        reachesDelivery(caller, attempt) &&
        caller?.isValid() !== false;

      const lines = new Readable({ read: () => undefined, highWaterMark: maxBufferedBytes });
      const send = (event: string, data: object, id: number): void => {
        // A page that reads too slowly misses single attempts; the next counts are right again.
        if (lines.readableLength > maxBufferedBytes) return;
        lines.push(`event: ${event}\nid: ${origin}-${id}\ndata: ${JSON.stringify(data)}\n\n`);
      };
      const withAttempts = query.attempts === 'true';
      let hasChanges = false;
      let counts = { delivered: 0, retry: 0, dead: 0 };
      const accept = (attempt: AttemptRecord, id: number): void => {
        if (!isWanted(attempt)) return;
        counts[attempt.outcome] += 1;
        if (withAttempts) send('attempt', { ...attempt, userKey: showUser(attempt.userKey, role) }, id);
      };

      const [, sameOrigin, seen] =
        /^([0-9a-f]{8})-(\d{1,15})$/.exec(String(headers['last-event-id'] ?? '')) ?? [];
      const resumesAt = sameOrigin === origin ? Number(seen) : undefined;
      const first = kept[0]?.id ?? lastId + 1;
      const missed =
        headers['last-event-id'] !== undefined && (resumesAt === undefined || resumesAt + 1 < first);
      lines.push(`retry: ${retryMs}\n\n`);
      send('hello', { origin, missed }, resumesAt ?? lastId);
      if (resumesAt !== undefined) {
        for (const { id, attempt } of kept) if (id > resumesAt) accept(attempt, id);
      }

      const unsubscribe = history.onAttempt((attempt) => {
        // The listener above has given it its id.
        accept(attempt, lastId);
      });
      const unfollow = config.onChange(() => {
        hasChanges = true;
      });
      const ticking = setInterval(() => {
        if (caller?.isValid() === false) {
          end();
          return;
        }
        if (hasChanges) send('config', {}, lastId);
        hasChanges = false;
        const { delivered, retry, dead } = counts;
        if (delivered + retry + dead === 0) return;
        counts = { delivered: 0, retry: 0, dead: 0 };
        send('counts', { delivered, retry, dead }, lastId);
      }, countsEveryMs);
      const heartbeat = setInterval(() => lines.push(':\n\n'), heartbeatMs);
      const end = (): void => {
        lines.push(null);
      };
      signal.addEventListener('abort', end, { once: true });
      total += 1;
      open.set(owner, ofOwner + 1);
      lines.once('close', () => {
        unsubscribe();
        unfollow();
        clearInterval(ticking);
        clearInterval(heartbeat);
        signal.removeEventListener('abort', end);
        total -= 1;
        const left = (open.get(owner) ?? 1) - 1;
        if (left === 0) open.delete(owner);
        else open.set(owner, left);
      });
      // Without x-accel-buffering, nginx collects events until a buffer is full. A connection that stays open after its stream would hold
      // up the shutdown.
      return reply
        .headers({ 'x-accel-buffering': 'no', connection: 'close' })
        .type('text/event-stream')
        .send(lines);
    },
  );
};
