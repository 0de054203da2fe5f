/** Letting deliveries that died be tried again. */
import { TailraceError } from '@tailrace/errors';
import { formatInstant } from '@tailrace/events';
import Type from 'typebox';
import { pageInOrder, pageOf, pageParameters } from '../http/page.ts';
import { createReplays, type Replay } from './replays.ts';
import type { Routes } from '../http/routes.ts';
import { filterFields, filterOf, showRows, tallyRowSchema } from './dead-letter-routes.ts';

const replaySchema = Type.Object({
  id: Type.String(),
  state: Type.Enum(['counting', 'running', 'done', 'interrupted', 'superseded', 'failed'], {
    description: 'superseded: another replay was begun, which one at a time may run',
  }),
  dryRun: Type.Boolean(),
  filter: Type.Object({
    destination: Type.Optional(Type.String()),
    reason: Type.Optional(Type.String()),
    type: Type.Optional(Type.String()),
    since: Type.Optional(Type.String({ format: 'date-time' })),
    until: Type.Optional(Type.String({ format: 'date-time' })),
  }),
  ratePerSecond: Type.Integer(),
  startedAt: Type.String({ format: 'date-time' }),
  endedAt: Type.Optional(Type.String({ format: 'date-time' })),
  due: Type.Optional(
    Type.Integer({ description: 'how many match and had not been replayed, once it has counted' }),
  ),
  rows: Type.Optional(
    Type.Array(tallyRowSchema, { description: 'all that match, by destination and reason' }),
  ),
  replayed: Type.Integer({ description: 'so far' }),
  malformed: Type.Integer({ description: 'records that are no deliveries, and cannot be replayed' }),
  failure: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
});

const orderSchema = Type.Object(
  {
    ...filterFields,
    all: Type.Optional(
      Type.Boolean({ description: 'true or false: all of them; needed where nothing else says which' }),
    ),
    ratePerSecond: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        default: 50,
        description: 'a whole number from 1 to 100000',
      }),
    ),
    dryRun: Type.Optional(Type.Boolean({ default: false, description: 'true or false: only count' })),
  },
  { additionalProperties: false },
);

const params = Type.Object({ id: Type.String() });

export const replayRoutes: Routes = (app, { kafka, names, log, signal, audit }) => {
  const tags = ['Dead letters'];
  const replays = createReplays({ kafka, names, log, signal });

  const found = (replay: Replay | undefined, id: string): Replay => {
    if (replay) return replay;
    throw new TailraceError(
      'not-found',
      `This process knows no replay ${JSON.stringify(id)}. They are forgotten when it ends; another with the same filter goes on.`,
    );
  };

  app.post(
    '/replays',
    {
      config: { errors: ['too-many-at-once'] },
      schema: {
        operationId: 'startReplay',
        summary: 'Replay dead letters',
        description:
          'Each dead letter that matches and was not replayed before is tried again, once. One replay runs at a time: a ' +
          'later one ends an earlier. It runs in this process, and is forgotten with it; the same one continues it.',
        tags,
        body: orderSchema,
        response: { 202: replaySchema },
      },
    },
    (request, reply) => {
      const { all = false, ratePerSecond = 50, dryRun = false, ...given } = request.body;
      const filter = filterOf(given);
      const isFiltered = Object.values(filter).some((value) => value !== undefined);
      if (all === isFiltered) {
        const rule = all ? 'does not go together with what says which' : 'is needed where nothing says which';
        throw new TailraceError('invalid-request', `all ${rule}.`, { problems: [{ field: 'all', rule }] });
      }
      const replay = replays.start({ filter, ratePerSecond, dryRun });
      audit(request, { action: dryRun ? 'replay.count' : 'replay.start', target: `replay/${replay.id}` });
      return reply.status(202).header('location', `/v1/replays/${replay.id}`).send(show(replay));
    },
  );

  app.get(
    '/replays',
    {
      schema: {
        operationId: 'listReplays',
        summary: 'Replays that were begun in this process, newest first',
        tags,
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: pageOf(replaySchema) },
      },
    },
    ({ query }) => {
      // The list is short, and ordered by time: newer ones have the smaller key.
      const keyOf = ({ startedAt, id }: Replay): string =>
        `${String(Number.MAX_SAFE_INTEGER - startedAt).padStart(16, '0')} ${id}`;
      const items = replays.all().toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      const page = pageInOrder(items, query, keyOf);
      return { ...page, items: page.items.map(show) };
    },
  );

  app.get(
    '/replays/:id',
    {
      schema: {
        operationId: 'getReplay',
        summary: 'How far a replay is',
        tags,
        params,
        response: { 200: replaySchema },
      },
    },
    ({ params: { id } }) => show(found(replays.find(id), id)),
  );

  app.delete(
    '/replays/:id',
    {
      schema: {
        operationId: 'interruptReplay',
        summary: 'Interrupt a replay',
        description: 'It ends after what is in flight. One that has ended stays as it is.',
        tags,
        params,
        response: { 202: replaySchema },
      },
    },
    (request, reply) => {
      const { id } = request.params;
      audit(request, { action: 'replay.interrupt', target: `replay/${id}` });
      return reply.status(202).send(show(found(replays.interrupt(id), id)));
    },
  );
};

function show({ id, state, dryRun, ratePerSecond, replayed, malformed, tally, failure, ...more }: Replay) {
  const { destinationId: destination, reason, type, since, until } = more.filter;
  return {
    ...{ id, state, dryRun, ratePerSecond, replayed, malformed },
    filter: { destination, reason, type, since: timeOf(since), until: timeOf(until) },
    startedAt: formatInstant(more.startedAt),
    endedAt: timeOf(more.endedAt),
    ...(tally && { due: tally.deadLetters - tally.replayed, rows: showRows(tally) }),
    ...(failure && { failure }),
  };
}

function timeOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : formatInstant(ms);
}
