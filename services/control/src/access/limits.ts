/** The reach of a limited token: exactly the sources and destinations that it names. */
import { entryNotFound } from '../http/errors.ts';
import type { Caller } from './authenticate.ts';

type Limits = Pick<Caller, 'sources' | 'destinations'> | undefined;

export function isLimited(caller: Limits): boolean {
  return caller?.sources !== undefined || caller?.destinations !== undefined;
}

export function reachesSource(caller: Limits, id: string): boolean {
  return !isLimited(caller) || (caller?.sources?.includes(id) ?? false);
}

export function reachesDestination(caller: Limits, id: string): boolean {
  return !isLimited(caller) || (caller?.destinations?.includes(id) ?? false);
}

/** Whether the caller reaches the deliveries of all sources of the destination, and so its numbers. */
export function reachesAllDeliveries(caller: Limits, id: string): boolean {
  return caller?.sources === undefined && reachesDestination(caller, id);
}

/** A delivery belongs to a source and to a destination: each of the lists that the token has must name its own. */
export function reachesDelivery(
  caller: Limits,
  {
    sourceId,
    destinationId,
  }: { readonly sourceId?: string | undefined; readonly destinationId?: string | undefined },
): boolean {
  const isNamed = (list: readonly string[] | undefined, id: string | undefined): boolean =>
    list === undefined || (id !== undefined && list.includes(id));
  return isNamed(caller?.sources, sourceId) && isNamed(caller?.destinations, destinationId);
}

interface Named {
  readonly source?: string | undefined;
  readonly destination?: string | undefined;
}

/**
 * Checks the source and the destination that the query of a list names.
 *
 * @throws TailraceError `not-found` for an id that the token does not name
 */
export function checkQuery(caller: Limits, query: Named): void {
  for (const name of ['source', 'destination'] as const) {
    const id = query[name];
    if (id === undefined || (caller?.[`${name}s`]?.includes(id) ?? true)) continue;
    throw entryNotFound(name, id.slice(0, 64));
  }
}

/** The sources and destinations whose deliveries a list shows: the one that its query names, else those of the token. */
export function listedOf(caller: Limits, { source, destination }: Named) {
  return { sourceId: source ?? caller?.sources, destinationId: destination ?? caller?.destinations };
}
