/** The routes that replay dead letters. */
import { TailraceError } from '@tailrace/errors';
import { formatInstant } from '@tailrace/events';
import Type from 'typebox';
import { audit } from '../http/audit.ts';
import { invalidField } from '../http/errors.ts';
import { pageInOrder, pageOf, pageParameters } from '../http/page.ts';
import { createReplays, type Replay } from './replays.ts';
import type { Routes } from '../http/routes.ts';
import { filterFields, filterOf, showRows, tallyRowSchema } from './dead-letter-routes.ts';

const replaySchema = Type.Object({
  id: Type.String(),
  state: Type.Enum(['counting', 'running', 'done', 'interrupted', 'superseded', 'failed'], {
    description: 'superseded: a later replay was started; only one runs at a time',
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
    Type.Integer({
      description:
        'dead letters to replay: they match, and were not replayed before; set once they are counted',
    }),
  ),
  rows: Type.Optional(
    Type.Array(tallyRowSchema, { description: 'all dead letters that match, by destination and reason' }),
  ),
  replayed: Type.Integer({ description: 'dead letters replayed so far' }),
  malformed: Type.Integer({ description: 'records that are not deliveries and cannot be replayed' }),
  failure: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
});

const orderSchema = Type.Object(
  {
    ...filterFields,
    all: Type.Optional(
      Type.Boolean({
        description: 'true or false; true replays all dead letters, and is required without a filter',
      }),
    ),
    ratePerSecond: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        default: 50,
        description: 'a whole number from 1 to 100000',
      }),
    ),
    dryRun: Type.Optional(
      Type.Boolean({ default: false, description: 'true or false; true counts and publishes nothing' }),
    ),
  },
  { additionalProperties: false },
);

const params = Type.Object({ id: Type.String() });

export const replayRoutes: Routes = (app, { kafka, names, log, signal }) => {
  const tags = ['Dead letters'];
  const replays = createReplays({ kafka, names, log, signal });

  const requireReplay = (replay: Replay | undefined, id: string): Replay => {
    if (replay) return replay;
    throw new TailraceError(
      'not-found',
      `There is no replay ${JSON.stringify(id)} in this process. Replays are forgotten when the process ends; to continue, start one with the same filter.`,
    );
  };

  app.post(
    '/replays',
    {
      config: { errors: ['too-many-at-once'] },
      schema: {
        operationId: 'startReplay',
        summary: 'Start a replay of dead letters',
        description:
          'Each dead letter that matches and was not replayed before is published again, once. One replay runs at a time: a ' +
          'later one supersedes an earlier one. A replay ends with the process; to continue, start it again.',
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
        throw invalidField('all', all ? 'cannot be combined with a filter' : 'is required without a filter');
      }
      const replay = replays.start({ filter, ratePerSecond, dryRun });
      audit(request, dryRun ? 'replay.count' : 'replay.start', `replay/${replay.id}`);
      return reply.status(202).header('location', `/v1/replays/${replay.id}`).send(show(replay));
    },
  );

  app.get(
    '/replays',
    {
      schema: {
        operationId: 'listReplays',
        summary: 'List the replays of this process, newest first',
        tags,
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: pageOf(replaySchema) },
      },
    },
    ({ query }) => {
      // Newer replays have smaller keys.
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
        summary: 'Get the progress of a replay',
        tags,
        params,
        response: { 200: replaySchema },
      },
    },
    ({ params: { id } }) => show(requireReplay(replays.find(id), id)),
  );

  app.delete(
    '/replays/:id',
    {
      schema: {
        operationId: 'interruptReplay',
        summary: 'Interrupt a replay',
        description: 'The replay stops after the records in flight. A replay that has ended is unchanged.',
        tags,
        params,
        response: { 202: replaySchema },
      },
    },
    (request, reply) => {
      const { id } = request.params;
      audit(request, 'replay.interrupt', `replay/${id}`);
      return reply.status(202).send(show(requireReplay(replays.interrupt(id), id)));
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
