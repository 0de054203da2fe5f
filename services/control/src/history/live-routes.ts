/**
 * The route that pushes what is new to open pages, as server-sent events: attempts in numbers or one by one, and changes of the
 * configuration. A page that was disconnected resumes by the id of the last event; what it missed beyond the kept ones is said.
 */
import { randomBytes } from 'node:crypto';
import type { ConfigView } from '@tailrace/config';
import Type from 'typebox';
import { reachesDelivery } from '../access/limits.ts';
import { shared } from '../access/shared.ts';
import { routesOf, type Api } from '../http/api.ts';
import { closedObject, optionalText } from '../http/schemas.ts';
import type { LiveAttempt, Streams } from '../streams/streams.ts';

const retryMs = 1_000;
const { most, ofOne } = shared.streams;

const streamLiveQuery = closedObject({
  attempts: Type.Optional(Type.Enum(['true', 'false'], { description: 'true or false' })),
  destination: optionalText('only of this destination'),
  source: optionalText('only of this source'),
});
const streamLiveAnswers = {
  200: {
    description: 'events',
    content: { 'text/event-stream': { schema: { type: 'string' } } },
  },
};

export function liveRoutes(app: Api, streams: Streams, config: Pick<ConfigView, 'onChange'>): void {
  const route = routesOf(app, 'History');
  /** Ids of another process begin otherwise. */
  const origin = randomBytes(4).toString('hex');
  const pieceOf = (event: string, line: Buffer, id = streams.lastId): Buffer =>
    Buffer.concat([Buffer.from(`event: ${event}\nid: ${origin}-${id}\ndata: `), line, Buffer.from('\n')]);
  const eventOf = (event: string, data: object, id?: number): Buffer =>
    pieceOf(event, Buffer.from(`${JSON.stringify(data)}\n`), id);
  /** By the line of an attempt, for all streams that send it. */
  const attempts = new WeakMap<Buffer, Buffer>();
  const attemptOf = (id: number, line: Buffer): Buffer => {
    const piece = attempts.get(line) ?? pieceOf('attempt', line, id);
    attempts.set(line, piece);
    return piece;
  };

  route.get('/stream', {
    operationId: 'streamLive',
    summary: 'Stream what is new, for open pages',
    description:
      'Server-sent events: `hello` first, with whether events were missed since `Last-Event-ID`; `counts` each second with attempts by ' +
      'outcome; `config` after a change of the configuration; with `attempts=true` also `attempt` for each. A comment every 15 seconds. ' +
      `An instance has up to ${most} streams of this, of attempts, of calls and of copies, and up to ${ofOne} of one token; beyond these the answer is 429.`,
    querystring: streamLiveQuery,
    response: streamLiveAnswers,
    exposeHeadRoute: false,
    handler: ({ query, headers, role, caller }, reply) => {
      const isWanted = ({ record }: LiveAttempt): boolean =>
        (query.destination === undefined || query.destination === record.destinationId) &&
        (query.source === undefined || query.source === record.sourceId) &&
        reachesDelivery(caller, record);
      let hasChanges = false;
      let counts = { delivered: 0, retry: 0, dead: 0 };
      const onAttempt = (attempt: LiveAttempt): void => {
        if (!isWanted(attempt)) return;
        counts[attempt.record.outcome] += 1;
        if (query.attempts === 'true') send(attemptOf(attempt.id, attempt.lineFor(role)));
      };

      const [, sameOrigin, seen] =
        /^([0-9a-f]{8})-(\d{1,15})$/.exec(String(headers['last-event-id'] ?? '')) ?? [];
      const resumesAt = sameOrigin === origin ? Number(seen) : undefined;
      const oldest = streams.kept[0]?.id ?? streams.lastId + 1;
      const missed =
        headers['last-event-id'] !== undefined && (resumesAt === undefined || resumesAt + 1 < oldest);
      // A page that reads too slowly misses single attempts; the next counts are right again.
      const send = streams.open(caller, reply, {
        // Without x-accel-buffering, nginx collects events until a buffer is full. A connection that stays open after its stream would
        // hold up the shutdown.
        headers: {
          'content-type': 'text/event-stream',
          'x-accel-buffering': 'no',
          connection: 'close',
        },
        first: `retry: ${retryMs}\n\n${eventOf('hello', { origin, missed }, resumesAt).toString()}`,
        heartbeat: ':\n\n',
        onAttempt,
        onSecond() {
          if (hasChanges) send(eventOf('config', {}));
          hasChanges = false;
          const { delivered, retry, dead } = counts;
          if (delivered + retry + dead === 0) return;
          counts = { delivered: 0, retry: 0, dead: 0 };
          send(eventOf('counts', { delivered, retry, dead }));
        },
        onEnd() {
          unfollow();
        },
      });
      const unfollow = config.onChange(() => {
        hasChanges = true;
      });
      for (const attempt of resumesAt === undefined ? [] : streams.kept) {
        if (attempt.id > (resumesAt ?? 0)) onAttempt(attempt);
      }
      return reply;
    },
  });
}
