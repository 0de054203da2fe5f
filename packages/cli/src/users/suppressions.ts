/** Suppressed users: suppress, list, show, lift. */
import type { Schema } from '@tailrace/api';
import { openApi, pathOf } from '../api/client.ts';
import { showPage, showValue, type Columns } from '../api/show.ts';
import { UsageError, type Run } from '../command.ts';
import { countOf, formatCount } from '../terminal/table.ts';

export const maxUsers = 1_000;

/** @throws UsageError where there are too many for one request */
export function distinct(users: readonly string[]): readonly string[] {
  const userIds = [...new Set(users)];
  if (userIds.length <= maxUsers) return userIds;
  throw new UsageError(
    `a request has at most ${formatCount(maxUsers)} users, not ${formatCount(userIds.length)}`,
  );
}

export const suppressUsers: Run<{ readonly users: readonly string[] }> = async ({ users }, context) => {
  const userIds = distinct(users);
  const answer = await openApi(context).send<Schema['CreateSuppressionsAnswer']>(
    ...(['POST', pathOf('suppressions'), { userIds }] as const),
  );
  const before = answer.users - answer.added;
  const known = before === 0 ? '' : ` ${formatCount(before)} of them already before.`;
  const text = [`Suppressed ${countOf(answer.users, 'user')}.${known}`];
  return { text, json: answer };
};

export const unsuppressUsers: Run<{ readonly users: readonly string[] }> = async ({ users }, context) => {
  const api = openApi(context);
  const userIds = distinct(users);
  const paths = userIds.map((userId) => pathOf('suppressions', userId));
  for (const path of paths) await api.send('DELETE', path);
  const text = [`Lifted the suppression of ${countOf(userIds.length, 'user')}.`];
  return { text, json: { lifted: userIds.length } };
};

const columns: Columns<Schema['GetSuppressionAnswer']> = {
  SINCE: ({ since }) => since,
  USER: ({ userId }) => userId,
};

export const listSuppressions: Run<{ readonly limit: number }> = async ({ limit }, context) => {
  const page = await openApi(context).list<Schema['GetSuppressionAnswer']>(pathOf('suppressions'), {}, limit);
  return showPage(page, 'suppressed user', columns);
};

export const getSuppression: Run<{ readonly user: string }> = async ({ user }, context) =>
  showValue(await openApi(context).get<Schema['GetSuppressionAnswer']>(pathOf('suppressions', user)));
