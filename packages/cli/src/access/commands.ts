/** Commands for tokens of the API, and for the audit log. */
import type { Schema } from '@tailrace/api';
import type { Api } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { done, type Columns } from '../api/show.ts';
import {
  apiCommand,
  choice,
  listCommand,
  period,
  repeatable,
  required,
  text,
  withDefault,
  type Declared,
} from '../declare.ts';
import { UsageError } from '../command.ts';

const tokenColumns: Columns<Schema['Token']> = {
  ID: ({ id }) => id,
  NAME: ({ name }) => name,
  SCOPE: ({ scope }) => scope,
  REACHES: ({ sources, destinations }) =>
    sources || destinations ? [...(sources ?? []), ...(destinations ?? [])].join(', ') : 'all',
  CREATED: ({ createdAt }) => createdAt,
  BY: ({ createdBy }) => createdBy,
  EXPIRES: ({ expiresAt, expired }) => (expired ? 'expired' : (expiresAt ?? 'never')),
};

const auditColumns: Columns<Schema['AuditEntry']> = {
  AT: ({ at }) => at,
  ACTOR: ({ actor }) => actor.name,
  ADDRESS: ({ address }) => address ?? '-',
  ACTION: ({ action }) => action,
  TARGET: ({ target }) => target ?? '-',
  OUTCOME: ({ outcome, code }) => (outcome === 'refused' ? (code ?? outcome) : outcome),
  CHANGED: ({ changes }) => changes.map(({ field }) => field).join(', ') || '-',
};

export const accessCommands: readonly Declared[] = [
  apiCommand({
    words: 'create token',
    summary: 'create a token of the API',
    description:
      'Create a token of the API, and show it. It is not stored and cannot be shown again.\n\n' +
      'read: sees configuration and history, with masks for write keys, header values, URL queries and the values of ' +
      'bodies. write: also changes sources, destinations, audiences and deliveries. admin: also manages tokens and keys.\n\n' +
      'With --source or --destination it reaches only these, and the deliveries that belong to them.',
    options: {
      name: required(text('<name>', 'a name, which the audit log shows')),
      scope: withDefault(choice('<scope>', 'what it allows', ['read', 'write', 'admin']), 'read'),
      source: repeatable('<id>', 'a source that it reaches'),
      destination: repeatable('<id>', 'a destination that it reaches'),
      expires: text('<time>', 'a duration from now (90d), or a time (2027-01-31); by default never'),
    },
    examples: [
      'create token --name dashboard --expires 90d',
      'create token --name crm-team --scope write --destination crm',
    ],
    async request({ name, scope, source: sources, destination: destinations, expires }, { api }) {
      const body = { name, scope, sources, destinations, ...(await expiryOf(expires)) };
      const created = await api.send<Schema['CreatedToken']>('POST', pathOf('tokens'), body);
      const until = created.expiresAt === undefined ? 'does not expire' : `expires at ${created.expiresAt}`;
      return done(
        [
          `The token ${created.name} (${created.id}) is created; it ${until}.`,
          'It is not shown again:',
          created.token,
        ],
        created,
      );
    },
  }),
  listCommand({
    words: 'get tokens',
    summary: 'list the tokens of the API',
    description:
      'List the tokens of the API, without those of TAILRACE_API_TOKEN and TAILRACE_API_READ_TOKEN.',
    examples: ['get tokens'],
    path: 'tokens',
    noun: 'token',
    columns: tokenColumns,
  }),
  apiCommand({
    words: 'revoke token',
    summary: 'revoke a token of the API',
    description:
      'Revoke a token of the API. All instances refuse it within two seconds, and streams that it opened end. Asks for ' +
      'confirmation on a terminal.',
    arguments: { '<token>': 'its id or its name' },
    examples: ['revoke token dashboard'],
    confirm: {
      question: ({ token }) => `Revoke the token ${token}?`,
      refused: { text: ['Nothing was revoked.'], json: { revoked: false } },
    },
    async request({ token }, { api }) {
      const id = await idOf(api, token);
      await api.send('DELETE', pathOf('tokens', id));
      return done(`The token ${token} is revoked.`, { revoked: true, id });
    },
  }),
  listCommand({
    words: 'get audit',
    summary: 'list who changed what',
    description:
      'List who changed what, newest first: changes, reads of bodies and refused requests of the last 90 days, over the API and by ' +
      'commands on Kafka. --output json has the values before and after.',
    options: {
      action: text('<action>', 'only this action, such as destination.update'),
      target: text('<target>', 'only this target, such as destination/crm'),
      actor: text('<name>', 'only this token, setting or user'),
      outcome: choice('<outcome>', 'only requests with this outcome', ['done', 'refused']),
      ...period('entries'),
    },
    examples: ['get audit --since 2h', 'get audit --target destination/crm --output json'],
    path: 'audit',
    noun: 'entry',
    columns: auditColumns,
  }),
];

/** The id of the token with this id or name; the given text where there is none, for the error of the service. */
async function idOf(api: Api, text: string): Promise<string> {
  const { items } = await api.list<Schema['Token']>(pathOf('tokens'), {}, Infinity);
  return items.find(({ id, name }) => id === text || name === text)?.id ?? text;
}

/** @throws UsageError */
async function expiryOf(text: string | undefined) {
  if (text === undefined) return {};
  const { formatInstant, parseDuration, parseInstant } = await import('@tailrace/events');
  if (parseDuration(text) !== undefined) return { expiresIn: text };
  const time = parseInstant(text);
  if (time !== undefined) return { expiresAt: formatInstant(time) };
  throw new UsageError(`--expires must be a duration (90d) or a time (2027-01-31), not ${text}`);
}
