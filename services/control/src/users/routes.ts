/** The routes of what topics have of one user. Deliveries, filtered events and deletion requests of a user are filters of their lists. */
import { formatInstant } from '@tailrace/events';
import type { ConfigView } from '@tailrace/config';
import type { Kafka } from '@tailrace/kafka';
import type { DeletedUsers } from '@tailrace/suppressions';
import type { TopicNames } from '@tailrace/topology';
import Type from 'typebox';
import type { Places } from '../access/places.ts';
import type { Audiences } from '../audiences/index.ts';
import { cursorsOf, pageOf, pageQuery } from '../http/page.ts';
import { routesOf, type Api } from '../http/api.ts';
import { namedObject, optionalText, time } from '../http/schemas.ts';
import { mostRead } from '../records/backward.ts';
import { searchDeadline, searchTimeoutMs } from '../records/deadline.ts';
import { readUserAudiences } from './audiences.ts';
import { readUserCalls, type UserCall } from './calls.ts';

const params = Type.Object({ userId: Type.String({ description: 'the id of the user' }) });
const cursors = cursorsOf('calls of a user', 'number');

const callPage = pageOf(
  namedObject('UserCall', {
    receivedAt: time('when Kafka stored it'),
    sourceId: Type.Optional(Type.String()),
    type: optionalText('the type of the call'),
    event: optionalText("the name of a track call's event"),
    eventId: optionalText('the messageId of the call'),
  }),
);
const listUserCallsAnswers = {
  200: Type.Object({
    ...callPage.properties,
    searchedSince: Type.Optional(
      time('the calls since this time were searched; absent where there are none'),
    ),
  }),
};
const listUserAudiencesAnswers = {
  200: Type.Object({
    items: Type.Array(namedObject('UserAudience', { sourceId: Type.String(), name: Type.String() })),
    complete: Type.Boolean({ description: 'false if the search timed out' }),
  }),
};

export interface UserNeeds {
  readonly kafka: Kafka;
  readonly names: TopicNames;
  readonly config: ConfigView;
  readonly audiences: Audiences;
  readonly users: Pick<DeletedUsers, 'deletedUntil'>;
  readonly searches: Places;
  /** Ends running searches. */
  readonly signal: AbortSignal;
}

export function userRoutes(app: Api, needs: UserNeeds): void {
  const { kafka, names, config, audiences, users, searches, signal } = needs;
  const route = routesOf(app, 'Users');
  route.get('/users/:userId/calls', {
    operationId: 'listUserCalls',
    summary: 'List the past calls of a user, newest first',
    description:
      `From the topic events, while it keeps them. A request reads up to ${mostRead.toLocaleString('en')} records, for up to ` +
      `${searchTimeoutMs / 1_000} seconds, so a page may have fewer calls than \`limit\`, or none, and a \`next\`; ` +
      ' `searchedSince` says how far it is. A call is found in the partition of its user: not one that a producer ' +
      'wrote with another key, or that is older than a change of the number of partitions.',
    params,
    querystring: pageQuery,
    response: listUserCallsAnswers,
    handler: async ({ params: { userId }, query: { limit = 50, cursor }, caller }, reply) => {
      const [before] = cursors.decode(cursor) ?? [];
      using _place = searches.take(caller);
      const page = await readUserCalls(kafka, names.events, {
        userId,
        config,
        limit,
        before,
        signal: searchDeadline(signal, reply),
      });
      return {
        items: page.found.map(show),
        ...(page.before !== undefined && { next: cursors.encode([page.before]) }),
        ...(page.oldest !== undefined && { searchedSince: formatInstant(page.oldest) }),
      };
    },
  });

  route.get('/users/:userId/audiences', {
    operationId: 'listUserAudiences',
    summary: 'List the audiences of a user',
    description: `Reads the memberships of all users, for up to ${searchTimeoutMs / 1_000} seconds.`,
    params,
    response: listUserAudiencesAnswers,
    handler: async ({ params: { userId }, caller }, reply) => {
      const all = config.sources().flatMap(({ id }) => audiences.list(id));
      using _place = searches.take(caller);
      const found = await readUserAudiences(kafka, names.audiences, {
        userId,
        all,
        users,
        signal: searchDeadline(signal, reply),
      });
      return {
        items: found.audiences.map(({ sourceId, name }) => ({ sourceId, name })),
        complete: found.isComplete,
      };
    },
  });
}

function show({ at, sourceId, type, event, eventId }: UserCall) {
  return { receivedAt: formatInstant(at), sourceId, type, event, eventId };
}
