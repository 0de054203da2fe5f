/** The routes that replay dead letters. */
import { TailraceError } from '@tailrace/errors';
import { formatInstant } from '@tailrace/events';
import Type from 'typebox';
import { reachesDestination } from '../access/limits.ts';
import type { Caller, Role } from '../access/authenticate.ts';
import { audit } from '../http/audit.ts';
import { invalidField } from '../http/errors.ts';
import { showUser } from '../access/mask.ts';
import { named, optionalText, time } from '../http/schemas.ts';
import { newestFirst, pageInOrder, pageOf, pageQuery } from '../http/page.ts';
import type { Replay, Replays } from './replays.ts';
import { routesOf, type Api } from '../http/api.ts';
import { filterFields, filterOf, showRows, tallyRowSchema } from './dead-letter-routes.ts';

export const replaySchema = Type.Object({
  id: Type.String(),
  state: Type.Enum(['counting', 'running', 'done', 'interrupted', 'superseded', 'failed'], {
    description: 'superseded: a later replay was started; only one runs at a time',
  }),
  dryRun: Type.Boolean(),
  filter: Type.Object({
    destination: Type.Optional(Type.String()),
    reason: Type.Optional(Type.String()),
    type: Type.Optional(Type.String()),
    event: Type.Optional(Type.String()),
    userId: optionalText('masked for a read-only token'),
    since: Type.Optional(time()),
    until: Type.Optional(time()),
  }),
  ratePerSecond: Type.Integer(),
  startedAt: time(),
  endedAt: Type.Optional(time()),
  due: Type.Optional(
    Type.Integer({
      description:
        'dead letters to replay: they match, and were not replayed before; set once they are counted',
    }),
  ),
  rows: Type.Optional(
    Type.Array(tallyRowSchema, {
      description: 'all dead letters that match, by destination and reason; the largest 100',
    }),
  ),
  replayed: Type.Integer({ description: 'dead letters replayed so far' }),
  malformed: Type.Integer({
    description:
      'records that cannot be replayed: they are not deliveries, or their body was removed with their user',
  }),
  failure: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
});

export const rateField = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 50,
    description: 'a whole number from 1 to 100000',
  }),
);

const orderSchema = Type.Object(
  {
    ...filterFields,
    all: Type.Optional(
      Type.Boolean({
        description: 'true or false; true replays all dead letters, and is required without a filter',
      }),
    ),
    ratePerSecond: rateField,
    dryRun: Type.Optional(
      Type.Boolean({ default: false, description: 'true or false; true counts and publishes nothing' }),
    ),
  },
  { additionalProperties: false, examples: [{ destination: 'crm', since: '2h' }] },
);

export function replayRoutes(app: Api, replays: Replays): void {
  const route = routesOf(app, 'Dead letters');

  /** A limited token reaches the replays of one of its destinations. */
  const isReached = (caller: Caller | undefined, { filter }: Replay): boolean =>
    reachesDestination(caller, filter.destinationId ?? '');

  const find = async (id: string, caller: Caller | undefined): Promise<Replay> => {
    const replay = await replays.find(id);
    if (replay && isReached(caller, replay)) return replay;
    throw new TailraceError(
      'not-found',
      `There is no replay ${JSON.stringify(id)}. The last 100 are kept; GET /v1/replays lists them.`,
    );
  };

  route.post('/replays', {
    operationId: 'startReplay',
    summary: 'Start a replay of dead letters',
    description:
      'Each dead letter that matches and was not replayed before is published again, once. One replay runs at a time: a ' +
      'later one supersedes an earlier one. Another control instance continues the replay of one that has ended.',
    body: named('ReplayInput', orderSchema),
    response: { 202: named('Replay', replaySchema) },
    handler: async (request, reply) => {
      const { all = false, ratePerSecond = 50, dryRun = false, ...given } = request.body;
      const filter = filterOf(given);
      const isFiltered = Object.values(filter).some((value) => value !== undefined);
      if (all === isFiltered) {
        throw invalidField('all', all ? 'cannot be combined with a filter' : 'is required without a filter');
      }
      const replay = await replays.start(
        { filter, ratePerSecond, dryRun, by: request.caller?.name },
        request.caller,
        request.idempotency?.id,
      );
      audit(request, dryRun ? 'replay.count' : 'replay.start', `replay/${replay.id}`);
      return reply
        .status(202)
        .header('location', `/v1/replays/${replay.id}`)
        .send(showReplay(replay, request.role));
    },
  });

  route.get('/replays', {
    operationId: 'listReplays',
    summary: 'List replays, newest first',
    querystring: pageQuery,
    response: { 200: pageOf(named('Replay', replaySchema)) },
    handler: async ({ query, role, caller }) => {
      const reached = (await replays.all()).filter((replay) => isReached(caller, replay));
      const page = pageInOrder('replays', reached, query, ({ startedAt, id }) => newestFirst(startedAt, id));
      return { ...page, items: page.items.map((replay) => showReplay(replay, role)) };
    },
  });

  route.get('/replays/:id', {
    operationId: 'getReplay',
    summary: 'Get the progress of a replay',
    response: { 200: named('Replay', replaySchema) },
    handler: async ({ params: { id }, role, caller }) => showReplay(await find(id, caller), role),
  });

  route.delete('/replays/:id', {
    operationId: 'interruptReplay',
    summary: 'Interrupt a replay',
    description: 'The replay stops after the records in flight. A replay that has ended is unchanged.',
    response: { 202: named('Replay', replaySchema) },
    handler: async (request, reply) => {
      const { id } = request.params;
      audit(request, 'replay.interrupt', `replay/${id}`);
      const found = await find(id, request.caller);
      return reply.status(202).send(showReplay((await replays.interrupt(id)) ?? found, request.role));
    },
  });
}

export function showReplay(
  { id, state, dryRun, ratePerSecond, replayed, malformed, tally, failure, ...more }: Replay,
  role: Role | undefined,
) {
  const { destinationId: destination, userKey, reason, type, event, since, until } = more.filter;
  const userId = userKey === undefined ? undefined : showUser(userKey, role);
  return {
    id,
    state,
    dryRun,
    ratePerSecond,
    replayed,
    malformed,
    filter: { destination, reason, type, event, userId, since: timeOf(since), until: timeOf(until) },
    startedAt: formatInstant(more.startedAt),
    endedAt: timeOf(more.endedAt),
    ...(tally && { due: tally.deadLetters - tally.replayed, rows: showRows(tally.rows) }),
    ...(failure && { failure }),
  };
}

function timeOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : formatInstant(ms);
}
