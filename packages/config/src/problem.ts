/** What is wrong with a value, and where. Problems end up in logs, so they never repeat what may be secret. */

/** Keys and indexes that lead to a field: `['destinations', 0, 'settings']`. */
export type FieldPath = readonly (string | number)[];

export interface Problem {
  readonly path: FieldPath;
  /** What is wrong and what is allowed, as a clause that follows the field's name. */
  readonly message: string;
  /** What of the last step of the path is wrong; an `unknown-key` is one that this version has no use for. */
  readonly about: 'value' | 'key' | 'unknown-key';
}

export function problem(path: FieldPath, message: string, about: Problem['about'] = 'value'): Problem {
  return { path, message, about };
}

/** `destinations[0].settings.webhooks[2].url`; empty for the whole. */
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

/** A field of what may be anything. */
export function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

/** The items of what may be a list. */
export function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The positions of texts that occurred before, and where first. */
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
