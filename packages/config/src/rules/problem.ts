/** Problems of a value, with their paths. Problems are logged, so they never contain a value that may be secret. */

/** Keys and indexes that lead to a field: `['destinations', 0, 'settings']`. */
export type FieldPath = readonly (string | number)[];

export interface Problem {
  readonly path: FieldPath;
  /** The problem and the allowed value, as a clause after the name of the field. */
  readonly message: string;
  /** The invalid part of the last step of the path. An `unknown-key` is a key that this version does not know. */
  readonly about: 'value' | 'key' | 'unknown-key';
}

export function problem(path: FieldPath, message: string, about: Problem['about'] = 'value'): Problem {
  return { path, message, about };
}

/** The path as text: `destinations[0].settings.webhooks[2].url`; empty for the whole value. */
export function formatPath(path: FieldPath): string {
  return path
    .map((step, position) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!/^[a-z_$][\w$]*$/i.test(step)) return `[${quote(step)}]`;
      return position === 0 ? step : `.${step}`;
    })
    .join('');
}

export function quote(text: string): string {
  return JSON.stringify(text);
}

/** A field of any value; undefined if the value is not an object. A list has no field `filter`, though it has a method. */
export function field(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}

/** The items of any value; none if it is not a list. */
export function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The positions of repeated texts, each with the position of its first occurrence. */
export function repeats(values: readonly unknown[]): { at: number; first: number }[] {
  const seen = new Map<string, number>();
  return values.flatMap((value, at) => {
    if (typeof value !== 'string') return [];
    const first = seen.get(value);
    if (first !== undefined) return [{ at, first }];
    seen.set(value, at);
    return [];
  });
}
