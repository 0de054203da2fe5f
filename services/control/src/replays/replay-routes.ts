/** The routes that replay dead letters and events. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { ConfigView, Destination } from '@tailrace/config';
import { readIfAvailable, type History } from '@tailrace/history';
import type { TopicNames } from '@tailrace/topology';
import Type, { type Static } from 'typebox';
import { isLimited, reachesDestination, reachesSource } from '../access/limits.ts';
import { loadDestination } from '../configuration/destinations/destination.ts';
import type { Caller, Role } from '../access/authenticate.ts';
import { audit } from '../http/audit.ts';
import { invalidField } from '../http/errors.ts';
import { named } from '../http/schemas.ts';
import { newestFirst, pageInOrder, pageOf, pageQuery } from '../http/page.ts';
import { daysOf, Estimator, type EventEstimate } from './events/estimate.ts';
import { selectionFields, selectionOf } from './events/order.ts';
import { rateOf } from './events/replay-events.ts';
import type { EventSelection } from './events/selection.ts';
import { destinationOf } from './record.ts';
import { requireEnabled } from './require-enabled.ts';
import type { ReplayOrder, Replays, ShownReplay } from './replays.ts';
import { routesOf, type Api } from '../http/api.ts';
import { filterFields, filterOf } from './dead-letter-routes.ts';
import { replaySchema, showReplay, startedSchema, timeOf } from './shown-replay.ts';

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
    kind: Type.Optional(
      Type.Enum(['dead-letters', 'events'], { description: 'dead-letters (default) or events' }),
    ),
    ...filterFields,
    ...selectionFields,
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
  {
    additionalProperties: false,
    examples: [{ kind: 'events', destination: 'crm', from: '2h' }],
  },
);

type OrderBody = Static<typeof orderSchema>;

/** The record of a replay, which has its order and its counts, fits into Kafka. */
const maxOrderBytes = 64 * 1024;

const ofDeadLetters = ['reason', 'type', 'event', 'since', 'all'] as const;

export interface ReplayNeeds {
  readonly replays: Replays;
  readonly config: Pick<ConfigView, 'destination'>;
  readonly history: Pick<History, 'read'>;
  readonly names: Pick<TopicNames, 'events' | 'eventsRestore'>;
  /** When the oldest record of a topic of events was written, in milliseconds since the epoch. */
  readonly oldestEventAt: (topic: string) => Promise<number | undefined>;
  /** By partition, where a topic of events ends. */
  readonly endsOf: (topic: string) => Promise<ReadonlyMap<number, number>>;
}

