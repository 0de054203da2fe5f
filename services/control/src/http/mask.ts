/** Masks the values of a body for callers with the role `read`. */
import { isRawNumber } from '@tailrace/events';

const masked = '***';
/** Fields without personal data. */
const shown = new Set(['type', 'version']);

/** Replaces every value with `***`, of any type. Keys, nesting and null stay. */
export function maskValues(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || isRawNumber(body)) {
    return mask(body);
  }
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key, shown.has(key) ? value : mask(value)] as const),
  );
}

function mask(value: unknown): unknown {
  if (value === null) return null;
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value !== 'object' || isRawNumber(value)) return masked;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mask(inner)] as const));
}
