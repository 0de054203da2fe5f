/** Which destinations a call goes to, as far as the call itself says. */
import { isRawNumber } from './number.ts';
import type { JsonObject } from './schema.ts';

/**
 * Whether `integrations` leave on the destination that is published under `name` (specification, section 4.3): all
 * are on unless `All` is false, and a destination's own entry comes before that. An object of options means on.
 */
export function isSelected(name: string, integrations: JsonObject = {}): boolean {
  const own = integrations[name];
  if (own === false) return false;
  if (own === true || (typeof own === 'object' && own !== null && !isRawNumber(own))) return true;
  return integrations['All'] !== false;
}
