/** The routes that read dead letters. They are listed and counted from the history; bodies are read from the topic. */
import {
  hasNoBody,
  lastAnswersOf,
  readDeadLetter,
  type CountRow,
  type DeadLetter,
  type DeadLetterSummary,
  reasonProblem,
} from '@tailrace/deadletters';
import { TailraceError } from '@tailrace/errors';
import { eventTypes, formatInstant } from '@tailrace/events';
import { countLetters, readsLetters, type History } from '@tailrace/history';
import { transformVersionHeader } from '@tailrace/records';
import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { listedOf, reachesDelivery } from '../access/limits.ts';
import type { Role } from '../access/authenticate.ts';
import { audit } from '../http/audit.ts';
import { showBody, showFailure, showUrls, showUser } from '../access/mask.ts';
import type { RecordReader } from '../records/reader.ts';
import { userKeySchema } from '../history/delivery-routes.ts';
import type { Exports } from '../exports/export.ts';
import { historyPage } from '../history/page.ts';
import { longestSummaryMs, type Summaries } from '../history/summaries.ts';
import { invalidField } from '../http/errors.ts';
import { periodOf, periodParameters } from '../http/moment.ts';
import { closedObject, namedObject, optionalText, time } from '../http/schemas.ts';
import { cursorsOf, pageOf, pageParameters } from '../http/page.ts';
import { routesOf, type Api } from '../http/api.ts';

/** Selects dead letters; to be spread into a query or a body. */
export const filterFields = {
  destination: Type.Optional(Type.String({ minLength: 1, description: 'the id of a destination' })),
  reason: Type.Optional(Type.String({ minLength: 1, description: 'a reason, such as client-error' })),
  type: Type.Optional(Type.Enum([...eventTypes], { description: `one of ${eventTypes.join(', ')}` })),
  event: Type.Optional(Type.String({ minLength: 1, description: 'the name of a track event' })),
  userId: Type.Optional(
    Type.String({ minLength: 1, description: 'a userId, or an anonymousId where there is no userId' }),
  ),
  ...periodParameters,
};

type Filter = Static<Type.TObject<typeof filterFields>>;

/** @throws TailraceError `invalid-request` */
export function filterOf({ destination, userId, reason, type, event, ...period }: Filter) {
  const problem = reason === undefined ? undefined : reasonProblem(reason);
  if (problem !== undefined) throw invalidField('reason', problem);
  return { destinationId: destination, reason, type, event, userKey: userId, ...periodOf(period) };
}

const letterFields = {
  ref: Type.String({ description: '`<partition>-<offset>` of the record' }),
  diedAt: time(),
  reason: Type.Optional(Type.String()),
  replayed: Type.Boolean({
    description: 'whether it was replayed; a delivery that failed again has another dead letter',
  }),
  deliveryId: Type.Optional(Type.String()),
  eventId: Type.Optional(Type.String()),
  sourceId: Type.Optional(Type.String()),
  destinationId: Type.Optional(Type.String()),
  type: Type.Optional(Type.String()),
  event: optionalText("the name of a track call's event"),
  userKey: Type.Optional(userKeySchema),
  attempts: Type.Integer(),
};

export const tallyRowSchema = Type.Object({
  destinationId: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()),
  deadLetters: Type.Integer(),
  replayed: Type.Integer({ description: 'how many were replayed' }),
  replayable: Type.Boolean({ description: 'false for those of deleted users, which have no body' }),
  oldestAt: time(),
  newestAt: time(),
});

/** Dead letters of one delivery that are shown: each needs a read of its record. */
const maxShown = 20;

const cursors = cursorsOf('dead-letters', 'number', 'number', 'number');

export interface DeadLetterNeeds {
  readonly records: RecordReader;
  /** The topic `deliveries.dead`. */
  readonly topic: string;
  readonly history: Pick<History, 'read'>;
  readonly exports: Exports;
  readonly summaries: Summaries;
}

const exported = [
  'diedAt',
  'reason',
  'replayed',
  'type',
  'event',
  'sourceId',
  'destinationId',
  'userKey',
  'attempts',
  'deliveryId',
  'eventId',
  'ref',
] as const;

const listed = closedObject(filterFields);
const listedPage = closedObject({ ...filterFields, ...pageParameters });

const summariseDeadLettersQuery = closedObject({
  ...filterFields,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: 'a whole number from 1 to 10000: how many items at most; default: all',
    }),
  ),
});
const summariseDeadLettersAnswers = {
  200: Type.Object({
    deadLetters: Type.Integer(),
    replayed: Type.Integer(),
    items: Type.Array(tallyRowSchema, { description: 'in descending order of deadLetters' }),
    omitted: Type.Integer({ description: 'how many items `limit` left out; the sums include them' }),
  }),
};

const getDeadLetterAnswers = {
  200: Type.Object({
    items: Type.Array(
      Type.Object({
        ...letterFields,
        lastAnswer: Type.Optional(
          Type.Unknown({
            description:
              'the last answer of each URL, with as much of its body as had arrived; the attempts of the delivery have the rest',
          }),
        ),
        masked: Type.Boolean(),
        body: Type.Unknown(),
        text: Type.Optional(Type.String()),
      }),
      { description: 'oldest first' },
    ),
  }),
};

