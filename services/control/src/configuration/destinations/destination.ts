/** How a change loads and validates a destination. */
import {
  checkDestination,
  maskDestination,
  maskDestinationForReaders,
  missingSources,
  problemsError,
  unmaskDestination,
  withServerFields,
  type ConfigEditor,
  type ConfigSnapshot,
  type Destination,
} from '@tailrace/config';
import type { Caller, Role } from '../../access/authenticate.ts';
import { reachesDestination, reachesSource } from '../../access/limits.ts';
import { currentRequest } from '../../audit/context.ts';
import { isMaskedFor } from '../../access/mask.ts';
import { entryNotFound } from '../../http/errors.ts';
import { entriesOf, requireValid, type EntryRules } from '../entry/change.ts';
import { matchesSearch } from '../entry/search.ts';

/** @throws TailraceError `not-found` */
export function loadDestination(current: Pick<ConfigSnapshot, 'destination'>, id: string): Destination {
  const destination = current.destination(id);
  if (!destination) throw entryNotFound('destination', id);
  return destination;
}

/** The destinations that the caller reaches and the query of a list finds, by id. */
export function findDestinations(
  current: Pick<ConfigSnapshot, 'destinations'>,
  caller: Caller | undefined,
  { search, source }: { readonly search?: string; readonly source?: string },
): readonly Destination[] {
  const isFound = matchesSearch(search);
  return current
    .destinations()
    .filter((one) => reachesDestination(caller, one.id) && isFound(one))
    .filter(({ sources }) => source === undefined || sources.includes(source));
}

export const destinationEntries = (config: ConfigEditor, check?: EntryRules<Destination>['check']) =>
  entriesOf(config, {
    kind: 'destination',
    load: loadDestination,
    valid: validDestination,
    show: showDestination,
    check,
  });

/**
 * @param stored the secrets that masks in `wanted` stand for; undefined for a new destination
 * @throws TailraceError `invalid-configuration`
 */
export function validDestination(
  wanted: unknown,
  stored: Destination | undefined,
  current: ConfigSnapshot,
): Destination {
  const unmasked = unmaskDestination(withoutRequirements(wanted, stored), stored);
  if ('problems' in unmasked) throw problemsError(unmasked.problems);
  const valid = requireValid(checkDestination(unmasked.value), (destination) => {
    const { caller } = currentRequest() ?? {};
    const isReached = (id: string): boolean => reachesSource(caller, id);
    const sourceIds = current.sources().map(({ id }) => id);
    // It is not said whether a source exists that the token does not reach. To connect one is refused when the entry is written.
    const known = [...sourceIds.filter(isReached), ...destination.sources.filter((id) => !isReached(id))];
    const problems = missingSources([destination], known);
    // The paths begin with `destinations[0]`, as in a file.
    return problems.map((problem) => ({ ...problem, path: problem.path.slice(2) }));
  });
  return withServerFields(valid, stored);
}

/**
 * An entry is accepted only without the keys of a newer release, so it needs nothing of what that release has required. The list is
 * not refused where it was read here: only the features themselves are to be removed.
 */
function withoutRequirements(wanted: unknown, stored: Destination | undefined): unknown {
  if (stored === undefined || !('requires' in stored)) return wanted;
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return wanted;
  const { requires: _requires, ...entry } = wanted as { readonly requires?: unknown };
  return entry;
}

/** With masks in the place of secrets; for a read-only token also in the place of the queries of URLs. */
export function showDestination(destination: Destination, role: Role | undefined): Destination {
  const mask = isMaskedFor(role) ? maskDestinationForReaders : maskDestination;
  return mask(destination);
}
