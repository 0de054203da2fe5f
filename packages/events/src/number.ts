/**
 * Numbers that keep the digits they were sent with. A number that JavaScript writes as it was sent is a `number`. Any other
 * (`1234567890123456789`, `25.0`, `1e400`) is a raw number: an object with the text, which `JSON.stringify` writes unchanged.
 */

declare global {
  // ECMAScript 2026, "JSON.parse source text access", which TypeScript's libraries do not declare yet.
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): boolean;
  }
}

export interface RawNumber {
  /** The number as JSON. */
  readonly rawJSON: string;
}

export function isRawNumber(value: unknown): value is RawNumber {
  return JSON.isRawJSON(value);
}

/** Whether JavaScript writes the number with the same text. */
export function isPlain(text: string): boolean {
  return String(Number(text)) === text;
}

/** A whole number of up to 64 bits or more, with all its digits. */
export function exactNumber(value: bigint): number | RawNumber {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(value.toString());
}

/** The nearest `number`; undefined where `value` is not a number. */
export function roundedNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return isRawNumber(value) ? Number(value.rawJSON) : undefined;
}

/** The maximum length of a whole number with a fraction or an exponent, such as `25.0`. */
const maxWrittenLength = 40;

/**
 * The digits of a whole number, for use as an id: `42`, and `1` for `1.0`. Undefined where the value is not a whole number, or
 * where it would have to be rounded to be written without an exponent.
 */
export function wholeDigits(value: unknown): string | undefined {
  if (typeof value !== 'number' && !isRawNumber(value)) return undefined;
  const text = typeof value === 'number' ? String(value) : value.rawJSON;
  if (/^-?\d+$/.test(text)) return text === '-0' ? '0' : text;
  // Whole numbers are not written at such a length, and the comparison below takes time proportional to it.
  if (text.length > maxWrittenLength) return undefined;
  const digits = String(Number(text));
  return Number.isSafeInteger(Number(text)) && significance(digits) === significance(text)
    ? digits
    : undefined;
}

/** Equal for all notations of a decimal number: its digits without surrounding zeros, and their exponent. */
function significance(number: string): string {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return '0';
  const place = digits.length - fraction.length + Number(exponent);
  return `${digits.replace(/0+$/, '')}e${place}`;
}
