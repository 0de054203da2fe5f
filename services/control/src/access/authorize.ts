/** Checks the caller of a request against the table of access. */
import { TailraceError } from '@tailrace/errors';
import type { FastifyRequest } from 'fastify';
import { entryNotFound } from '../http/errors.ts';
import type { Role } from './authenticate.ts';
import { checkQuery, isLimited, reachesDestination, reachesSource } from './limits.ts';
import { access, unknownAccess } from './table.ts';

const ranks: Readonly<Record<Role, number>> = { read: 0, write: 1, admin: 2 };

/**
 * An entry that the token does not reach is answered as one that does not exist.
 *
 * @throws TailraceError `forbidden`, `not-found`
 */
export function authorize(request: FastifyRequest): void {
  const { caller } = request;
  const { operationId = '' } = (request.routeOptions.schema ?? {}) as { readonly operationId?: string };
  const { scope, reach } =
    (Object.hasOwn(access, operationId) ? access[operationId] : undefined) ?? unknownAccess;
  if (!caller || ranks[caller.scope] < ranks[scope]) {
    throw new TailraceError(
      'forbidden',
      `The token has the scope ${caller?.scope ?? 'none'}, and this request needs ${scope}.`,
    );
  }
  if (!isLimited(caller)) return;
  const { id = '', sourceId = '' } = request.params as { readonly id?: string; readonly sourceId?: string };
  if (reach === 'closed') {
    throw new TailraceError(
      'forbidden',
      'The token is limited to sources or destinations, and this request is not.',
    );
  }
  if (reach === 'source') {
    if (!reachesSource(caller, id)) throw entryNotFound('source', id);
    const { destination } = request.query as { readonly destination?: string };
    if (destination !== undefined && !reachesDestination(caller, destination)) {
      throw entryNotFound('destination', destination.slice(0, 64));
    }
  }
  if (reach === 'destination' || reach === 'connection' || reach === 'all-deliveries') {
    if (!reachesDestination(caller, id)) throw entryNotFound('destination', id);
  }
  if (reach === 'all-deliveries' && caller.sources !== undefined) {
    throw new TailraceError(
      'forbidden',
      'The token is limited to sources, and this request is about the deliveries of all sources of the destination.',
    );
  }
  if (reach === 'connection' && !reachesSource(caller, sourceId)) throw entryNotFound('source', sourceId);
  if (reach === 'list') checkQuery(caller, request.query as Record<string, string | undefined>);
}
