/** Which destinations a call turns on or off by its own `integrations`. */
import { isRawNumber, type JsonObject } from '@tailrace/events';

/**
 * Whether `integrations` select the destinations of a type (docs/specification.md, rule 5.2). All types are selected unless `All`
 * is false; the entry of the type itself takes precedence over `All`. An object of options counts as true.
 */
export function isSelected(type: string, integrations: JsonObject = {}): boolean {
  const own = integrations[type];
  if (own === false) return false;
  if (own === true || (typeof own === 'object' && own !== null && !isRawNumber(own))) return true;
  return integrations['All'] !== false;
}
