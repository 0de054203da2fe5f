/** Who asks: bearer tokens (RFC 6750), compared in a time that does not depend on how much of one is right. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { TailraceError } from '@tailrace/errors';
import type { FastifyRequest } from 'fastify';

/** `admin` may do everything; `read` may only look, and sees bodies with their values masked. */
export type Role = 'admin' | 'read';

declare module 'fastify' {
  interface FastifyRequest {
    role: Role | undefined;
    /** The first digits of the token's SHA-256, which tell tokens apart in the log. */
    tokenFingerprint: string | undefined;
  }
}

export interface Access {
  readonly admin: readonly string[];
  readonly read: readonly string[];
}

interface KnownToken {
  readonly role: Role;
  readonly digest: Buffer;
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/**
 * A check that sets who asks.
 *
 * @throws TailraceError `unauthorized`; `forbidden` where a token for reading would change something
 */
export function createAuthentication({ admin, read }: Access): (request: FastifyRequest) => void {
  const known: KnownToken[] = [
    ...admin.map((token) => ({ role: 'admin' as const, digest: digestOf(token) })),
    ...read.map((token) => ({ role: 'read' as const, digest: digestOf(token) })),
  ];
  return (request) => {
    const [, token] = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
    if (token === undefined) throw new TailraceError('unauthorized');
    const digest = digestOf(token);
    // Digests are of one length, and all of them are compared: neither tells anything about a token.
    const [found] = known.filter((one) => timingSafeEqual(one.digest, digest));
    if (!found) throw new TailraceError('unauthorized');
    request.role = found.role;
    request.tokenFingerprint = digest.toString('hex').slice(0, 8);
    if (found.role === 'read' && !isReading(request.method)) throw new TailraceError('forbidden');
  };
}

function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}
