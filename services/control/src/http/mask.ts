/** A body for those who may see its form and not what it says. */
import { isRawNumber } from '@tailrace/events';

const masked = '***';
/** They say nothing about a user. */
const shown = new Set(['type', 'version']);

/** Every value as `***`, whatever it was, so that none is taken for a real one; keys, nesting and null stay. */
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
