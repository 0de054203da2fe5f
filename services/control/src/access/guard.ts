/** Checks each request of the API before its handler: who sends it, how often, and whether the token may. */
import type { FastifyInstance } from 'fastify';
import { createAuthentication, type Authentication } from './authenticate.ts';
import { authorize } from './authorize.ts';
import { createRateLimit } from './rate-limit.ts';

export interface Guard extends Authentication {
  /** Of one token, and of an address with wrong tokens. */
  readonly requestsPerSecond: number;
}

export function guardRequests(app: FastifyInstance, { requestsPerSecond, ...authentication }: Guard): void {
  app.decorateRequest('caller', undefined);
  app.decorateRequest('role', undefined);
  app.decorateRequest('tokenFingerprint', undefined);
  app.decorateRequest('credential', undefined);
  const authenticate = createAuthentication(authentication);
  const countRequest = createRateLimit(requestsPerSecond);
  const countGuess = createRateLimit(requestsPerSecond);
  app.addHook('onRequest', (request, reply, next) => {
    try {
      authenticate(request);
    } catch (error) {
      // Guesses cost as little as the requests of a token. A right token is answered beside them.
      if (request.tokenFingerprint !== undefined)
        countGuess({ tokenId: request.clientAddress ?? '', fingerprint: '' }, reply);
      throw error;
    }
    if (request.caller) countRequest(request.caller, reply);
    authorize(request);
    next();
  });
}
