/** The fields in which two versions of an entry differ, without secrets. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { field, formatPath, type FieldPath } from './rules/problem.ts';
import type { Notification } from './rules/notification/schema.ts';
import type { Destination, Source } from './rules/schema.ts';
import type { Token } from './rules/token.ts';
import { redactDestination, redactNotification, redactSource, redactToken } from './secrets/redact.ts';

/** Undefined stands for an absent value. */
export interface FieldDifference {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

type AnyEntry = Source | Destination | Notification | Token;

/**
 * The innermost fields that differ, such as `settings.webhooks[0].url`, with both values, redacted: both values of a changed
 * secret look the same. For an entry that is created or deleted, all of its fields.
 */
export function differencesOf(
  before: AnyEntry | null | undefined,
  after: AnyEntry | null | undefined,
): FieldDifference[] {
  const changed = changedFields(before ?? {}, after ?? {}, []);
  if (changed.length === 0) return [];
  const [shownBefore, shownAfter] = [before && redact(before), after && redact(after)];
  return changed.map((path) => ({
    field: formatPath(path),
    before: valueAt(shownBefore, path),
    after: valueAt(shownAfter, path),
  }));
}

/** Lists of different length differ as a whole. */
function changedFields(before: unknown, after: unknown, path: FieldPath): FieldPath[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return after.flatMap((item, index) => changedFields(before[index], item, [...path, index]));
  }
  if (isMapping(before) && isMapping(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => changedFields(before[key], after[key], [...path, key]));
  }
  return [path];
}

function redact(entry: AnyEntry): AnyEntry {
  if ('writeKeys' in entry) return redactSource(entry);
  if ('hash' in entry) return redactToken(entry);
  return 'settings' in entry ? redactDestination(entry) : redactNotification(entry);
}

function valueAt(value: unknown, path: FieldPath): unknown {
  return path.reduce((part, step) => field(part, String(step)), value);
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
