/**
 * The audit log: one line for each request that would change something, refused ones too, with who asked, what for,
 * and how it ended. A route says what is changed; the line is written once the answer is on its way.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '@tailrace/service';

export interface AuditEntry {
  /** What is done, as `source.update`. */
  readonly action: string;
  /** What it is done to, as `source/web`. */
  readonly target: string;
}

export type Audit = (request: FastifyRequest, entry: AuditEntry) => void;

declare module 'fastify' {
  interface FastifyRequest {
    audited: AuditEntry | undefined;
    /** The code of the error that was answered. */
    failedWith: string | undefined;
  }
}

export const audit: Audit = (request, entry) => {
  request.audited = entry;
};

export function writeAudit(log: Log, request: FastifyRequest, reply: FastifyReply): void {
  if (request.method === 'GET' || request.method === 'HEAD' || request.method === 'OPTIONS') return;
  const { role, tokenFingerprint, audited, failedWith } = request;
  const { action, target } = audited ?? {
    action: `${request.method} ${request.routeOptions.url ?? 'unknown path'}`,
    target: undefined,
  };
  log.info(
    {
      audit: action,
      target,
      actor: role,
      tokenFingerprint,
      outcome: reply.statusCode < 400 ? 'done' : 'refused',
      status: reply.statusCode,
      code: failedWith,
    },
    'audit',
  );
}
