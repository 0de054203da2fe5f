/** Commands that delete and suppress users. */
import type { Schema } from '@tailrace/api';
import { pathOf } from '../api/path.ts';
import { done, showValue, type Columns } from '../api/show.ts';
import { UsageError } from '../command.ts';
import { apiCommand, flag, listCommand, repeatable, text, type Declared } from '../declare.ts';
import { countOf, formatCount } from '../terminal/table.ts';
import { deletionLines, requestDeletion, type Deletion } from './deletions.ts';

const deletionColumns: Columns<Schema['DeletionSummary']> = {
  CREATED: ({ createdAt }) => createdAt,
  REQUEST: ({ id }) => id,
  USERS: ({ users }) => formatCount(users),
  STATE: ({ state, liftedAt }) => (liftedAt === undefined ? state : 'lifted'),
};

const suppressionColumns: Columns<Schema['GetSuppressionAnswer']> = {
  SINCE: ({ since }) => since,
  USER: ({ userId }) => userId,
};

const users = { '<users...>': 'the ids of the users, at most 1,000' };
const maxUsers = 1_000;

export const userCommands: readonly Declared[] = [
  apiCommand({
    words: 'user delete',
    summary: 'ask the receivers to delete users',
    description:
      'Ask the receivers to delete users: send a delete notification for each user to each enabled destination of ' +
      'the sources. Calls of the users accepted before are not sent any more, and they leave the audiences. ' +
      'Asks for confirmation on a terminal.\n\n' +
      'With --wait it ends when every notification is delivered or refused, and exits with 1 if one was ' +
      'refused. Ctrl-C ends only the wait, with 130; the deletion continues.\n\n' +
      'Running it again with the same --request repeats nothing.',
    arguments: {
      '<users...>': 'the ids of the users, at most 1,000; put -- before an id that begins with a dash',
    },
    options: {
      source: repeatable('<id>', 'only this source'),
      request: text('<id>', 'the id of the request (default: generated)'),
      wait: flag('wait until it is done'),
    },
    examples: ['user delete ada', 'user delete ada grace --source web --wait', 'user delete -- -42'],
    confirm: {
      question({ users, source }) {
        const ids = distinct(users);
        const who = ids.length === 1 ? `the user ${ids[0] ?? ''}` : countOf(ids.length, 'user');
        return `Delete ${who} of ${source?.join(', ') ?? 'all sources'}?`;
      },
      refused: { text: ['Nothing was deleted.'], json: { requested: false } },
    },
    request: ({ users, source: sources, request: requestId = crypto.randomUUID(), wait }, context) =>
      requestDeletion({ requestId, userIds: distinct(users), ...(sources && { sources }) }, wait, context),
  }),
  apiCommand({
    words: 'user undelete',
    summary: 'lift a deletion',
    description:
      'Lift a deletion: what the users did before it may be sent again, for example by a replay. Nothing is brought ' +
      'back by this alone.',
    arguments: { '<request>': 'the id of the request, as in "get deletions"' },
    examples: ['user undelete gdpr-17'],
    async request({ request }, { api }) {
      const deletion = await api.send<Deletion>('POST', pathOf('deletions', request, 'lift'));
      return done(`Lifted the deletion of ${countOf(deletion.users, 'user')}.`, deletion);
    },
  }),
  apiCommand({
    words: 'user suppress',
    summary: 'send no later calls of users',
    description:
      'Send no later calls of the users to any destination, until "user unsuppress". Calls that were accepted before ' +
      'are sent; to stop them too, use "user delete".',
    arguments: users,
    examples: ['user suppress ada grace'],
    async request({ users }, { api }) {
      const body = { userIds: distinct(users) };
      const answer = await api.send<Schema['CreateSuppressionsAnswer']>('POST', pathOf('suppressions'), body);
      const before = answer.users - answer.added;
      const known = before === 0 ? '' : ` ${formatCount(before)} of them already before.`;
      return done(`Suppressed ${countOf(answer.users, 'user')}.${known}`, answer);
    },
  }),
  apiCommand({
    words: 'user unsuppress',
    summary: 'send later calls of suppressed users again',
    description: 'Send later calls of suppressed users again. Those that were refused are not sent.',
    arguments: users,
    examples: ['user unsuppress ada'],
    async request({ users }, { api }) {
      const paths = distinct(users).map((userId) => pathOf('suppressions', userId));
      for (const path of paths) await api.send('DELETE', path);
      return done(`Lifted the suppression of ${countOf(paths.length, 'user')}.`, { lifted: paths.length });
    },
  }),
  listCommand({
    words: 'get suppressions',
    summary: 'list the suppressed users',
    description: 'List the suppressed users, whose calls are not sent.',
    examples: ['get suppressions --limit 200'],
    path: 'suppressions',
    noun: 'suppressed user',
    columns: suppressionColumns,
  }),
  apiCommand({
    words: 'get suppression',
    summary: 'show since when a user is suppressed',
    description: 'Show since when a user is suppressed. Exits with 1 if the user is not.',
    arguments: { '<user>': 'the id of the user' },
    examples: ['get suppression ada'],
    request: async ({ user }, { api }) => showValue(await api.get(pathOf('suppressions', user))),
  }),
  listCommand({
    words: 'get deletions',
    summary: 'list the requests to delete users',
    examples: ['get deletions'],
    path: 'deletions',
    noun: 'request',
    columns: deletionColumns,
  }),
  apiCommand({
    words: 'get deletion',
    summary: 'show the progress of a request to delete users',
    arguments: { '<id>': 'the id of the request' },
    examples: ['get deletion 5f0c6a8e-1d9b-4a0c-8f3e-2b7d9c1e4a60'],
    async request({ id }, { api }) {
      const deletion = await api.get<Deletion>(pathOf('deletions', id));
      return { text: deletionLines(deletion), json: deletion };
    },
  }),
];

/** @throws UsageError where there are too many for one request */
function distinct(users: readonly string[]): readonly string[] {
  const userIds = [...new Set(users)];
  if (userIds.length <= maxUsers) return userIds;
  throw new UsageError(
    `a request has at most ${formatCount(maxUsers)} users, not ${formatCount(userIds.length)}`,
  );
}
