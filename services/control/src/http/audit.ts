/** The action and the target of a request in the audit log, which `audit/` writes. */
import type { FastifyRequest } from 'fastify';

interface AuditEntry {
  /** For example `source.update`. */
  readonly action: string;
  /** For example `source/web`. */
  readonly target: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The address of the client, where it is known. */
    readonly clientAddress: string | undefined;
    audited: AuditEntry | undefined;
    /** Whether the change was written together with its entry. */
    isAudited: boolean;
    /** The code of the error that was answered. */
    errorCode: string | undefined;
  }
}

/** Sets the action and the target of a request, for the audit log. */
export function audit(request: FastifyRequest, action: string, target: string): void {
  request.audited = { action, target };
}
