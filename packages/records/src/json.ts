/** The JSON of records, and its types. */
import type { Static, TSchema } from 'typebox';

/** What a schema describes. Fields that may be missing may also be undefined. */
export type ValueOf<Schema extends TSchema> = Loose<Static<Schema>>;

type Loose<T> = T extends readonly (infer Item)[]
  ? readonly Loose<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Loose<T[Name]> | (undefined extends T[Name] ? undefined : never) }
    : T;

/** The object in a record; undefined where it has another value, or no JSON. */
export function objectIn<Of extends object>(value: Buffer | null): Partial<Of> | undefined {
  try {
    const parsed: unknown = JSON.parse(value?.toString() ?? 'null');
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}