export function replayRoutes(
  app: Api,
  { replays, config, history, names, oldestEventAt, endsOf }: ReplayNeeds,
): void {
  const route = routesOf(app, 'Dead letters');

  const show = (replay: ShownReplay, role: Role | undefined) =>
    showReplay(replay, role, rateOf(replay, config.destination(destinationOf(replay) ?? '')));

  /** A limited token reaches the replays of one of its destinations, and with sources only those of their events. */
  const isReached = (caller: Caller | undefined, replay: ReplayOrder): boolean => {
    if (!reachesDestination(caller, destinationOf(replay) ?? '')) return false;
    return !caller?.sources || isWithin(replay.selection?.sources, caller.sources);
  };

  /**
   * Of sources whose usage the caller may see, and of the events that Kafka still has. The history counts those of a time that it keeps,
   * and restored ones are older.
   */
  const estimated = async (
    selection: EventSelection,
    oldest: number,
    caller: Caller | undefined,
  ): Promise<EventEstimate | undefined> => {
    if (selection.topic !== undefined) return undefined;
    const sources = selection.sources ?? loadDestination(config, selection.destinationId).sources;
    if (!sources.every((id) => reachesSource(caller, id))) return undefined;
    const { since, until } = daysOf({ ...selection, from: Math.max(selection.from, oldest) });
    const kept = { ...selection, from: Math.max(selection.from, Date.parse(since)) };
    const estimator = new Estimator(kept, Date.now());
    for (const id of sources) {
      const usage = readIfAvailable(history, (queries) => queries.dailyUsageOf(id, since, until));
      if (!usage) return undefined;
      estimator.add(usage);
      // Each may have hundreds of names a day.
      await nextTurn();
    }
    return estimator.estimate;
  };

  const oldestOf = async (topic = names.events): Promise<number | undefined> => {
    try {
      return await oldestEventAt(topic);
    } catch (error) {
      if (topic === names.events || !isTailraceError(error, 'topic-missing')) throw error;
      throw new TailraceError('conflict', `The topic ${topic} does not exist. Restore events into it first.`);
    }
  };

  const previewOf = async (selection: EventSelection, caller: Caller | undefined) => {
    const oldest = await oldestOf(selection.topic);
    return {
      estimate: await estimated(selection, oldest ?? selection.until, caller),
      oldestEventAt: timeOf(oldest),
    };
  };

  /** What the body selects. */
  const selected = (
    body: OrderBody,
    caller: Caller | undefined,
  ): Pick<ReplayOrder, 'filter' | 'selection'> => {
    const { kind, all = false, ...given } = body;
    const misplaced = (kind === 'events' ? ofDeadLetters : namesOf(selectionFields)).find(
      (name) => name in body,
    );
    if (misplaced !== undefined) {
      throw invalidField(
        misplaced,
        `is not a field of replays of ${kind === 'events' ? 'events' : 'dead letters'}`,
      );
    }
    if (kind === 'events') {
      const load = (id: string): Destination => loadDestination(config, id);
      const selection = selectionOf(body, { load, names, caller });
      requireEnabled(config, selection.destinationId, 'would become a dead letter');
      return { selection };
    }
    if (isLimited(caller)) {
      throw new TailraceError(
        'forbidden',
        'The token is limited to sources or destinations, and a replay of dead letters is not. Recover a destination instead.',
      );
    }
    const filter = filterOf(given);
    const isFiltered = Object.values(filter).some((value) => value !== undefined);
    if (all === isFiltered) {
      throw invalidField('all', all ? 'cannot be combined with a filter' : 'is required without a filter');
    }
    return { filter };
  };

  const find = async (id: string, caller: Caller | undefined): Promise<ShownReplay> => {
    const replay = await replays.find(id);
    if (replay && isReached(caller, replay)) return replay;
    throw new TailraceError(
      'not-found',
      `There is no replay ${JSON.stringify(id)}. The last 100 are kept; GET /v1/replays lists them.`,
    );
  };

  route.post('/replays', {
    operationId: 'startReplay',
    summary: 'Start a replay of dead letters or events',
    description:
      'Each dead letter that matches and was not replayed before is published again, once. With the kind `events`, each event that ' +
      'matches is routed again with the present configuration of the destination, and sent once, as long as `events`, or `topic`, keeps it. ' +
      'Another control instance continues the replay of one that has ended.',
    body: named('ReplayInput', orderSchema),
    response: { 202: named('StartedReplay', startedSchema) },
    errors: ['conflict', 'invalid-configuration', 'record-too-large'],
    bodyLimit: maxOrderBytes,
    handler: async (request, reply) => {
      const { caller, body } = request;
      const { ratePerSecond = 50, dryRun = false, allowOverlap = false } = body;
      const order = { ratePerSecond, dryRun, by: caller?.name, ...selected(body, caller) };
      const { selection } = order;
      const preview = selection && (await previewOf(selection, caller));
      const endsNow = selection && body.until === undefined;
      const ends = endsNow ? [...(await endsOf(selection.topic ?? names.events))] : undefined;
      const wanted = { ...order, ...(selection && { selection: { ...selection, ends } }) };
      const replay = await replays.start(wanted, caller, request.idempotency?.id, (others) => {
        const overlaps = others.filter((other) => isReached(caller, other)).map(({ id }) => id);
        if (others.length > 0 && !dryRun && !allowOverlap) throw overlapping(overlaps);
        return overlaps;
      });
      audit(request, dryRun ? 'replay.count' : 'replay.start', `replay/${replay.id}`);
      return reply
        .status(202)
        .header('location', `/v1/replays/${replay.id}`)
        .send({ ...show({ ...replay, paused: false }, request.role), ...preview });
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
      return { ...page, items: page.items.map((replay) => show(replay, role)) };
    },
  });

  route.get('/replays/:id', {
    operationId: 'getReplay',
    summary: 'Get the progress of a replay',
    response: { 200: named('Replay', replaySchema) },
    handler: async ({ params: { id }, role, caller }) => show(await find(id, caller), role),
  });

  const change = async (
    {
      params: { id },
      caller,
      role,
    }: Pick<FastifyRequest<{ Params: { id: string } }>, 'params' | 'caller' | 'role'>,
    make: (id: string) => Promise<ShownReplay | undefined>,
  ) => {
    const found = await find(id, caller);
    return show((await make(id)) ?? found, role);
  };

  route.post('/replays/:id/pause', {
    operationId: 'pauseReplay',
    summary: 'Pause a replay',
    description: 'The replay waits after the records in flight. One that has ended is unchanged.',
    response: { 202: named('Replay', replaySchema) },
    handler: async (request, reply) => {
      audit(request, 'replay.pause', `replay/${request.params.id}`);
      return reply.status(202).send(await change(request, replays.pause));
    },
  });

  route.post('/replays/:id/resume', {
    operationId: 'resumeReplay',
    summary: 'Continue a paused replay',
    response: { 202: named('Replay', replaySchema) },
    handler: async (request, reply) => {
      audit(request, 'replay.resume', `replay/${request.params.id}`);
      return reply.status(202).send(await change(request, replays.resume));
    },
  });

  route.delete('/replays/:id', {
    operationId: 'interruptReplay',
    summary: 'Interrupt a replay',
    description: 'The replay stops after the records in flight. A replay that has ended is unchanged.',
    response: { 202: named('Replay', replaySchema) },
    handler: async (request, reply) => {
      audit(request, 'replay.interrupt', `replay/${request.params.id}`);
      return reply.status(202).send(await change(request, replays.interrupt));
    },
  });
}

function isWithin(ids: readonly string[] | undefined, limits: readonly string[]): boolean {
  return ids?.every((id) => limits.includes(id)) === true;
}

function overlapping(ids: readonly string[]): TailraceError {
  return new TailraceError(
    'conflict',
    `Other replays may send the same events (${ids.join(', ') || 'not of this token'}). Wait until they have ended, choose another period, or set allowOverlap.`,
  );
}

function namesOf<Fields extends object>(fields: Fields): readonly (string & keyof Fields)[] {
  return Object.keys(fields) as (string & keyof Fields)[];
}
