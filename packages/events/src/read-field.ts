/**
 * One field at a time: what stands for nothing (null, an empty text), what is converted (a number for an id, PHP's `[]`
 * for an empty map), and what is refused, with a sentence that says how to correct it.
 */
import { parseInstant, isInstant } from './instant.ts';
import { isRawNumber, roundedNumber, wholeDigits } from './number.ts';
import type { JsonObject } from './schema.ts';

/**
 * How deeply an object may be nested. `JSON.stringify` runs out of stack at a few thousand levels, which 32 KB have
 * room for: one such call would stop every service it reaches.
 */
const maxDepth = 100;

/** Numbers below this, 3 March 1973 in milliseconds, are taken for seconds, and refused. */
const earliestNumericMs = 100_000_000_000;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/** A text that is not empty. A whole number becomes its digits. */
export function readText(call: JsonObject, field: string, problems: string[]): string | undefined {
  const value = call[field];
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (value === undefined || value === null) return undefined;
  const digits = wholeDigits(value);
  if (digits !== undefined) return digits;
  problems.push(
    typeof value === 'number' || isRawNumber(value)
      ? `${field} must be a string; of numbers, only whole ones written in digits are read as one.`
      : `${field} must be a string, not ${kindOf(value)}.`,
  );
  return undefined;
}

/** As {@link readText}, for an id of at most `maxLength` characters. */
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
 * What is wrong with an id, as a clause that follows the name of its field. Half a surrogate pair is refused because UTF-8,
 * which keys, headers and hashes are written in, has none: two such ids would be the same.
 */
export function idProblem(id: string, maxLength: number): string | undefined {
  if (!id.isWellFormed()) return 'must not hold half a surrogate pair, which UTF-8 cannot encode';
  // Characters, not UTF-16 units, as JSON Schema counts; the first test is the cheap one.
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

/** Milliseconds since the epoch of an ISO 8601 text, or of a number of milliseconds. */
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

/** As {@link readInstant}, where an unreadable value only means that there is none. */
export function toInstant(value: unknown): number | undefined {
  if (typeof value === 'string') return parseInstant(value);
  const ms = roundedNumber(value);
  if (ms === undefined || ms < earliestNumericMs || !isInstant(ms)) return undefined;
  return Math.floor(ms);
}

const tooDeep = `is nested more than ${maxDepth} levels deep; flatten it`;

/** By for-in, which costs half of what a list of the values does: objects out of JSON inherit nothing. */
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
