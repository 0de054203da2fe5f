/** A rule for write keys that the schema does not have: the schema also reads what was stored before the rule. */
import { problem, type FieldPath, type Problem } from '../problem.ts';
import type { Source } from '../schema.ts';

const leastLength = 6;

/** A problem for each short write key that is new. Those that the stored source has may stay. */
export function shortWriteKeys(
  { writeKeys }: Source,
  stored: Source | undefined,
  path: FieldPath = [],
): Problem[] {
  return writeKeys.flatMap((key, position) =>
    key.length >= leastLength || stored?.writeKeys.includes(key)
      ? []
      : [
          problem(
            [...path, 'writeKeys', position],
            `is too short: a new write key has at least ${leastLength} characters`,
          ),
        ],
  );
}
