/** The reasons of dead letters, for filters: a misspelled reason would silently match nothing. */
import { nearestName } from '@tailrace/errors';
import { deadReasons } from '@tailrace/metrics';

/** The end of a sentence that begins with the name of the filter; undefined for a known reason. */
export function reasonProblem(reason: string): string | undefined {
  const known: readonly string[] = deadReasons;
  if (known.includes(reason)) return undefined;
  const meant = nearestName(reason, known);
  const hint = meant === undefined ? `known reasons are ${known.join(', ')}` : `did you mean ${meant}?`;
  return `is not a reason of dead letters; ${hint}`;
}