export function deadLetterRoutes(
  app: Api,
  { records, topic, history, exports, summaries }: DeadLetterNeeds,
): void {
  const route = routesOf(app, 'Dead letters', ['history-unavailable']);
  const list = async (
    query: Static<typeof listedPage>,
    { role, caller }: Pick<FastifyRequest, 'role' | 'caller'>,
  ) => {
    const filter = { ...filterOf(query), ...listedOf(caller, query) };
    const page = await historyPage(history, cursors, query, (queries, limit, after) =>
      queries.listDeadLetters(filter, limit, after),
    );
    return { ...page, items: page.items.map((row) => showFacts(row, role)) };
  };

  route.get('/dead-letters', {
    operationId: 'listDeadLetters',
    summary: 'List dead letters, newest first',
    description:
      'With several filters that rarely match together, a page may have fewer items than `limit`, or none, and `next`.',
    querystring: listedPage,
    response: { 200: pageOf(namedObject('DeadLetter', letterFields)) },
    handler: (request) => list(request.query, request),
  });

  exports.add(route, '/dead-letters.csv', {
    operationId: 'exportDeadLetters',
    summary: 'Export dead letters, newest first',
    querystring: listed,
    columns: exported,
    read: list,
  });

  route.get('/dead-letters/summary', {
    operationId: 'summariseDeadLetters',
    summary: 'Count dead letters by destination and reason',
    description:
      'With `event` or `userId`, or a token that is limited to sources, all matching dead letters are read, for up to ' +
      `${longestSummaryMs / 1_000} seconds. Otherwise \`since\` and \`until\` are rounded down to a minute.`,
    querystring: summariseDeadLettersQuery,
    response: summariseDeadLettersAnswers,
    errors: ['took-too-long'],
    handler: async ({ query, caller }, reply) => {
      const filter = { ...filterOf(query), ...listedOf(caller, query) };
      const count = (mayGoOn?: () => boolean) => countLetters(history, filter, mayGoOn);
      const rows = readsLetters(filter) ? await summaries.read(reply, count) : ((await count()) ?? []);
      const sum = (of: (row: CountRow) => number): number => rows.reduce((total, row) => total + of(row), 0);
      return {
        deadLetters: sum(({ deadLetters }) => deadLetters),
        replayed: sum(({ replayed }) => replayed),
        items: showRows(rows.slice(0, query.limit)),
        omitted: Math.max(0, rows.length - (query.limit ?? rows.length)),
      };
    },
  });

  route.get('/dead-letters/:ref', {
    operationId: 'getDeadLetter',
    summary: 'Get a dead letter, or the dead letters of a delivery',
    description: `For a read-only token all values of the body but version, type and event are masked. Of a delivery, the newest ${maxShown} are shown. The audit log has each read.`,
    params: Type.Object({ ref: Type.String({ description: 'a `ref`, or the id of a delivery' }) }),
    response: getDeadLetterAnswers,
    handler: async (request) => {
      const { params, role, caller } = request;
      const { ref } = params;
      const at = /^(\d{1,9})-(\d{1,15})$/.exec(ref);
      const known = history.read((queries) =>
        at
          ? [queries.deadLetterAt({ partition: Number(at[1]), offset: Number(at[2]) }) ?? []].flat()
          : queries.deadLettersOf(ref).slice(-maxShown),
      );
      const letters: DeadLetter[] = [];
      for (const { partition, offset, replayed } of known) {
        const record = await records.at(caller, { topic, partition, offset });
        if (!record) continue;
        const letter = readDeadLetter(record, replayed);
        if (reachesDelivery(caller, letter.summary)) letters.push(letter);
      }
      if (letters.length === 0) {
        throw new TailraceError('not-found', `There is no dead letter for ${JSON.stringify(ref)}.`);
      }
      audit(request, 'dead-letter.read-body', `dead-letter/${ref}`);
      return { items: letters.map((letter) => showLetter(letter, role)) };
    },
  });
}

function showFacts(
  { partition, offset, diedAt, userKey, ...facts }: DeadLetterSummary,
  role: Role | undefined,
) {
  return {
    ref: `${partition}-${offset}`,
    diedAt: formatInstant(diedAt),
    ...facts,
    ...(userKey !== undefined && { userKey: showUser(userKey, role) }),
  };
}

function showLetter({ summary, record }: DeadLetter, role: Role | undefined) {
  const lastAnswer = lastAnswersOf(record);
  return {
    ...showFacts(summary, role),
    ...(lastAnswer !== undefined && {
      lastAnswer:
        typeof lastAnswer === 'string'
          ? showFailure(lastAnswer, summary.reason, role)
          : showUrls(lastAnswer, role),
    }),
    ...showBody(record.value, role, record.headers[transformVersionHeader] !== undefined),
  };
}

export function showRows(rows: readonly CountRow[]) {
  return rows.map(({ oldestAt, newestAt, ...row }) => ({
    ...row,
    replayable: !hasNoBody(row),
    oldestAt: formatInstant(oldestAt),
    newestAt: formatInstant(newestAt),
  }));
}
