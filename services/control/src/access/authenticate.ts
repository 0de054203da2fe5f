/**
 * Authentication with bearer tokens (RFC 6750): those of the environment, and those that the configuration holds; or with the cookie
 * of a session, which stands for a token. Tokens are compared by their SHA-256 in constant time, so the time taken reveals nothing
 * about a token.
 */
import { timingSafeEqual } from 'node:crypto';
import type { ConfigView, TokenScope } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import type { FastifyRequest } from 'fastify';
import { digestOf, idOfToken } from './token.ts';

/** `read` sees masked values, `write` changes sources and destinations, `admin` may call every route. */
export type Role = TokenScope;

/** The owner of the token that a request has. */
export interface Caller {
  /** The name of a token, or of the setting that has it. */
  readonly name: string;
  /** The id of a token; undefined for one of the environment. */
  readonly tokenId: string | undefined;
  /** The first 8 hex digits of the token's SHA-256. */
  readonly fingerprint: string;
  readonly scope: Role;
  /** The sources and destinations that a limited token reaches. Both are undefined for a token that reaches all. */
  readonly sources: readonly string[] | undefined;
  readonly destinations: readonly string[] | undefined;
  /** Whether the token, and the session if there is one, is still valid: not revoked, ended or expired. For answers that last. */
  readonly isValid: () => boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined;
    role: Role | undefined;
    /** The first 8 hex digits of the token's SHA-256, which identify the token in the log. */
    tokenFingerprint: string | undefined;
    /** The header or the digest that showed who the caller is: a secret. */
    credential: string | undefined;
  }
}

/** A session that stands for a token. */
interface TokenSession {
  /** The SHA-256 of the token. */
  readonly digest: Buffer;
  /** The id in the token; undefined for a token of the settings. */
  readonly tokenId: string | undefined;
  /** Whether it has neither ended nor expired. */
  readonly isOpen: () => boolean;
}

export interface Sessions {
  /** The open session of the request. */
  find(request: FastifyRequest): TokenSession | undefined;
  /** @throws TailraceError `forbidden` for a change that another page sent with the cookie */
  requireOwnPage(request: FastifyRequest): void;
}

export interface Authentication {
  /** The tokens of the environment, by scope. */
  readonly tokens: { readonly admin: readonly string[]; readonly read: readonly string[] };
  readonly config: Pick<ConfigView, 'token'>;
  readonly sessions: Sessions;
}

/** The bearer token of a request. */
export function bearerOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
}

/**
 * Returns a function that sets the caller of a request.
 *
 * @throws TailraceError (the function) `unauthorized`, and `forbidden` for a change that another page sent with the cookie
 */
export function createAuthentication({
  tokens: { admin, read },
  config,
  sessions,
}: Authentication): (request: FastifyRequest) => void {
  const known = [
    ...admin.map((token) => ({ scope: 'admin' as const, name: 'TAILRACE_API_TOKEN', token })),
    ...read.map((token) => ({ scope: 'read' as const, name: 'TAILRACE_API_READ_TOKEN', token })),
  ].map(({ token, ...rest }) => ({ ...rest, digest: digestOf(token) }));

  const ofEnvironment = (digest: Buffer): Caller | undefined => {
    const [found] = known.filter((one) => timingSafeEqual(one.digest, digest));
    if (!found) return undefined;
    const { name, scope } = found;
    return { name, scope, ...unlimited, fingerprint: fingerprintOf(digest) };
  };

  const ofConfiguration = (id: string, digest: Buffer): Caller | undefined => {
    const isValid = (): boolean => {
      const token = config.token(id);
      if (!token || !timingSafeEqual(Buffer.from(token.hash, 'hex'), digest)) return false;
      return token.expiresAt === undefined || Date.parse(token.expiresAt) > Date.now();
    };
    const token = config.token(id);
    if (!token || !isValid()) return undefined;
    const { name, scope, sources, destinations } = token;
    return { name, scope, sources, destinations, tokenId: id, fingerprint: fingerprintOf(digest), isValid };
  };

  const setCaller = (request: FastifyRequest, digest: Buffer, id: string | undefined): Caller => {
    const found = ofEnvironment(digest) ?? (id === undefined ? undefined : ofConfiguration(id, digest));
    // The fingerprint of a wrong token is set too: the log shows whether one client repeats the same.
    request.tokenFingerprint = fingerprintOf(digest);
    if (!found) throw new TailraceError('unauthorized');
    request.caller = found;
    request.role = found.scope;
    return found;
  };

  return (request) => {
    const { authorization } = request.headers;
    if (authorization !== undefined) {
      const token = bearerOf(request);
      if (token === undefined) throw new TailraceError('unauthorized');
      request.credential = authorization;
      setCaller(request, digestOf(token), idOfToken(token));
      return;
    }
    const session = sessions.find(request);
    if (!session) throw new TailraceError('unauthorized');
    const { digest, tokenId, isOpen } = session;
    request.credential = digest.toString('hex');
    const caller = setCaller(request, digest, tokenId);
    request.caller = { ...caller, isValid: () => caller.isValid() && isOpen() };
    sessions.requireOwnPage(request);
  };
}

const unlimited = {
  tokenId: undefined,
  sources: undefined,
  destinations: undefined,
  isValid: () => true,
};

function fingerprintOf(digest: Buffer): string {
  return digest.toString('hex').slice(0, 8);
}
