/** The routes of a session: sign in with a token, see its scope, sign out. */
import { tokenChoices, type ConfigView } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { formatInstant } from '@tailrace/events';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { digestOf, idOfToken } from '../access/token.ts';
import { audit } from '../http/audit.ts';
import { bearerOf, type Caller } from '../access/authenticate.ts';
import { namedObject, optionalText, time } from '../http/schemas.ts';
import { routesOf, type Api } from '../http/api.ts';
import { writeCookie } from './cookie.ts';
import type { EndedSessions } from './ended.ts';
import type { SessionSeal } from './seal.ts';

/** A working day. */
const maxAgeMs = 12 * 3_600_000;

const shownSchema = namedObject('Session', {
  name: Type.String({ description: 'the name of the token' }),
  scope: tokenChoices.scope,
  sources: Type.Optional(Type.Array(Type.String(), { description: 'the sources that it reaches' })),
  destinations: Type.Optional(Type.Array(Type.String(), { description: 'the destinations that it reaches' })),
  expiresAt: Type.Optional(time('the end of the session, or of the token if it is earlier')),
  ingestUrl: optionalText('where applications reach ingest, as far as the settings say it'),
  ingestPort: Type.Integer({
    description: 'port of ingest, on the host of the console unless `ingestUrl` is set',
  }),
});

export interface SessionNeeds {
  readonly config: Pick<ConfigView, 'token'>;
  readonly seal: Pick<SessionSeal, 'seal'>;
  readonly ended: Pick<EndedSessions, 'end'>;
  readonly ingestUrl: string | undefined;
  readonly ingestPort: number;
}

export function sessionRoutes(app: Api, { config, seal, ended, ingestUrl, ingestPort }: SessionNeeds): void {
  const route = routesOf(app, 'Session');
  const endOfToken = ({ tokenId }: Caller): number | undefined => {
    const { expiresAt } = (tokenId === undefined ? undefined : config.token(tokenId)) ?? {};
    return expiresAt === undefined ? undefined : Date.parse(expiresAt);
  };
  const show = (caller: Caller, end: number | undefined) => {
    const ends = [end, endOfToken(caller)].filter((one) => one !== undefined);
    return {
      name: caller.name,
      scope: caller.scope,
      ...(caller.sources && { sources: caller.sources }),
      ...(caller.destinations && { destinations: caller.destinations }),
      ...(ends.length > 0 && { expiresAt: formatInstant(Math.min(...ends)) }),
      ...(ingestUrl !== undefined && { ingestUrl }),
      ingestPort,
    };
  };

  route.post('/session', {
    operationId: 'createSession',
    summary: 'Sign in',
    description:
      'For the console. The request has the token as every other one. The answer sets an HttpOnly cookie that stands for it, ' +
      'for 12 hours at most. Requests with the cookie that change something also need the header `X-Tailrace-Console`.',
    response: { 201: { ...shownSchema, headers: { 'Set-Cookie': { type: 'string' } } } },
    handler: async (request, reply) => {
      const token = bearerOf(request);
      const caller = callerOf(request);
      audit(request, 'session.create', `token/${caller.tokenId ?? caller.name}`);
      // A session that could prolong itself would never end.
      if (token === undefined) throw new TailraceError('unauthorized', 'Sign in with a token.');
      const expiresAt = Date.now() + maxAgeMs;
      const tokenId = idOfToken(token);
      const sealed = seal.seal({ digest: digestOf(token), tokenId, expiresAt });
      reply.header('set-cookie', writeCookie(request, sealed, maxAgeMs / 1_000));
      return reply.status(201).send(show(caller, expiresAt));
    },
  });

  route.get('/session', {
    operationId: 'getSession',
    summary: 'Get the scope of the token',
    description: 'Of a session or of a token.',
    response: { 200: shownSchema },
    handler: (request) => show(callerOf(request), request.session?.expiresAt),
  });

  route.delete('/session', {
    operationId: 'deleteSession',
    summary: 'Sign out',
    description:
      'Ends the session of the cookie, in all instances, and removes the cookie. Streams that it opened end. To end all sessions of a ' +
      'token, revoke the token.',
    response: { 204: { type: 'null', description: 'signed out' } },
    handler: async (request, reply) => {
      const { tokenId, name, fingerprint } = callerOf(request);
      audit(request, 'session.delete', `token/${tokenId ?? name}`);
      if (request.session) await ended.end(request.session, tokenId ?? fingerprint);
      reply.header('set-cookie', writeCookie(request, '', 0));
      return reply.status(204).send();
    },
  });
}

/** Set by authentication. @throws TailraceError `unauthorized` */
function callerOf({ caller }: FastifyRequest): Caller {
  if (!caller) throw new TailraceError('unauthorized');
  return caller;
}
