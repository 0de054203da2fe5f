/** Which destinations a call turns on or off by its own `integrations`. */
import type { Destination } from '@tailrace/config';
import { isRawNumber, type JsonObject } from '@tailrace/events';

/**
 * Whether `integrations` select a destination (docs/specification.md, rule 5.2): by its type and, where the entry of the type is an
 * object, in the same way by its id in there.
 */
export function isSelected(
  { type, id }: Pick<Destination, 'type' | 'id'>,
  integrations: JsonObject = {},
): boolean {
  const ofType = entryOf(integrations, type);
  return typeof ofType === 'object' ? entryOf(ofType, id) !== false : ofType;
}

/** The entry of the key, or what `All` says where there is none. A list counts as true. */
function entryOf(entries: JsonObject, key: string): boolean | JsonObject {
  // An id may be the name of a property that every object has.
  const own = Object.hasOwn(entries, key) ? entries[key] : undefined;
  if (typeof own === 'boolean') return own;
  if (typeof own !== 'object' || own === null || isRawNumber(own)) return entries['All'] !== false;
  return Array.isArray(own) || (own as JsonObject);
}
