/** The reasons of dead letters: which of them are failures; and for filters, where a misspelled reason would silently match nothing. */
import { nearestName } from '@tailrace/errors';
import { deadReasons, type DeadReason } from '@tailrace/metrics';

/** An operator or the deletion of the user has ended the delivery: nothing has failed, and nothing is to be done. */
const expectedReasons: readonly DeadReason[] = ['drained', 'user-deleted'];

export function isExpected(reason: string | null | undefined): boolean {
  return (expectedReasons as readonly unknown[]).includes(reason);
}

/** The end of a sentence that begins with the name of the filter; undefined for a known reason. */
export function reasonProblem(reason: string): string | undefined {
  const known: readonly string[] = deadReasons;
  if (known.includes(reason)) return undefined;
  const meant = nearestName(reason, known);
  const hint = meant === undefined ? `known reasons are ${known.join(', ')}` : `did you mean ${meant}?`;
  return `is not a reason of dead letters; ${hint}`;
}
