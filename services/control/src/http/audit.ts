/**
 * The audit log: one line for each request that can change something, refused requests included. A handler names the
 * action and its target; the line is written when the answer has been sent.
 */
import type { Log } from '@tailrace/service';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface AuditEntry {
  /** For example `source.update`. */
  readonly action: string;
  /** For example `source/web`. */
  readonly target: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    audited: AuditEntry | undefined;
    /** The code of the error that was answered. */
    errorCode: string | undefined;
  }
}

/** Sets what the request's line in the audit log says. */
export function audit(request: FastifyRequest, action: string, target: string): void {
  request.audited = { action, target };
}

export function writeAudit(log: Log, request: FastifyRequest, reply: FastifyReply): void {
  if (request.method === 'GET' || request.method === 'HEAD' || request.method === 'OPTIONS') return;
  const { role, tokenFingerprint, audited, errorCode } = request;
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
      code: errorCode,
    },
    'audit',
  );
}
