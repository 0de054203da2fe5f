/**
 * One field at a time: what stands for nothing (null, an empty text), what is mended (a number for an id, PHP's `[]`
 * for an empty map), and what is refused, with a sentence that says how to mend it.
 */
import { parseInstant, isInstant } from './instant.ts';
import { isUnkeptNumber } from './read-json.ts';
import type { JsonObject } from './schema.ts';

/**
 * How deeply an object may be nested. `JSON.stringify` runs out of stack at a few thousand levels, which 32 KB have
 * room for: one such call would stop every service it reaches.
 */
const maxDepth = 100;

/** Numbers below this, 3 March 1973 in milliseconds, are taken for seconds, and refused. */
const earliestNumericMs = 100_000_000_000;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text that is not empty. A whole number becomes its digits, as long as JSON has kept all of them. */
export function readText(call: JsonObject, field: string, problems: string[]): string | undefined {
  const value = call[field];
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value.toString();
  problems.push(
    typeof value === 'number' || isUnkeptNumber(value)
      ? `${field} must be a string; only whole numbers up to 2^53 are read as one.`
      : `${field} must be a string, not ${kindOf(value)}.`,
  );
  return undefined;
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
  if (typeof value !== 'number' || value < earliestNumericMs || !isInstant(value)) return undefined;
  return Math.floor(value);
}

/** By for-in, which costs half of what a list of the values does: objects out of JSON inherit nothing. */
function problemWithin(value: object, levels: number): string | undefined {
  if (levels === 0) return `is nested more than ${maxDepth} levels deep; flatten it`;
  if (isUnkeptNumber(value))
    return 'holds a number beyond 2^53, which JSON readers round; send it as a string';
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
  if (isUnkeptNumber(value)) return 'a number';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
