/** `tailrace create token`, `get tokens` and `revoke token`. */
import type { Schema } from '@tailrace/api';
import type { TokenScope } from '@tailrace/config';
import { formatInstant, parseInstant, parseDuration } from '@tailrace/events';
import { openApi, pathOf, type Api } from '../api/client.ts';
import { showPage, type Columns } from '../api/show.ts';
import { exitCodes, UsageError, type Run } from '../command.ts';
import { printable } from '../terminal/table.ts';

interface Wanted {
  readonly name: string;
  readonly scope: TokenScope;
  readonly source?: readonly string[];
  readonly destination?: readonly string[];
  readonly expires?: string;
}

const columns: Columns<Schema['Token']> = {
  ID: ({ id }) => id,
  NAME: ({ name }) => name,
  SCOPE: ({ scope }) => scope,
  REACHES: ({ sources, destinations }) =>
    sources || destinations ? [...(sources ?? []), ...(destinations ?? [])].join(', ') : 'all',
  CREATED: ({ createdAt }) => createdAt,
  BY: ({ createdBy }) => createdBy,
  EXPIRES: ({ expiresAt, expired }) => (expired ? 'expired' : (expiresAt ?? 'never')),
};

export const createToken: Run<Wanted> = async (
  { name, scope, source: sources, destination: destinations, expires },
  context,
) => {
  const body = { name, scope, sources, destinations, ...expiryOf(expires) };
  const created = await openApi(context).send<Schema['CreatedToken']>('POST', pathOf('tokens'), body);
  const until = created.expiresAt === undefined ? 'does not expire' : `expires at ${created.expiresAt}`;
  return {
    text: [
      printable(`The token ${created.name} (${created.id}) is created; it ${until}.`),
      'It is not shown again:',
      created.token,
    ],
    json: created,
  };
};

export const listTokens: Run<{ readonly limit: number }> = async ({ limit }, context) =>
  showPage(await openApi(context).list<Schema['Token']>(pathOf('tokens'), {}, limit), 'token', columns);

export const revokeToken: Run<{ readonly token: string; readonly yes?: boolean }> = async (
  { token, yes },
  context,
) => {
  const api = openApi(context);
  const id = await idOf(api, token);
  if (!yes && !(await context.terminal.confirm(`Revoke the token ${printable(token)}?`))) {
    return { exitCode: exitCodes.failed, text: ['Nothing was revoked.'], json: { revoked: false } };
  }
  await api.send('DELETE', pathOf('tokens', id));
  return {
    text: [printable(`The token ${token} is revoked.`)],
    json: { revoked: true, id },
  };
};

/** The id of the token with this id or name; the given text where there is none, for the error of the service. */
async function idOf(api: Api, text: string): Promise<string> {
  const { items } = await api.list<Schema['Token']>(pathOf('tokens'), {}, Infinity);
  return items.find(({ id, name }) => id === text || name === text)?.id ?? text;
}

/** @throws UsageError */
function expiryOf(text: string | undefined) {
  if (text === undefined) return {};
  if (parseDuration(text) !== undefined) return { expiresIn: text };
  const time = parseInstant(text);
  if (time !== undefined) return { expiresAt: formatInstant(time) };
  throw new UsageError(`--expires must be a duration (90d) or a time (2027-01-31), not ${text}`);
}
