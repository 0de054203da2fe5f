/** Lists in pages: `limit` and `cursor` in, `items` and `next` out. */
import { TailraceError } from '@tailrace/errors';
import Type, { type TSchema } from 'typebox';

/** The parameters of every list, to be spread into a route's query. */
export const pageParameters = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'a whole number from 1 to 200' }),
  ),
  cursor: Type.Optional(Type.String({ minLength: 1, description: '`next` of the page before; opaque' })),
};

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Gives the page after this one; absent on the last. */
  readonly next?: string;
}

export function pageOf<Item extends TSchema>(item: Item) {
  return Type.Object({
    items: Type.Array(item),
    next: Type.Optional(Type.String({ description: 'the cursor of the next page; absent on the last' })),
  });
}

/** `position`, which is anything that JSON holds, as an opaque text. */
export function encodeCursor(position: unknown): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/**
 * What {@link encodeCursor} was given, where `isPosition` says that it can be that.
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
  const problem = { field: 'cursor', rule: 'is not one that this list has given out' };
  throw new TailraceError('invalid-request', `${problem.field} ${problem.rule}.`, { problems: [problem] });
}

/** A page of what is in memory, in the order of its keys. */
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
