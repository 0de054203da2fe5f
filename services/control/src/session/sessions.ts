/** The sessions of requests: each is in the cookie, as long as no sign-out has ended it. */
import type { FastifyInstance } from 'fastify';
import type { Sessions } from '../access/authenticate.ts';
import { readCookie, requireOwnPage } from './cookie.ts';
import type { EndedSessions } from './ended.ts';
import type { OpenedSession, SessionSeal } from './seal.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The session that the request belongs to; undefined for a bearer token. */
    session: OpenedSession | undefined;
  }
}

/** Adds the sessions to the requests of the server. */
export function createSessions(
  app: FastifyInstance,
  seal: Pick<SessionSeal, 'open'>,
  ended: Pick<EndedSessions, 'has'>,
): Sessions {
  app.decorateRequest('session', undefined);
  return {
    find(request) {
      const session = seal.open(readCookie(request) ?? '');
      if (!session || ended.has(session)) return undefined;
      request.session = session;
      return { ...session, isOpen: () => session.expiresAt > Date.now() && !ended.has(session) };
    },
    requireOwnPage,
  };
}
