/** The routes that read dead letters. */
import {
  findDeadLetters,
  newestDeadLetters,
  countDeadLetters,
  type DeadLetter,
  type DeadLetterSummary,
  type DeadLetterCounts,
  type ListPosition,
} from '@tailrace/deadletters';
import { TailraceError } from '@tailrace/errors';
import { eventTypes, formatInstant } from '@tailrace/events';
import Type from 'typebox';
import type { Role } from '../http/auth.ts';
import { showBody } from '../http/body.ts';
import { periodOf, periodParameters } from '../http/moment.ts';
import { decodeCursor, encodeCursor, pageOf, pageParameters } from '../http/page.ts';
import type { Routes } from '../http/routes.ts';

/** Selects dead letters; to be spread into a query or a body. */
export const filterFields = {
  destination: Type.Optional(Type.String({ minLength: 1, description: 'the id of a destination' })),
  reason: Type.Optional(Type.String({ minLength: 1, description: 'a reason, such as client-error' })),
  type: Type.Optional(Type.Enum([...eventTypes], { description: `one of ${eventTypes.join(', ')}` })),
  ...periodParameters,
};

interface Filter {
  readonly destination?: string | undefined;
  readonly reason?: string | undefined;
  readonly type?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** @throws TailraceError `invalid-request` */
export function filterOf({ destination, reason, type, since, until }: Filter) {
  return { destinationId: destination, reason, type, ...periodOf({ since, until }) };
}

const letterFields = {
  ref: Type.String({ description: '`<partition>-<offset>` of the record' }),
  diedAt: Type.String({ format: 'date-time' }),
  reason: Type.Optional(Type.String()),
  replayed: Type.Boolean({
    description: 'whether it was replayed; a delivery that failed again has another dead letter',
  }),
  deliveryId: Type.Optional(Type.String()),
  eventId: Type.Optional(Type.String()),
  sourceId: Type.Optional(Type.String()),
  destinationId: Type.Optional(Type.String()),
  type: Type.Optional(Type.String()),
  attempts: Type.Integer(),
};

export const tallyRowSchema = Type.Object({
  destinationId: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()),
  deadLetters: Type.Integer(),
  replayed: Type.Integer({ description: 'how many were replayed' }),
  oldestAt: Type.String({ format: 'date-time' }),
  newestAt: Type.String({ format: 'date-time' }),
});

export const deadLetterRoutes: Routes = (app, { kafka, names }) => {
  const tags = ['Dead letters'];
  const description = 'Reads all dead letters; 100,000 take a few seconds.';

  app.get(
    '/dead-letters',
    {
      schema: {
        operationId: 'listDeadLetters',
        summary: 'List dead letters, newest first',
        description,
        tags,
        querystring: Type.Object({ ...filterFields, ...pageParameters }, { additionalProperties: false }),
        response: { 200: pageOf(Type.Object(letterFields)) },
      },
    },
    async ({ query }) => {
      const { limit = 50, cursor } = query;
      const after = cursor === undefined ? undefined : decodeCursor(cursor, isPosition);
      const filter = filterOf(query);
      const { letters } = await newestDeadLetters(kafka, names, { filter, limit: limit + 1, after });
      const page = letters.slice(0, limit);
      const last = page.at(-1);
      return {
        items: page.map(showFacts),
        ...(last && letters.length > limit && { next: positionOf(last) }),
      };
    },
  );

  app.get(
    '/dead-letters/summary',
    {
      schema: {
        operationId: 'summariseDeadLetters',
        summary: 'Count dead letters by destination and reason',
        description,
        tags,
        querystring: Type.Object(filterFields, { additionalProperties: false }),
        response: {
          200: Type.Object({
            deadLetters: Type.Integer(),
            replayed: Type.Integer(),
            items: Type.Array(tallyRowSchema, { description: 'in descending order of deadLetters' }),
          }),
        },
      },
    },
    async ({ query }) => {
      const tally = await countDeadLetters(kafka, names, { filter: filterOf(query) });
      return { deadLetters: tally.deadLetters, replayed: tally.replayed, items: showRows(tally) };
    },
  );

  app.get(
    '/dead-letters/:ref',
    {
      schema: {
        operationId: 'getDeadLetter',
        summary: 'Get a dead letter, or all dead letters of a delivery',
        description: `For a read-only token every value of the body is masked. ${description}`,
        tags,
        params: Type.Object({ ref: Type.String({ description: 'a `ref`, or the id of a delivery' }) }),
        response: {
          200: Type.Object({
            items: Type.Array(
              Type.Object({
                ...letterFields,
                userKey: Type.Optional(Type.String()),
                event: Type.Optional(Type.String()),
                lastAnswer: Type.Optional(Type.Unknown({ description: 'the last answer of each URL' })),
                masked: Type.Boolean(),
                body: Type.Unknown(),
                text: Type.Optional(Type.String()),
              }),
              { description: 'oldest first' },
            ),
          }),
        },
      },
    },
    async ({ params: { ref }, role }) => {
      const position = /^(\d{1,9})-(\d{1,15})$/.exec(ref);
      const letters = await findDeadLetters(
        kafka,
        names,
        position ? `${position[1] ?? ''}/${position[2] ?? ''}` : ref,
      );
      if (letters.length === 0) {
        throw new TailraceError('not-found', `There is no dead letter for ${JSON.stringify(ref)}.`);
      }
      return { items: letters.map((letter) => showLetter(letter, role)) };
    },
  );
};

function showFacts({ partition, offset, diedAt, ...facts }: DeadLetterSummary) {
  return { ref: `${partition}-${offset}`, diedAt: formatInstant(diedAt), ...facts };
}

function showLetter({ summary, record }: DeadLetter, role: Role | undefined) {
  const { 'last-answer': lastAnswer, 'event-name': event } = record.headers;
  const key = record.key?.toString();
  return {
    ...showFacts(summary),
    ...(key !== undefined && { userKey: key.slice((summary.destinationId?.length ?? -1) + 1) }),
    ...(event && { event: event.toString() }),
    ...(lastAnswer && { lastAnswer: parseAnswer(lastAnswer.toString()) }),
    ...showBody(record.value, role),
  };
}

/** The answers as JSON, or the sentence that says why a record is malformed. */
function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function showRows({ rows }: DeadLetterCounts) {
  return rows.map(({ oldestAt, newestAt, ...row }) => ({
    ...row,
    oldestAt: formatInstant(oldestAt),
    newestAt: formatInstant(newestAt),
  }));
}

function positionOf({ diedAt, partition, offset }: ListPosition): string {
  return encodeCursor({ diedAt, partition, offset });
}

function isPosition(value: unknown): value is ListPosition {
  const { diedAt, partition, offset } = (value ?? {}) as Partial<Record<string, unknown>>;
  return [diedAt, partition, offset].every(Number.isSafeInteger);
}
