/**
 * Reads single fields. null and the empty string count as absent; a number for an id and PHP's `[]` for an empty map are
 * converted; other values are refused with a sentence that says how to fix them.
 */
import { parseInstant, isInstant } from './instant.ts';
import { isRawNumber, roundedNumber, wholeDigits } from './number.ts';
import type { JsonObject } from './schema.ts';

/**
 * The maximum nesting of an object. `JSON.stringify` runs out of stack at a few thousand levels, which fit into 32 KB: such a
 * call would stop every service that it reaches.
 */
const maxDepth = 100;

/** Smaller numbers, which are before 3 March 1973 in milliseconds, are assumed to be seconds and refused. */
const earliestNumericMs = 100_000_000_000;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/** A string that is not empty. A whole number becomes its digits. */
export function readText(call: JsonObject, field: string, problems: string[]): string | undefined {
  const value = call[field];
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (value === undefined || value === null) return undefined;
  const digits = wholeDigits(value);
  if (digits !== undefined) return digits;
  problems.push(
    typeof value === 'number' || isRawNumber(value)
      ? `${field} must be a string; a number is accepted only where it is whole and written in digits.`
      : `${field} must be a string, not ${kindOf(value)}.`,
  );
  return undefined;
}

/** Like {@link readText}, for an id of at most `maxLength` characters. */
export function readId(
  call: JsonObject,
  field: string,
  maxLength: number,
  problems: string[],
): string | undefined {
  const id = readText(call, field, problems);
  const problem = id === undefined ? undefined : idProblem(id, maxLength);
  if (problem === undefined) return id;
  problems.push(`${field} ${problem}.`);
  return undefined;
}

/**
 * The problem of an id, as a clause that follows the name of its field. Half a surrogate pair is refused, because UTF-8 cannot
 * encode it: in keys, headers and hashes, different ids would become the same.
 */
export function idProblem(id: string, maxLength: number): string | undefined {
  if (!id.isWellFormed()) return 'must not contain half a surrogate pair, which UTF-8 cannot encode';
  // JSON Schema counts characters rather than UTF-16 code units. The cheap tests come first.
  const isTooLong = id.length > maxLength && (id.length > maxLength * 2 || Array.from(id).length > maxLength);
  return isTooLong ? `must not be longer than ${maxLength.toLocaleString('en')} characters` : undefined;
}

export function readObject(call: JsonObject, field: string, problems: string[]): JsonObject | undefined {
  const value = call[field];
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value) && value.length === 0) return {};
  if (!isObject(value)) {
    problems.push(`${field} must be an object, not ${kindOf(value)}.`);
    return undefined;
  }
  const problem = problemWithin(value, maxDepth);
  if (problem === undefined) return value;
  problems.push(`${field} ${problem}.`);
  return undefined;
}

/** Milliseconds since the epoch, from an ISO 8601 string or a number of milliseconds. */
export function readInstant(call: JsonObject, field: string, problems: string[]): number | undefined {
  const value = call[field];
  if (value === undefined || value === null || value === '') return undefined;
  const ms = toInstant(value);
  if (ms === undefined) {
    problems.push(
      `${field} must be an ISO 8601 date-time, such as 2026-11-21T07:29:33.479Z, or a number of milliseconds since 1970.`,
    );
  }
  return ms;
}

/** Like {@link readInstant}, but an unreadable value counts as absent. */
export function toInstant(value: unknown): number | undefined {
  if (typeof value === 'string') return parseInstant(value);
  const ms = roundedNumber(value);
  if (ms === undefined || ms < earliestNumericMs || !isInstant(ms)) return undefined;
  return Math.floor(ms);
}

const tooDeep = `is nested more than ${maxDepth} levels deep; flatten it`;

/** Uses for-in, which takes half the time of `Object.values`. Objects from JSON have no inherited keys. */
function problemWithin(value: object, levels: number): string | undefined {
  if (levels === 0) return isRawNumber(value) ? undefined : tooDeep;
  if (Array.isArray(value)) {
    for (const inner of value as unknown[]) {
      const problem = isContainer(inner) ? problemWithin(inner, levels - 1) : undefined;
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  for (const key in value) {
    const inner = (value as JsonObject)[key];
    const problem = isContainer(inner) ? problemWithin(inner, levels - 1) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (isRawNumber(value)) return 'a number';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
