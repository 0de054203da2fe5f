/** The routes of tokens: create, list, read, revoke. The text of a token is shown once, when it is created. */
import {
  maxTokens,
  tokenChoices,
  type ConfigEditor,
  type ConfigSnapshot,
  type Token,
} from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { formatInstant, parseInstant, parseDuration } from '@tailrace/events';
import Type from 'typebox';
import { audit } from '../http/audit.ts';
import { entryNotFound, invalidField } from '../http/errors.ts';
import { namedObject, time } from '../http/schemas.ts';
import { pageInOrder, pageOf, pageQuery } from '../http/page.ts';
import { routesOf, type Api } from '../http/api.ts';
import { newToken } from './token.ts';

/** Expired tokens stay in the list for this time, so that it shows why one stopped working. */
const keptExpiredMs = 30 * 86_400_000;

const shownFields = {
  id: Type.String(),
  name: Type.String(),
  scope: tokenChoices.scope,
  sources: Type.Optional(Type.Array(Type.String(), { description: 'the sources that it reaches' })),
  destinations: Type.Optional(Type.Array(Type.String(), { description: 'the destinations that it reaches' })),
  createdAt: time(),
  createdBy: Type.String({ description: 'the name of the token that created it' }),
  expiresAt: Type.Optional(time()),
  expired: Type.Boolean(),
};
const shownSchema = namedObject('Token', shownFields);
const wantedSchema = Type.Object(
  {
    ...tokenChoices,
    expiresAt: Type.Optional(Type.String({ maxLength: 40, description: 'a time in ISO 8601' })),
    expiresIn: Type.Optional(Type.String({ maxLength: 20, description: 'a duration such as 90d' })),
  },
  {
    additionalProperties: false,
    title: 'TokenInput',
    description: 'a token: an object with name and scope',
    examples: [{ name: 'crm-team', scope: 'write', destinations: ['crm'], expiresIn: '90d' }],
  },
);

const createTokenAnswers = {
  201: {
    ...namedObject('CreatedToken', {
      ...shownFields,
      token: Type.String({ description: 'the bearer token, shown once' }),
    }),
    headers: { Location: { type: 'string' } },
  },
};

export function tokenRoutes(app: Api, config: ConfigEditor): void {
  const route = routesOf(app, 'Tokens');
  route.post('/tokens', {
    operationId: 'createToken',
    summary: 'Create a token',
    description:
      'The answer has the token, which is not stored and cannot be shown again. With `sources` or `destinations` it ' +
      'reaches only these, and the deliveries that belong to them. Without `expiresAt` and `expiresIn` it does not expire.',
    body: wantedSchema,
    response: createTokenAnswers,
    errors: ['conflict'],
    handler: async (request, reply) => {
      const { expiresAt, expiresIn, ...wanted } = request.body;
      const { id, text, hash } = newToken();
      audit(request, 'token.create', `token/${id}`);
      const now = Date.now();
      const expiry = expiryOf(expiresAt, expiresIn, now);
      const entry: Token = {
        id,
        ...wanted,
        hash,
        createdAt: formatInstant(now),
        createdBy: request.caller?.name ?? '',
        ...(expiry !== undefined && { expiresAt: formatInstant(expiry) }),
      };
      await config.change((current) => {
        checkNew(entry, current);
        const forgotten = current
          .tokens()
          .filter((token) => token.expiresAt && Date.parse(token.expiresAt) < now - keptExpiredMs)
          .map((token) => ({ kind: 'token' as const, id: token.id, entry: null }));
        return { writes: [...forgotten, { kind: 'token', id, entry }], result: undefined };
      });
      reply.header('location', `/v1/tokens/${id}`);
      return reply.status(201).send({ ...show(entry), token: text });
    },
  });

  route.get('/tokens', {
    operationId: 'listTokens',
    summary: 'List the tokens by id',
    description: 'Without those of TAILRACE_API_TOKEN and TAILRACE_API_READ_TOKEN, which are settings.',
    querystring: pageQuery,
    response: { 200: pageOf(shownSchema) },
    handler: ({ query }) => {
      const { items, ...rest } = pageInOrder('tokens', config.tokens(), query, ({ id }) => id);
      return { items: items.map(show), ...rest };
    },
  });

  route.get('/tokens/:id', {
    operationId: 'getToken',
    summary: 'Get a token',
    response: { 200: shownSchema },
    handler: ({ params: { id } }) => show(load(config, id)),
  });

  route.delete('/tokens/:id', {
    operationId: 'revokeToken',
    summary: 'Revoke a token',
    description: 'In effect in all instances within two seconds. Streams that it opened end.',
    response: { 204: { type: 'null', description: 'revoked' } },
    handler: async (request, reply) => {
      const { id } = request.params;
      audit(request, 'token.revoke', `token/${id}`);
      await config.change((current) => {
        load(current, id);
        return { writes: [{ kind: 'token', id, entry: null }], result: undefined };
      });
      return reply.status(204).send();
    },
  });
}

/** @throws TailraceError `not-found` */
function load(current: Pick<ConfigSnapshot, 'token'>, id: string): Token {
  const found = current.token(id);
  if (found) return found;
  throw entryNotFound('token', id.slice(0, 64));
}

/** @throws TailraceError `invalid-request`, `conflict` */
function checkNew(token: Token, current: ConfigSnapshot): void {
  const isLimited = token.sources !== undefined || token.destinations !== undefined;
  if (token.scope === 'admin' && isLimited) {
    throw invalidField('scope', 'cannot be admin for a token that is limited to sources or destinations');
  }
  const noSource = token.sources?.findIndex((id) => !current.source(id)) ?? -1;
  if (noSource >= 0) throw invalidField(`sources[${noSource}]`, 'is not the id of a source');
  const noDestination = token.destinations?.findIndex((id) => !current.destination(id)) ?? -1;
  if (noDestination >= 0)
    throw invalidField(`destinations[${noDestination}]`, 'is not the id of a destination');
  const others = current.tokens();
  if (others.some(({ name }) => name === token.name)) {
    throw new TailraceError(
      'conflict',
      `There is already a token ${JSON.stringify(token.name)}. Use another name.`,
    );
  }
  if (others.length >= maxTokens) {
    throw new TailraceError('conflict', `There are ${maxTokens} tokens, the maximum. Revoke one first.`);
  }
}

/** Milliseconds since the epoch. */
function expiryOf(at: string | undefined, after: string | undefined, now: number): number | undefined {
  if (at !== undefined && after !== undefined)
    throw invalidField('expiresIn', 'cannot be combined with expiresAt');
  if (after !== undefined) {
    const ms = parseDuration(after);
    if (ms === undefined || ms <= 0 || ms > mostMs)
      throw invalidField('expiresIn', 'is not a duration such as 90d');
    return now + ms;
  }
  if (at === undefined) return undefined;
  const time = parseInstant(at);
  if (time === undefined) throw invalidField('expiresAt', 'is not a time in ISO 8601');
  if (time <= now || time > now + mostMs)
    throw invalidField('expiresAt', 'is not a time within the next 100 years');
  return time;
}

const mostMs = 100 * 365 * 86_400_000;

function show({ id, name, scope, sources, destinations, createdAt, createdBy, expiresAt }: Token) {
  const expired = expiresAt !== undefined && Date.parse(expiresAt) <= Date.now();
  return { id, name, scope, sources, destinations, createdAt, createdBy, expiresAt, expired };
}
