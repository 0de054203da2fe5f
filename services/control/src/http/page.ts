/** Paged lists: `limit` and `cursor` in the query, `items` and `next` in the answer. */
import Type, { type TSchema } from 'typebox';
import { invalidField } from './errors.ts';

/** To be spread into the query of a list. */
export const pageParameters = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'a whole number from 1 to 200' }),
  ),
  cursor: Type.Optional(Type.String({ minLength: 1, description: '`next` of the previous page; opaque' })),
};

export interface Page<Item> {
  readonly items: readonly Item[];
  /** The cursor of the next page; absent on the last page. */
  readonly next?: string;
}

export function pageOf<Item extends TSchema>(item: Item) {
  const { title } = item as { readonly title?: string };
  return Type.Object(
    {
      items: Type.Array(item),
      next: Type.Optional(
        Type.String({ description: 'the cursor of the next page; absent on the last page' }),
      ),
    },
    title === undefined ? {} : { title: `${title}List` },
  );
}

/** @param position where the page ended, as JSON */
export function encodeCursor(position: unknown): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/**
 * The position that {@link encodeCursor} encoded.
 *
 * @throws TailraceError `invalid-request`
 */
export function decodeCursor<Position>(
  cursor: string,
  isPosition: (value: unknown) => value is Position,
): Position {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    value = undefined;
  }
  if (isPosition(value)) return value;
  throw invalidField('cursor', 'is not a cursor of this list');
}

/** A page of a list in memory, whose items are sorted by `keyOf`. */
export function pageInOrder<Item>(
  items: readonly Item[],
  { limit = 50, cursor }: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
  keyOf: (item: Item) => string,
): Page<Item> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor, (value) => typeof value === 'string');
  const rest = after === undefined ? items : items.filter((item) => keyOf(item) > after);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return last !== undefined && rest.length > limit
    ? { items: page, next: encodeCursor(keyOf(last)) }
    : { items: page };
}
