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

type Kind = 'text' | 'number';

type PositionOf<Form extends readonly Kind[]> = {
  [At in keyof Form]: Form[At] extends 'text' ? string : number;
};

/**
 * The cursors of one list. The cursor of another list is refused, also where its positions look alike.
 *
 * @param form of a position, which is what orders the items; the numbers are whole
 */
export function cursorsOf<const Form extends readonly Kind[]>(list: string, ...form: Form) {
  const isPosition = (value: unknown): value is PositionOf<Form> =>
    Array.isArray(value) &&
    value.length === form.length &&
    form.every((kind, at) =>
      kind === 'text' ? typeof value[at] === 'string' : Number.isSafeInteger(value[at]),
    );
  const encode = (position: readonly (string | number)[]): string =>
    Buffer.from(JSON.stringify([list, position])).toString('base64url');
  return {
    encode,
    /**
     * The position where the page before ended; undefined without a cursor.
     *
     * @throws TailraceError `invalid-request` where it is not a cursor of this list
     */
    decode(cursor: string | undefined): PositionOf<Form> | undefined {
      if (cursor === undefined) return undefined;
      const [of, position] = parse(Buffer.from(cursor, 'base64url').toString());
      if (of === list && isPosition(position)) return position;
      throw invalidField('cursor', 'is not a cursor of this list');
    },
    /** `found` as a page. It has one item more than `limit` where the list goes on. */
    page<Item>(
      found: readonly Item[],
      limit: number,
      positionOf: (item: Item) => readonly (string | number)[],
    ): Page<Item> {
      const items = found.slice(0, limit);
      const last = items.at(-1);
      return last !== undefined && found.length > limit
        ? { items, next: encode(positionOf(last)) }
        : { items };
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

/** A page of a list in memory, whose items are sorted by `keyOf`. */
export function pageInOrder<Item>(
  list: string,
  items: readonly Item[],
  { limit = 50, cursor }: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
  keyOf: (item: Item) => string,
): Page<Item> {
  const cursors = cursorsOf(list, 'text');
  const [after] = cursors.decode(cursor) ?? [];
  const rest = after === undefined ? items : items.filter((item) => keyOf(item) > after);
  return cursors.page(rest, limit, (item) => [keyOf(item)]);
}

/** A key by which the newest item is the first, and those of one time are in the order of their ids. */
export function newestFirst(time: number, id: string): string {
  return `${String(Number.MAX_SAFE_INTEGER - time).padStart(16, '0')} ${id}`;
}
