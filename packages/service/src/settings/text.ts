/** Settings as text: the schema of one variable, how its text becomes a value, and how both are described. */
import { isIP } from 'node:net';
import { formatDuration, parseDuration } from '@tailrace/topics';

/** The JSON Schema of one variable, with the keywords of this package. */
export interface VariableSchema {
  /** Name of the environment variable. */
  readonly env: string;
  readonly type?: string;
  readonly description?: string;
  /** Value where the variable is unset. Without one it is required, unless it is `Type.Optional`. */
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly items?: VariableSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Integers are durations (`ms`), sizes (`bytes`) or plain numbers. */
  readonly unit?: 'ms' | 'bytes';
  /** The accepted text as a noun phrase, where the other keywords do not give one. */
  readonly form?: string;
  /** For a required variable: the sentence that says what to set it to. */
  readonly hint?: string;
  /** Secret: the value is never shown. */
  readonly writeOnly?: boolean;
}

/** The value of `text`, or `text` itself where it has not the form; validation then refuses it by its type. */
export function parseText(schema: VariableSchema, text: string): unknown {
  const { type, unit = 'none', items } = schema;
  if (type === 'integer') return parseInteger[unit](text) ?? text;
  if (type === 'boolean') return { true: true, false: false }[text.toLowerCase()] ?? text;
  if (items) return text.split(',').map((item) => parseText(items, item.trim()));
  return text;
}

const byteUnits: Readonly<Record<string, number>> = { '': 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };

const parseInteger = {
  none: (text: string) => (/^-?\d{1,15}$/.test(text) ? Number(text) : undefined),
  ms: parseDuration,
  bytes(text: string) {
    const [, digits, unit = ''] = /^(\d{1,12})(KB|MB|GB)?$/i.exec(text) ?? [];
    return digits === undefined ? undefined : Number(digits) * (byteUnits[unit.toUpperCase()] ?? NaN);
  },
};

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

/** Formats of texts, for `format` in a schema. */
export const formats = {
  'http-url': (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
  cidr(text: string) {
    const [, address = '', prefix] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
    const bits = { 4: 32, 6: 128 }[isIP(address)];
    return bits !== undefined && Number(prefix) <= bits;
  },
  broker(text: string) {
    const [, port] = /^(?:[a-z\d._-]+|\[[a-f\d:.]+\]):(\d{1,5})$/i.exec(text) ?? [];
    return Number(port) >= 1 && Number(port) <= 65_535;
  },
};
