/** Changes of single fields of an entry, as `--set settings.webhooks[0].url=https://…` names them. */
import { UsageError } from '../command.ts';

/** Keys of mappings and indexes of lists. */
export type Path = readonly (string | number)[];

/** `value` undefined removes the field. */
export interface FieldEdit {
  readonly path: Path;
  readonly value: unknown;
}

const step = /^(?:\.?([^.[\]]+)|\[(\d{1,4})\])/;
/** Assigning these would change the object itself. */
const forbidden = ['__proto__', 'constructor', 'prototype'];

/** @throws UsageError */
export function parsePath(text: string): Path {
  const path: (string | number)[] = [];
  for (let rest = text; rest !== '';) {
    const [matched = '', key, index] = step.exec(rest) ?? [];
    if (matched === '' || forbidden.includes(key ?? '')) {
      throw new UsageError(`${JSON.stringify(text)} is not a field, such as settings.webhooks[0].url`);
    }
    path.push(key ?? Number(index));
    rest = rest.slice(matched.length);
  }
  if (path.length === 0) throw new UsageError('the field is empty; write it as rateLimit=50');
  return path;
}

/**
 * The edit of `field=value`. The value is JSON (`5`, `true`, `null`, `["a"]`) or else a text; null removes the field.
 *
 * @param resolve replaces a reference such as `env:NAME` in a text
 * @throws UsageError
 */
export function parseEdit(text: string, resolve: (value: string) => string): FieldEdit {
  const at = text.indexOf('=');
  if (at < 1)
    throw new UsageError(`--set ${JSON.stringify(text)} must be a field and a value, such as rateLimit=50`);
  const value = valueOf(text.slice(at + 1), resolve);
  return { path: parsePath(text.slice(0, at)), value: value === null ? undefined : value };
}

function valueOf(text: string, resolve: (value: string) => string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return resolve(text);
  }
}

/** Returns a copy of `entry` with the edits, in order. Mappings that are missing on the way are made. @throws UsageError */
export function applyEdits<T>(entry: T, edits: readonly FieldEdit[]): T {
  const copy = structuredClone(entry);
  for (const edit of edits) applyEdit(copy, edit);
  return copy;
}

function applyEdit(entry: unknown, { path, value }: FieldEdit): void {
  let owner = entry as Record<string | number, unknown>;
  for (const [depth, key] of path.entries()) {
    const shown = JSON.stringify(path.slice(0, depth + 1).join('.'));
    if (Array.isArray(owner) !== (typeof key === 'number')) {
      throw new UsageError(
        `${shown}: ${Array.isArray(owner) ? 'a list needs an index, such as [0]' : 'is no list'}`,
      );
    }
    if (Array.isArray(owner) && Number(key) > owner.length)
      throw new UsageError(`${shown}: the list is shorter`);
    if (depth === path.length - 1) {
      if (value !== undefined) owner[key] = value;
      else if (Array.isArray(owner)) owner.splice(Number(key), 1);
      else Reflect.deleteProperty(owner, key);
      return;
    }
    const next = owner[key] ?? (typeof path[depth + 1] === 'number' ? [] : {});
    if (typeof next !== 'object') throw new UsageError(`${shown} has no fields`);
    owner[key] = next;
    owner = next as Record<string | number, unknown>;
  }
}
