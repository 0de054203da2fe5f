/** Which destinations a call goes to, as far as the call itself says. */
import { isRawNumber } from './number.ts';
import type { JsonObject } from './schema.ts';

/**
 * Whether `integrations` select the destination type with this `name` (docs/specification.md, rule 5.2): all are selected
 * unless `All` is false. The entry of the type itself takes precedence; an object of options selects it.
 */
export function isSelected(name: string, integrations: JsonObject = {}): boolean {
  const own = integrations[name];
  if (own === false) return false;
  if (own === true || (typeof own === 'object' && own !== null && !isRawNumber(own))) return true;
  return integrations['All'] !== false;
}
