/** Authentication with bearer tokens (RFC 6750), compared in constant time. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { TailraceError } from '@tailrace/errors';
import type { FastifyRequest } from 'fastify';

/** `admin` may call every route; `read` may call GET and HEAD, and sees masked values in bodies. */
export type Role = 'admin' | 'read';

declare module 'fastify' {
  interface FastifyRequest {
    role: Role | undefined;
    /** The first 8 hex digits of the token's SHA-256, which identify the token in the log. */
    tokenFingerprint: string | undefined;
  }
}

export interface Tokens {
  readonly admin: readonly string[];
  readonly read: readonly string[];
}

interface KnownToken {
  readonly role: Role;
  readonly digest: Buffer;
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/**
 * Returns a check that sets the role and the token's fingerprint of a request.
 *
 * @throws TailraceError (the check) `unauthorized`; `forbidden` where a `read` token is used to change something
 */
export function createAuthentication({ admin, read }: Tokens): (request: FastifyRequest) => void {
  const known: KnownToken[] = [
    ...admin.map((token) => ({ role: 'admin' as const, digest: digestOf(token) })),
    ...read.map((token) => ({ role: 'read' as const, digest: digestOf(token) })),
  ];
  return (request) => {
    const [, token] = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
    if (token === undefined) throw new TailraceError('unauthorized');
    const digest = digestOf(token);
    // All digests have the same length and all are compared, so the time taken reveals nothing about a token.
    const [found] = known.filter((one) => timingSafeEqual(one.digest, digest));
    if (!found) throw new TailraceError('unauthorized');
    request.role = found.role;
    request.tokenFingerprint = digest.toString('hex').slice(0, 8);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (found.role === 'read' && !isRead) throw new TailraceError('forbidden');
  };
}
