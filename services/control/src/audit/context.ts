/**
 * The request that a change belongs to. A change reaches the configuration editor through handlers of all areas; here it
 * finds its request, so that no handler can forget the audit log or the limits of a token.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyRequest } from 'fastify';

const requests = new AsyncLocalStorage<FastifyRequest>();

export function withinRequest(request: FastifyRequest, work: () => void): void {
  requests.run(request, work);
}

/** Undefined for a change that control makes by itself. */
export function currentRequest(): FastifyRequest | undefined {
  return requests.getStore();
}
