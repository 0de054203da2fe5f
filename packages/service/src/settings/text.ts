/** The schema of one variable, and how its text becomes a value. */
import { isIP } from 'node:net';
import { parseDuration } from '@tailrace/events';

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

export const byteUnits: Readonly<Record<string, number>> = { '': 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };

const parseInteger = {
  none: (text: string) => (/^-?\d{1,15}$/.test(text) ? Number(text) : undefined),
  ms: parseDuration,
  bytes(text: string) {
    const [, digits, unit = ''] = /^(\d{1,12})(KB|MB|GB)?$/i.exec(text) ?? [];
    return digits === undefined ? undefined : Number(digits) * (byteUnits[unit.toUpperCase()] ?? NaN);
  },
};

/** Formats of texts, for `format` in a schema. */
export const formats = {
  'http-url': (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
  'proxy-url'(text: string) {
    const url = URL.parse(text);
    return url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  },
  ip: (text: string) => isIP(text) !== 0,
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
