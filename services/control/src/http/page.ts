/** Paged lists: `limit` and `cursor` in the query, `items` and `next` in the answer. */
import Type, { type TSchema } from 'typebox';
import { invalidField } from './errors.ts';
import { closedObject } from './schemas.ts';

/** To be spread into the query of a list. */
export const pageParameters = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'a whole number from 1 to 200' }),
  ),
  cursor: Type.Optional(Type.String({ minLength: 1, description: '`next` of the previous page; opaque' })),
};

/** The query of a list without filters. */
export const pageQuery = closedObject(pageParameters);

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

export interface Cursors<Position> {
  /** @param position where the page ended; it becomes JSON */
  encode(position: Position): string;
  /**
   * The position where the page before ended; undefined without a cursor.
   *
   * @throws TailraceError `invalid-request` where it is not a cursor of this list
   */
  decode(cursor: string | undefined): Position | undefined;
}

/** The cursors of one list. The cursor of another list is refused, also where its positions look alike. */
export function cursorsOf<Position>(
  list: string,
  isPosition: (value: unknown) => value is Position,
): Cursors<Position> {
  return {
    encode: (position) => Buffer.from(JSON.stringify([list, position])).toString('base64url'),
    decode(cursor) {
      if (cursor === undefined) return undefined;
      const [of, position] = parse(Buffer.from(cursor, 'base64url').toString());
      if (of === list && isPosition(position)) return position;
      throw invalidField('cursor', 'is not a cursor of this list');
    },
  };
}

function parse(json: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** The cursors of a list whose items are sorted by a text. */
export function textCursorsOf(list: string): Cursors<string> {
  return cursorsOf(list, (value) => typeof value === 'string');
}

/** A page of a list in memory, whose items are sorted by `keyOf`. */
export function pageInOrder<Item>(
  list: string,
  items: readonly Item[],
  { limit = 50, cursor }: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
  keyOf: (item: Item) => string,
): Page<Item> {
  const cursors = textCursorsOf(list);
  const after = cursors.decode(cursor);
  const rest = after === undefined ? items : items.filter((item) => keyOf(item) > after);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return last !== undefined && rest.length > limit
    ? { items: page, next: cursors.encode(keyOf(last)) }
    : { items: page };
}
