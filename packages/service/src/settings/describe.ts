/** Descriptions of variables, for messages and for docs/settings.md. */
import { formatDuration } from '@tailrace/events';
import { byteUnits, type VariableSchema } from './text.ts';

/** The accepted texts, as a noun phrase. */
export function formOf(schema: VariableSchema): string {
  const { type, unit, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
  if (schema.form !== undefined) return schema.form;
  if (schema.enum) return `one of ${schema.enum.join(', ')}`;
  if (type === 'boolean') return 'true or false';
  if (type !== 'integer') return 'any text';
  if (unit === 'bytes') return 'a size in bytes such as 65536, 64KB, 64MB or 1GB';
  if (unit !== 'ms') return `a whole number from ${minimum} to ${maximum}`;
  const limits = [
    ...(minimum > 1 ? [`at least ${formatDuration(minimum)}`] : []),
    ...(maximum < Number.MAX_SAFE_INTEGER ? [`at most ${formatDuration(maximum)}`] : []),
  ];
  return ['a duration such as 250ms, 10s, 1m or 4h', ...limits].join(', ');
}

/** `value` as an operator would write it. */
export function formatValue(schema: VariableSchema, value: unknown): string {
  const { unit, items } = schema;
  if (items && Array.isArray(value)) return value.map((item) => formatValue(items, item)).join();
  if (unit === 'ms') return formatDuration(Number(value));
  if (unit !== 'bytes') return String(value);
  const largestFirst = Object.entries(byteUnits).reverse();
  const [suffix, size] = largestFirst.find(([, size]) => Number(value) % size === 0) ?? ['', 1];
  return `${Number(value) / size}${suffix}`;
}
